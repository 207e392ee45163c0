import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleCheck, LoaderCircle, Minus } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Cluster, GoingObject, PartingReceipt } from '@/api/model'
import { Problem } from '@/api/problem'
import { clusterQuery, forget, remember } from '@/clusters/clusters'
import { RequestId } from '@/shell/page-states'
import { Button } from '@/ui/button'
import { Command } from '@/ui/command'
import { Modal } from '@/ui/modal'
import { Notice } from '@/ui/notice'
import { Skeleton } from '@/ui/skeleton'
import { disconnect, disconnectionQuery, receiptQuery } from './parting'

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
  const receipt = useQuery({ ...receiptQuery(id), enabled: gone })
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
      {gone ? (
        <Receipt query={receipt} />
      ) : preview.data ? (
        <>
          <List title="What goes">
            <Objects objects={preview.data.goes} />
          </List>
          <Stays title="What stays" what={preview.data.stays} />
        </>
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
        <Waiting />
      )}
    </Modal>
  )
}

/** What went, what stayed, and what could not be removed, with the commands that do. */
function Receipt({ query: { data, error, refetch } }: { query: UseQueryResult<PartingReceipt> }) {
  if (error)
    return (
      <Notice
        tone="warn"
        className="mt-4"
        title="What went and what stayed could not be read"
        action={<Button onClick={() => refetch()}>Try again</Button>}
      >
        {Problem.of(error).message}
      </Notice>
    )
  if (!data) return <Waiting />
  return (
    <>
      {data.left.length > 0 && (
        <Notice tone="warn" className="mt-4" title="Some of it is still on the cluster">
          {data.left_because} These commands remove it, run with the cluster's own kubeconfig. The workloads stay.
          <Command copyLabel="Copy the commands that remove what is left" className="mt-2">
            {data.commands.join('\n')}
          </Command>
        </Notice>
      )}
      {data.gone.length > 0 && (
        <List title="Removed">
          <Objects objects={data.gone} />
        </List>
      )}
      {data.left.length > 0 && (
        <List title="Left behind">
          <Objects objects={data.left} />
        </List>
      )}
      <Stays title="Kept" what={data.stays} />
    </>
  )
}

function Waiting() {
  return (
    <div className="skeletons mt-5 grid gap-2">
      <p role="status" className="sr-only">
        Loading what goes and what stays
      </p>
      <Skeleton className="h-4 w-1/3" />
      <Skeleton className="h-4" />
      <Skeleton className="h-4 w-5/6" />
      <Skeleton className="h-4 w-2/3" />
    </div>
  )
}

function List({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-5">
      <h3 className="mb-2 font-semibold text-ui">{title}</h3>
      <div className="grid gap-3 text-fg-2 text-ui">{children}</div>
    </section>
  )
}

function Stays({ title, what }: { title: string; what: string[] }) {
  return (
    <List title={title}>
      <ul className="grid gap-1">
        {what.map((sentence) => (
          <li key={sentence} className="flex gap-2">
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok-fg" />
            {sentence}
          </li>
        ))}
      </ul>
    </List>
  )
}

const places: Record<GoingObject['place'], string> = {
  kubeopera: 'From KubeOpera',
  cluster: "From the cluster, where it carries KubeOpera's mark",
}

function Objects({ objects }: { objects: GoingObject[] }) {
  return (['kubeopera', 'cluster'] as const).map((place) => {
    const there = objects.filter((object) => object.place === place)
    if (there.length === 0) return null
    return (
      <div key={place}>
        <p className="text-fg-3 text-xs">{places[place]}</p>
        <ul className="mt-1 grid gap-1">
          {there.map(({ kind, namespace, name }) => (
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
  })
}
