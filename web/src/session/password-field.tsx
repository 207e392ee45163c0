import { Field } from '@base-ui/react/field'
import clsx from 'clsx'
import { Eye, EyeOff } from 'lucide-react'
import { type Ref, useState } from 'react'

export const inputClass =
  'h-10 w-full rounded-lg border border-control bg-surface px-3 text-fg max-sm:h-11 max-sm:text-base data-invalid:border-bad'

interface PasswordFieldProps {
  name: string
  label: string
  ref: Ref<HTMLInputElement>
  autoComplete: 'current-password' | 'new-password'
  /** The rule that is broken, as a sentence. */
  error?: string
  hint?: string
}

/** A password, which can be looked at. */
export function PasswordField({ name, label, ref, autoComplete, error, hint }: PasswordFieldProps) {
  const [shown, setShown] = useState(false)
  return (
    <Field.Root name={name} invalid={!!error}>
      <Field.Label className="mb-1.5 block font-medium text-ui">{label}</Field.Label>
      <div className="relative">
        <Field.Control
          ref={ref}
          type={shown ? 'text' : 'password'}
          autoComplete={autoComplete}
          className={clsx(inputClass, 'pr-11')}
        />
        <button
          type="button"
          aria-pressed={shown}
          aria-label={`Show ${label.toLowerCase()}`}
          onClick={() => setShown(!shown)}
          className="absolute inset-y-0 right-0 grid w-11 place-items-center rounded-r-lg text-fg-3 hover:text-fg"
        >
          {shown ? <EyeOff aria-hidden className="size-4" /> : <Eye aria-hidden className="size-4" />}
        </button>
      </div>
      <FieldError text={error} />
      {hint && <Field.Description className="mt-1.5 text-fg-3 text-xs">{hint}</Field.Description>}
    </Field.Root>
  )
}

export function FieldError({ text }: { text: string | undefined }) {
  return (
    <Field.Error match={!!text} className="mt-1.5 font-medium text-bad-fg text-xs">
      {text}
    </Field.Error>
  )
}
