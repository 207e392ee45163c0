import { Menu } from '@base-ui/react/menu'
import { Link } from '@tanstack/react-router'
import clsx from 'clsx'
import { FileKey2, PanelRightOpen, Pencil, RotateCw, Trash2, Unplug } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { Cluster } from '@/api/model'
import { askToPart } from '@/parting/parting'
import { menuItemClass } from '@/ui/menu'
import type { Opened } from '@/ui/on-demand'
import { OpenMenu } from '@/ui/open-menu'
import { canRetry, useRetry } from './retry'
import { canReplaceKubeconfig, isAdministrator, isDeletable, mayManage, useRole } from './rights'

interface ClusterActionsProps extends Opened {
  cluster: Cluster
  onItsPage: boolean
}

const EditDialog = lazy(() => import('./edit-dialog'))
const ReplaceKubeconfigDialog = lazy(() => import('./replace-kubeconfig-dialog'))

/** What can be done with a cluster, as a menu that is open. */
export default function ClusterActions({ cluster, onItsPage, trigger }: ClusterActionsProps) {
  const role = useRole()
  const retry = useRetry(cluster)
  const [asked, setAsked] = useState<'edit' | 'replace'>()
  const manages = mayManage(role)
  return (
    <>
      {asked && (
        <Suspense>
          {asked === 'edit' ? (
            <EditDialog cluster={cluster} onClose={() => setAsked(undefined)} />
          ) : (
            <ReplaceKubeconfigDialog cluster={cluster} onClose={() => setAsked(undefined)} />
          )}
        </Suspense>
      )}
      <OpenMenu trigger={trigger} collisionPadding={12} className="w-64 max-w-[calc(100vw-1.5rem)]">
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
          <Menu.Item onClick={() => setAsked('edit')} className={menuItemClass}>
            <Pencil aria-hidden />
            Edit name and labels…
          </Menu.Item>
        )}
        {canReplaceKubeconfig(cluster, role) && (
          <Menu.Item onClick={() => setAsked('replace')} className={menuItemClass}>
            <FileKey2 aria-hidden />
            Replace kubeconfig…
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
      </OpenMenu>
    </>
  )
}
