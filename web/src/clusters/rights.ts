import { useRouteContext } from '@tanstack/react-router'
import type { Cluster, Role } from '@/api/model'

/** What somebody of a role may do with clusters. The server decides; this keeps the page from offering what it refuses. */
export const mayManage = (role: Role) => role !== 'viewer'
export const isAdministrator = (role: Role) => role === 'platform_administrator'

export function useRole(): Role {
  return useRouteContext({ from: '/_logged-in' }).session.user.role
}

/** Only what KubeOpera provisioned can be deleted, and never the cluster it runs on. */
export const isDeletable = ({ mode, is_host }: Cluster) => mode !== 'connect_existing' && !is_host

/** Whether there is a kubeconfig that somebody gave, and this role may give another. */
export const canReplaceKubeconfig = ({ mode, is_host }: Pick<Cluster, 'mode' | 'is_host'>, role: Role) =>
  mayManage(role) && mode === 'connect_existing' && !is_host
