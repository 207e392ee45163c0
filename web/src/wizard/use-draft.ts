import { useEffect } from 'react'
import type { FieldValues, Path, PathValue, UseFormReturn } from 'react-hook-form'
import { keepDraft, readDraft } from './draft'

/** Fills a form with what somebody typed before a reload, and keeps what is typed from then on. */
export function useDraft<T extends FieldValues & Record<string, string>>(
  name: string,
  form: UseFormReturn<T>,
  empty: T,
) {
  useEffect(() => {
    const fields = Object.keys(empty) as (keyof T & string)[]
    const draft = readDraft(name, empty)
    for (const field of fields)
      if (draft[field] !== empty[field])
        form.setValue(field as unknown as Path<T>, draft[field] as PathValue<T, Path<T>>, { shouldDirty: true })
    return form.subscribe({ formState: { values: true }, callback: ({ values }) => keepDraft(name, values, fields) })
  }, [name, form, empty])
}
