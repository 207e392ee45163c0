import clsx from 'clsx'
import { CircleX, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

type NoticeTone = 'info' | 'warn' | 'bad'

const look: Record<NoticeTone, string> = {
  info: 'border-accent-line bg-accent-soft text-fg',
  warn: 'border-warn-line bg-warn-bg text-warn-fg',
  bad: 'border-bad-line bg-bad-bg text-bad-fg',
}
const icon = { info: Info, warn: TriangleAlert, bad: CircleX }

interface NoticeProps {
  tone: NoticeTone
  /** `alert` interrupts a screen reader: for what just failed. `status` waits its turn. */
  role?: 'alert' | 'status'
  title?: string
  children?: ReactNode
  action?: ReactNode
  className?: string
}

/** A strip across the page that says one thing. */
export function Notice({ tone, role, title, children, action, className }: NoticeProps) {
  const Icon = icon[tone]
  return (
    <div
      role={role}
      className={clsx('flex flex-wrap items-center gap-x-4 gap-y-3 rounded-xl border px-4 py-3', look[tone], className)}
    >
      <div className="flex min-w-0 flex-1 basis-64 gap-3">
        <Icon aria-hidden className={clsx('mt-0.5 size-4 shrink-0', tone === 'info' && 'text-accent-text')} />
        <div className="min-w-0 [overflow-wrap:anywhere]">
          {title && <p className="font-semibold">{title}</p>}
          {children && <div className={clsx(title && 'mt-0.5', tone === 'info' && 'text-fg-2')}>{children}</div>}
        </div>
      </div>
      {action}
    </div>
  )
}
