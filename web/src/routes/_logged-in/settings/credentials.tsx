import { createFileRoute } from '@tanstack/react-router'
import { CredentialsSection } from '@/settings/credentials/credentials-section'
import { SettingsPage } from '@/settings/settings-page'

export const Route = createFileRoute('/_logged-in/settings/credentials')({
  head: () => ({ meta: [{ title: 'Cloud credentials · KubeOpera' }] }),
  component: () => (
    <SettingsPage>
      <CredentialsSection />
    </SettingsPage>
  ),
})
