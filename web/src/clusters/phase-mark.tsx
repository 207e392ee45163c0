import clsx from 'clsx'
import { Circle, CircleCheck, CircleX, LoaderCircle } from 'lucide-react'
import type { PhaseStep } from '@/api/model'

const marks = {
  done: { icon: CircleCheck, tint: 'text-ok', word: 'done' },
  current: { icon: LoaderCircle, tint: 'text-warn animate-spin [animation-duration:1.4s]', word: 'under way' },
  failed: { icon: CircleX, tint: 'text-bad', word: 'failed' },
  waiting: { icon: Circle, tint: 'text-line-strong', word: 'waiting' },
}

/** How far a phase is: for the eye. */
export function PhaseMark({ state }: Pick<PhaseStep, 'state'>) {
  const { icon: Icon, tint } = marks[state]
  return <Icon aria-hidden className={clsx('mt-0.5 size-4 shrink-0', tint)} />
}

/** How far a phase is: for the ear. */
export const phaseWord = (state: PhaseStep['state']) => marks[state].word
