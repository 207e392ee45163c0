import { createFileRoute } from '@tanstack/react-router'
import { PeopleSection } from '@/settings/people/people-section'
import { SettingsPage } from '@/settings/settings-page'

export const Route = createFileRoute('/_logged-in/settings/people')({
  head: () => ({ meta: [{ title: 'People · KubeOpera' }] }),
  component: () => (
    <SettingsPage>
      <PeopleSection />
    </SettingsPage>
  ),
})
