import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { Problem } from '@/api/problem'

/**
 * Puts a refusal at the field it names and takes the focus there. False if it names none of the form's fields: then it
 * belongs above the form. A field inside another one, such as `secret.key`, is the form's by its last name.
 */
export function landOnField<T extends FieldValues>(
  error: unknown,
  { setError, getValues }: Pick<UseFormReturn<T>, 'setError' | 'getValues'>,
): boolean {
  const problem = Problem.of(error)
  const field = problem.field?.split('.').at(-1)
  if (!field || !(field in getValues())) return false
  setError(field as Path<T>, { type: 'server', message: problem.message }, { shouldFocus: true })
  return true
}
