import type { ReactNode } from 'react'

interface StepProps {
  number: number
  title: string
  children: ReactNode
}

/** A numbered part of a form. Its title takes the focus when what is wrong in it has no field of its own. */
export function Step({ number, title, children }: StepProps) {
  return (
    <section aria-labelledby={stepId(number)} className="min-w-0">
      <h3 id={stepId(number)} tabIndex={-1} className="mb-4 flex items-center gap-3 font-semibold outline-none">
        <span
          aria-hidden
          className="grid size-6 place-items-center rounded-full bg-accent-soft font-semibold text-accent-text text-xs tabular-nums"
        >
          {number}
        </span>
        {title}
      </h3>
      {children}
    </section>
  )
}

const stepId = (number: number) => `step-${number}`

export const focusStep = (number: number) => document.getElementById(stepId(number))?.focus()
