import { createFileRoute } from '@tanstack/react-router'
import { GitSection } from '@/settings/git/git-section'
import { RegistrySection } from '@/settings/git/registry-section'
import { SettingsPage } from '@/settings/settings-page'

export const Route = createFileRoute('/_logged-in/settings/git')({
  head: () => ({ meta: [{ title: 'Git and registry · KubeOpera' }] }),
  component: () => (
    <SettingsPage>
      <GitSection />
      <RegistrySection />
    </SettingsPage>
  ),
})
