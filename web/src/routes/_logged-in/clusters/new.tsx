import { createFileRoute } from '@tanstack/react-router'
import { isWay, type Way, WizardPage } from '@/wizard/wizard-page'

export const Route = createFileRoute('/_logged-in/clusters/new')({
  validateSearch: ({ way }: Record<string, unknown>): { way?: Way } => ({ way: isWay(way) ? way : undefined }),
  head: () => ({ meta: [{ title: 'Cluster Setup Wizard · KubeOpera' }] }),
  component: () => <WizardPage way={Route.useSearch().way ?? 'register'} />,
})
