import { createFileRoute } from '@tanstack/react-router'
import { PageMissing } from '@/shell/page-states'

export const Route = createFileRoute('/_logged-in/$')({
  head: () => ({ meta: [{ title: 'Not found · KubeOpera' }] }),
  component: PageMissing,
})
