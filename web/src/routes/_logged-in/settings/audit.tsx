import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { type AuditFilter, actions, outcomes } from '@/settings/audit/audit'
import { AuditSection } from '@/settings/audit/audit-section'
import { SettingsPage } from '@/settings/settings-page'

/** What of an address is a filter; the rest of it is left out. */
function filterOf(search: Record<string, unknown>): AuditFilter {
  const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined)
  const day = (value: unknown) => (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined)
  const one = <T extends string>(value: unknown, all: readonly T[]) => all.find((known) => known === value)
  return {
    who: text(search.who),
    object: text(search.object),
    action: one(search.action, actions),
    outcome: one(search.outcome, Object.keys(outcomes) as (keyof typeof outcomes)[]),
    from: day(search.from),
    until: day(search.until),
  }
}

export const Route = createFileRoute('/_logged-in/settings/audit')({
  validateSearch: filterOf,
  head: () => ({ meta: [{ title: 'Audit log · KubeOpera' }] }),
  component: Audit,
})

function Audit() {
  const filter = Route.useSearch()
  const navigate = useNavigate()
  return (
    <SettingsPage>
      <AuditSection
        filter={filter}
        onFilter={(search) => navigate({ to: '/settings/audit', search, replace: true, resetScroll: false })}
      />
    </SettingsPage>
  )
}
