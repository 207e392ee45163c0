import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { Problem } from '@/api/problem'

/**
 * Puts a refusal at the field it names and takes the focus there. False if it names none of the form's fields: then it
 * belongs above the form.
 */
export function landOnField<T extends FieldValues>(
  error: unknown,
  { setError, getValues }: Pick<UseFormReturn<T>, 'setError' | 'getValues'>,
): boolean {
  const problem = Problem.of(error)
  if (!problem.field || !(problem.field in getValues())) return false
  setError(problem.field as Path<T>, { type: 'server', message: problem.message }, { shouldFocus: true })
  return true
}
