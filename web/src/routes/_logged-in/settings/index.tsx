import { createFileRoute, redirect } from '@tanstack/react-router'

export const Route = createFileRoute('/_logged-in/settings/')({
  beforeLoad: () => {
    throw redirect({ to: '/settings/account', replace: true })
  },
})
