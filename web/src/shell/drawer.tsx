import { Menu } from 'lucide-react'
import { buttonClass } from '@/ui/button'
import { OnDemand, popup } from '@/ui/on-demand'

const drawerPanel = popup('dialog', () => import('./drawer-panel'))

/** The button for the sidebar of a narrow screen. */
export function Drawer() {
  return (
    <OnDemand popup={drawerPanel} with={{}}>
      <button type="button" aria-label="Open menu" className={buttonClass('ghost', 'icon')}>
        <Menu aria-hidden />
      </button>
    </OnDemand>
  )
}
