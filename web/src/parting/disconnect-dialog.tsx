import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleCheck, LoaderCircle, Minus } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Cluster, Disconnection } from '@/api/model'
import { Problem } from '@/api/problem'
import { clusterQuery, forget, remember } from '@/clusters/clusters'
import { RequestId } from '@/shell/page-states'
import { Button } from '@/ui/button'
import { Modal } from '@/ui/modal'
import { Notice } from '@/ui/notice'
import { Skeleton } from '@/ui/skeleton'
import { disconnect, disconnectionQuery } from './parting'

/** While KubeOpera lets go, the cluster is asked for at this pace: the stream may be down. */
const LOOK_EVERY_MS = 3_000

/** Tells what would go and what would stay, disconnects, and shows afterwards what went and what stayed. */
export default function DisconnectDialog({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { id, name } = cluster
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const preview = useQuery(disconnectionQuery(id))
  const parting = useMutation({
    mutationFn: () => disconnect(id),
    onSuccess: (leaving) => remember(queryClient, leaving),
    onError: (error) => {
      if (Problem.of(error).code === 'no_such_cluster') forget(queryClient, id)
    },
  })
  const present = useQuery({
    ...clusterQuery(id),
    enabled: parting.isSuccess,
    refetchInterval: ({ state }) => (parting.isSuccess && state.data !== null ? LOOK_EVERY_MS : false),
  })
  const gone = parting.isSuccess && present.data === null
  const close = () => {
    onClose()
    if (!gone) return
    forget(queryClient, id)
    void navigate({ to: '/clusters' })
  }
  return (
    <Modal
      open
      alert
      onClose={close}
      title={gone ? `${name} is disconnected` : parting.isSuccess ? `Disconnecting ${name}` : `Disconnect ${name}?`}
      footer={
        parting.isSuccess ? (
          <Button look={gone ? 'primary' : 'secondary'} onClick={close}>
            {gone ? 'Close' : 'Continue in the background'}
          </Button>
        ) : (
          <>
            <Button onClick={close}>Keep managing it</Button>
            <Button look="danger" busy={parting.isPending} onClick={() => parting.mutate()}>
              Disconnect
            </Button>
          </>
        )
      }
    >
      {parting.isSuccess ? (
        <p role="status" className="flex items-start gap-2.5 text-fg-2">
          {gone ? (
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok-fg" />
          ) : (
            <LoaderCircle aria-hidden className="mt-0.5 size-4 shrink-0 animate-spin text-accent-text" />
          )}
          {gone
            ? 'KubeOpera no longer manages this cluster.'
            : (present.data?.message ?? 'KubeOpera is letting go of this cluster.')}
        </p>
      ) : (
        <p className="text-fg-2">
          KubeOpera stops managing this cluster. Everything on it keeps running.
          {cluster.is_host && ' KubeOpera itself runs on it and keeps running, too; you can register it again.'}
        </p>
      )}
      {parting.error && (
        <Notice tone="bad" role="alert" className="mt-4" title="It was not disconnected">
          {Problem.of(parting.error).message}
          <RequestId of={parting.error} />
        </Notice>
      )}
      {preview.data ? (
        <Account disconnection={preview.data} past={gone} />
      ) : preview.error ? (
        <Notice
          tone="warn"
          className="mt-4"
          title="What goes and what stays could not be read"
          action={<Button onClick={() => preview.refetch()}>Try again</Button>}
        >
          {Problem.of(preview.error).message}
        </Notice>
      ) : (
        <div className="skeletons mt-5 grid gap-2">
          <Skeleton className="h-4 w-1/3" />
          <Skeleton className="h-4" />
          <Skeleton className="h-4 w-5/6" />
          <Skeleton className="h-4 w-2/3" />
        </div>
      )}
    </Modal>
  )
}

function Account({ disconnection: { goes, stays }, past }: { disconnection: Disconnection; past: boolean }) {
  const there = goes.filter(({ place }) => place === 'cluster')
  const here = goes.filter(({ place }) => place === 'kubeopera')
  return (
    <div className="mt-5 grid gap-5">
      <List title={past ? 'Removed' : 'What goes'}>
        <Objects from="From KubeOpera" objects={here} />
        <Objects from="From the cluster, where it carries KubeOpera's mark" objects={there} />
      </List>
      <List title={past ? 'Kept' : 'What stays'}>
        <ul className="grid gap-1">
          {stays.map((what) => (
            <li key={what} className="flex gap-2">
              <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok-fg" />
              {what}
            </li>
          ))}
        </ul>
      </List>
    </div>
  )
}

function List({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-2 font-semibold text-ui">{title}</h3>
      <div className="grid gap-3 text-fg-2 text-ui">{children}</div>
    </section>
  )
}

function Objects({ from, objects }: { from: string; objects: Disconnection['goes'] }) {
  if (objects.length === 0) return null
  return (
    <div>
      <p className="text-fg-3 text-xs">{from}</p>
      <ul className="mt-1 grid gap-1">
        {objects.map(({ kind, namespace, name }) => (
          <li key={`${kind}/${namespace}/${name}`} className="flex gap-2">
            <Minus aria-hidden className="mt-0.5 size-4 shrink-0 text-bad-fg" />
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {kind} <span className="font-mono text-xs">{`${namespace}/${name}`}</span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
