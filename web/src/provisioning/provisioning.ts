import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, dataOf, dataOrNull } from '@/api/client'
import type { Cluster, ProvisioningLog } from '@/api/model'

/** The pace at which a run that works is looked at. What ended is looked at again when its cluster changes. */
const LOOK_EVERY_MS = 3_000

/** So many lines are kept on the page. */
const MOST_LINES = 2_000

/** Of a cluster for which nothing was ever created: null. */
export const provisioningQuery = (id: string) =>
  queryOptions({
    queryKey: ['provisioning', id],
    queryFn: ({ signal }) =>
      dataOrNull(api.GET('/api/v1/clusters/{id}/provisioning', { signal, params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data?.state === 'running' ? LOOK_EVERY_MS : false),
  })

/** The infrastructure of a cluster, read again as the cluster changes. */
export function useProvisioning(id: string, revision?: number) {
  const queryClient = useQueryClient()
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change of the revision that counts
  useEffect(() => void queryClient.invalidateQueries({ queryKey: ['provisioning', id] }), [id, revision, queryClient])
  return useQuery(provisioningQuery(id))
}

export interface Log extends Pick<ProvisioningLog, 'next' | 'is_live' | 'lines'> {
  /** Whether its beginning is missing. */
  isCut: boolean
}

const logKey = (id: string) => ['provisioning', id, 'log'] as const

/** What the runs of a cluster said; only what is new is fetched. */
export function useRunLog(id: string, isPaused: boolean) {
  const queryClient = useQueryClient()
  return useQuery({
    queryKey: logKey(id),
    enabled: !isPaused,
    staleTime: 0,
    queryFn: async ({ signal }): Promise<Log> => {
      const known = queryClient.getQueryData<Log>(logKey(id))
      const query = known ? { from: known.next } : {}
      const path = '/api/v1/clusters/{id}/provisioning/log'
      return follow(known, await dataOf(api.GET(path, { signal, params: { path: { id }, query } })))
    },
    refetchInterval: ({ state: { data } }) => (data?.is_live ? LOOK_EVERY_MS : false),
  })
}

/** A log with what was said since. One that does not go on where it was is another. */
export function follow(known: Log | undefined, { from, next, is_live, lines }: ProvisioningLog): Log {
  const goesOn = known !== undefined && from === known.next
  const all = goesOn ? [...known.lines, ...lines] : lines
  return {
    next,
    is_live,
    lines: all.slice(-MOST_LINES),
    isCut: (goesOn ? known.isCut : from > 0) || all.length > MOST_LINES,
  }
}

/** Lets a cluster that is being deleted go, whatever is left in the cloud. `name` is what somebody typed to confirm it. */
export function giveUp(id: string, name: string): Promise<Cluster> {
  return dataOf(api.POST('/api/v1/clusters/{id}/provisioning/give-up', { params: { path: { id } }, body: { name } }))
}

/** Whether KubeOpera is deleting a cluster with its infrastructure, and cannot. */
export const isStuck = ({ conditions, phase, mode }: Pick<Cluster, 'conditions' | 'phase' | 'mode'>) =>
  mode !== 'connect_existing' && phase === 'Failed' && conditions.some(({ type }) => type === 'Removing')
