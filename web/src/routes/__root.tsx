import { createRootRouteWithContext, HeadContent, Outlet } from '@tanstack/react-router'
import type { AppContext } from '@/app'

export const Route = createRootRouteWithContext<AppContext>()({
  head: () => ({ meta: [{ title: 'KubeOpera' }] }),
  component: () => (
    <>
      <HeadContent />
      <Outlet />
    </>
  ),
})
