import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { isAdministrator, useRole } from '@/clusters/rights'
import { PageHeader } from '@/ui/page-header'

const subjects: { to: LinkProps['to']; label: string; administrators: boolean }[] = [
  { to: '/settings/account', label: 'Your account', administrators: false },
  { to: '/settings/people', label: 'People', administrators: true },
  { to: '/settings/credentials', label: 'Cloud credentials', administrators: true },
  { to: '/settings/git', label: 'Git and registry', administrators: true },
  { to: '/settings/audit', label: 'Audit log', administrators: true },
]

/** The subjects of the settings, and one of them. */
export function SettingsPage({ children }: { children: ReactNode }) {
  const administers = isAdministrator(useRole())
  return (
    <div className="max-w-4xl">
      <PageHeader title="Settings" />
      <nav aria-label="Settings" className="-mx-4 mt-4 overflow-x-auto border-line border-b px-4 lg:mx-0 lg:px-0">
        <ul className="flex gap-1">
          {subjects
            .filter((subject) => administers || !subject.administrators)
            .map(({ to, label }) => (
              <li key={to}>
                <Link
                  to={to}
                  className="-mb-px flex h-10 items-center whitespace-nowrap border-b-2 px-2.5 font-medium text-ui max-sm:h-11"
                  activeProps={{ className: 'border-accent text-fg' }}
                  inactiveProps={{ className: 'border-transparent text-fg-3 hover:text-fg' }}
                >
                  {label}
                </Link>
              </li>
            ))}
        </ul>
      </nav>
      <div className="mt-5 grid grid-cols-1 gap-5">{children}</div>
    </div>
  )
}
