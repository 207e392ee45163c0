import clsx from 'clsx'
import type { ReactNode } from 'react'

/** A list of like things, one a row. Stands at the edges of the section around it. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="-mx-5 -mb-5 divide-y divide-line border-line border-t">
      {children}
    </ul>
  )
}

interface RowProps {
  title: ReactNode
  /** What is said of it, in small letters. */
  facts?: ReactNode
  /** Menus and buttons at its end. */
  actions?: ReactNode
  children?: ReactNode
  faded?: boolean
}

export function Row({ title, facts, actions, children, faded }: RowProps) {
  return (
    <li className="px-5 py-3.5">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className={clsx('min-w-0 flex-1 basis-64', faded && 'text-fg-3')}>
          <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1 font-medium [overflow-wrap:anywhere]">
            {title}
          </div>
          {facts && <p className="mt-0.5 text-fg-3 text-ui tabular-nums [overflow-wrap:anywhere]">{facts}</p>}
        </div>
        {actions && <div className="flex items-center gap-1.5">{actions}</div>}
      </div>
      {children}
    </li>
  )
}

export function Nothing({ children }: { children: ReactNode }) {
  return <p className="text-fg-3">{children}</p>
}

/** A word about a thing, in a frame. */
export function Chip({ children, tone = 'plain' }: { children: ReactNode; tone?: 'plain' | 'accent' | 'warn' }) {
  return (
    <span
      className={clsx(
        'inline-flex h-5.5 items-center rounded-full border px-2 font-medium text-xs',
        tone === 'plain' && 'border-line-strong bg-sunken text-fg-2',
        tone === 'accent' && 'border-accent-line bg-accent-soft text-accent-text',
        tone === 'warn' && 'border-warn-line bg-warn-bg text-warn-fg',
      )}
    >
      {children}
    </span>
  )
}
