import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, dataOf } from '@/api/client'
import type { paths } from '@/api/schema'
import { capital } from '@/format/words'

type Query = NonNullable<paths['/api/v1/audit']['get']['parameters']['query']>
export type AuditAction = NonNullable<Query['action']>
export type AuditOutcome = NonNullable<Query['outcome']>

/** Which rows, as the address of the page has it: days are in the reader's own zone. */
export interface AuditFilter {
  who?: string
  action?: AuditAction
  outcome?: AuditOutcome
  object?: string
  /** The first day, such as 2026-11-30. */
  from?: string
  /** The last day. */
  until?: string
}

export const outcomes: Record<AuditOutcome, string> = {
  done: 'Done',
  asked: 'Asked for',
  unchanged: 'Unchanged',
  denied: 'Denied',
  failed: 'Failed',
}

/** What can be looked for, in the order of the list. */
export const actions: AuditAction[] = [
  'log_in',
  'log_out',
  'register_cluster',
  'connect_cluster',
  'create_cluster',
  'change_cluster',
  'replace_kubeconfig',
  'retry_cluster',
  'disconnect_cluster',
  'delete_cluster',
  'give_up_infrastructure',
  'adopt_cluster',
  'remove_cluster',
  'add_user',
  'change_user',
  'reset_password',
  'change_own_password',
  'add_environment_administrator',
  'end_session',
  'make_token',
  'revoke_token',
  'add_credential',
  'change_credential',
  'check_credential',
  'delete_credential',
  'bind_credential',
  'open_credential',
  'release_credential',
  'rotate_encryption_key',
  'change_git_setting',
  'check_git_setting',
  'see_audit',
  'export_audit',
]

/** "connect_cluster" as people say it. */
export const actionName = (action: string) => capital(action.replaceAll('_', ' '))

/** The filter as the server takes it. */
function query({ from, until, ...rest }: AuditFilter): Query {
  const dayAfter = until && new Date(`${until}T00:00`)
  if (dayAfter) dayAfter.setDate(dayAfter.getDate() + 1)
  return {
    ...rest,
    ...(from && { from: new Date(`${from}T00:00`).toISOString() }),
    ...(dayAfter && { until: dayAfter.toISOString() }),
  }
}

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam: cursor }) =>
      dataOf(api.GET('/api/v1/audit', { signal, params: { query: { ...query(filter), limit: 100, cursor } } })),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  })

/** Where the rows can be had as lines of JSON. */
export function exportHref(filter: AuditFilter): string {
  const parameters = new URLSearchParams(
    Object.entries(query(filter)).filter(([, value]) => value) as [string, string][],
  )
  return `/api/v1/audit/export${parameters.size > 0 ? `?${parameters}` : ''}`
}
