import { createFileRoute } from '@tanstack/react-router'
import { OverviewPage } from '@/overview/overview-page'

export const Route = createFileRoute('/_logged-in/')({
  head: () => ({ meta: [{ title: 'Overview · KubeOpera' }] }),
  component: OverviewPage,
})
