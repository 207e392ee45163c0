import { Menu } from '@base-ui/react/menu'
import { Link } from '@tanstack/react-router'
import clsx from 'clsx'
import { EllipsisVertical, PanelRightOpen, RotateCw, Trash2, Unplug } from 'lucide-react'
import type { Cluster } from '@/api/model'
import { askToPart } from '@/parting/parting'
import { buttonClass } from '@/ui/button'
import { menuItemClass, popupClass } from '@/ui/menu'
import { canRetry, useRetry } from './retry'
import { isAdministrator, isDeletable, mayManage, useRole } from './rights'

/** What can be done with a cluster. `onItsPage` leaves out the way there. */
export function ClusterMenu({ cluster, onItsPage = false }: { cluster: Cluster; onItsPage?: boolean }) {
  const role = useRole()
  const retry = useRetry(cluster)
  const manages = mayManage(role)
  if (onItsPage && !manages) return null
  return (
    <Menu.Root>
      <Menu.Trigger
        aria-label={`Actions for ${cluster.name}`}
        className={clsx(buttonClass(onItsPage ? 'secondary' : 'ghost', 'icon'), !onItsPage && '-mt-1.5 -mr-2')}
      >
        <EllipsisVertical aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={6} collisionPadding={12} className="z-40">
          <Menu.Popup className={clsx(popupClass, 'w-64 max-w-[calc(100vw-1.5rem)]')}>
            {!onItsPage && (
              <Menu.LinkItem
                render={<Link to="/clusters/$id" params={{ id: cluster.id }} />}
                closeOnClick
                className={menuItemClass}
              >
                <PanelRightOpen aria-hidden />
                Open
              </Menu.LinkItem>
            )}
            {manages && canRetry(cluster) && (
              <Menu.Item onClick={() => retry.mutate()} className={menuItemClass}>
                <RotateCw aria-hidden />
                Try again now
              </Menu.Item>
            )}
            {manages && (
              <Menu.Item onClick={() => askToPart({ way: 'disconnect', cluster })} className={menuItemClass}>
                <Unplug aria-hidden />
                Disconnect…
              </Menu.Item>
            )}
            {manages && isAdministrator(role) && isDeletable(cluster) && (
              <Menu.Item
                onClick={() => askToPart({ way: 'delete', cluster })}
                className={clsx(menuItemClass, 'text-bad-fg [&_svg]:text-bad-fg')}
              >
                <Trash2 aria-hidden />
                Delete…
              </Menu.Item>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
