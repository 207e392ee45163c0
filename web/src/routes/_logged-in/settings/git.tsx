import { createFileRoute } from '@tanstack/react-router'
import { GitSection } from '@/settings/git/git-section'
import { SettingsPage } from '@/settings/settings-page'

export const Route = createFileRoute('/_logged-in/settings/git')({
  head: () => ({ meta: [{ title: 'Git · KubeOpera' }] }),
  component: () => (
    <SettingsPage>
      <GitSection />
    </SettingsPage>
  ),
})
