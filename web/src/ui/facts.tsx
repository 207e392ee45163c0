import type { ReactNode } from 'react'

/** Names and what they stand for, one below the other. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid gap-3 text-ui">{children}</dl>
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-fg-3 text-xs">{name}</dt>
      <dd className="mt-0.5 min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  )
}
