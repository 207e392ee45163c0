import type { ReactNode } from 'react'

interface PageHeaderProps {
  title: string
  /** One line on what the page is for. */
  children?: ReactNode
  actions?: ReactNode
}

export function PageHeader({ title, children, actions }: PageHeaderProps) {
  return (
    <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
      <div className="min-w-0">
        <h1 tabIndex={-1} className="font-semibold text-xl tracking-tight outline-none">
          {title}
        </h1>
        {children && <p className="mt-1 max-w-prose text-fg-3">{children}</p>}
      </div>
      {actions}
    </header>
  )
}
