import { createFileRoute } from '@tanstack/react-router'
import { type Way, wayOf } from '@/wizard/way'
import { WizardPage } from '@/wizard/wizard-page'

export const Route = createFileRoute('/_logged-in/clusters/new')({
  validateSearch: ({ way }: Record<string, unknown>): { way?: Way } => ({ way: wayOf(way) }),
  head: () => ({ meta: [{ title: 'Cluster Setup Wizard · KubeOpera' }] }),
  component: () => <WizardPage way={Route.useSearch().way ?? 'register'} />,
})
