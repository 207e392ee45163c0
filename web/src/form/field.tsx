import clsx from 'clsx'
import { ChevronDown, CircleAlert } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId } from 'react'

interface FieldProps {
  label: string
  /** What to enter, when the label does not say it all. */
  hint?: ReactNode
  /** The rule that is broken, as a sentence. */
  error?: string
  optional?: boolean
  className?: string
}

export const inputClass =
  'w-full rounded-lg border border-control bg-surface px-3 text-fg placeholder:text-fg-3 max-sm:text-base aria-invalid:border-bad'

const lineClass = `${inputClass} h-10 max-sm:h-11`

/** A label, what belongs below it, and what is wrong with it. */
function Field({
  label,
  hint,
  error,
  optional,
  className,
  children,
}: FieldProps & {
  children: (control: {
    id: string
    'aria-describedby': string | undefined
    'aria-invalid': true | undefined
  }) => ReactNode
}) {
  const id = useId()
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div className={clsx('min-w-0', className)}>
      <label htmlFor={id} className="mb-1.5 block font-medium text-ui">
        {label}
        {optional && <span className="font-normal text-fg-3"> (optional)</span>}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {error && (
        <p id={`${id}-error`} className="mt-1.5 flex gap-1.5 font-medium text-bad-fg text-xs">
          <CircleAlert aria-hidden className="mt-px size-3.5 shrink-0" />
          <span className="min-w-0 [overflow-wrap:anywhere]">{error}</span>
        </p>
      )}
      {hint && (
        <div id={`${id}-hint`} className="mt-1.5 text-fg-3 text-xs">
          {hint}
        </div>
      )}
    </div>
  )
}

export function TextField({
  label,
  hint,
  error,
  optional,
  className,
  mono,
  ...input
}: FieldProps & { mono?: boolean } & ComponentProps<'input'>) {
  return (
    <Field {...{ label, hint, error, optional, className }}>
      {(control) => (
        <input
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          className={clsx(lineClass, mono && 'font-mono text-ui')}
          {...control}
          {...input}
        />
      )}
    </Field>
  )
}

export function TextArea({
  label,
  hint,
  error,
  optional,
  className,
  ...input
}: FieldProps & ComponentProps<'textarea'>) {
  return (
    <Field {...{ label, hint, error, optional, className }}>
      {(control) => (
        <textarea
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          className={clsx(inputClass, 'block min-h-32 py-2.5 font-mono text-xs leading-5')}
          {...control}
          {...input}
        />
      )}
    </Field>
  )
}

export function SelectField({
  label,
  hint,
  error,
  optional,
  className,
  children,
  ...select
}: FieldProps & ComponentProps<'select'>) {
  return (
    <Field {...{ label, hint, error, optional, className }}>
      {(control) => (
        <div className="relative">
          <select className={clsx(lineClass, 'appearance-none pr-9')} {...control} {...select}>
            {children}
          </select>
          <ChevronDown
            aria-hidden
            className="pointer-events-none absolute inset-y-0 right-3 my-auto size-4 text-fg-3"
          />
        </div>
      )}
    </Field>
  )
}
