import { createFileRoute } from '@tanstack/react-router'
import { OwnPassword } from '@/settings/account/own-password'
import { Sessions } from '@/settings/account/sessions'
import { Tokens } from '@/settings/account/tokens'
import { SettingsPage } from '@/settings/settings-page'

export const Route = createFileRoute('/_logged-in/settings/account')({
  head: () => ({ meta: [{ title: 'Your account · KubeOpera' }] }),
  component: Account,
})

function Account() {
  const { session } = Route.useRouteContext()
  return (
    <SettingsPage>
      <OwnPassword user={session.user} />
      <Sessions />
      <Tokens />
    </SettingsPage>
  )
}
