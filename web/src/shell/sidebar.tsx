import { Brand, Navigation } from './navigation'

export function Sidebar() {
  return (
    <aside className="sticky top-0 hidden h-dvh flex-col border-line border-r bg-sunken lg:flex">
      <Brand />
      <Navigation />
    </aside>
  )
}
