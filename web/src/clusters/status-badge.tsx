import clsx from 'clsx'
import { CircleCheck, CircleX, LoaderCircle } from 'lucide-react'
import type { Phase } from '@/api/model'
import { type Tone, toneOf } from './phases'

const look: Record<Tone, string> = {
  ok: 'border-ok-line bg-ok-bg text-ok-fg',
  warn: 'border-warn-line bg-warn-bg text-warn-fg',
  bad: 'border-bad-line bg-bad-bg text-bad-fg',
}

/** The phase by its name, as `kubectl get hostcluster` prints it; the icon says the same as the colour. */
export function StatusBadge({ phase }: { phase: Phase }) {
  const tone = toneOf(phase)
  const Icon = { ok: CircleCheck, warn: LoaderCircle, bad: CircleX }[tone]
  return (
    <span
      data-tone={tone}
      className={clsx(
        'inline-flex h-6 items-center gap-1.5 whitespace-nowrap rounded-full border pr-2.5 pl-1.5 font-medium text-xs',
        look[tone],
      )}
    >
      <Icon aria-hidden className={clsx('size-3.5', tone === 'warn' && 'animate-spin [animation-duration:1.4s]')} />
      {phase}
    </span>
  )
}
