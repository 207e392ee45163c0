import { Link, useLocation } from '@tanstack/react-router'
import clsx from 'clsx'
import { RotateCw, TriangleAlert } from 'lucide-react'
import { memo, type ReactNode, useEffect, useRef } from 'react'
import type { Cluster } from '@/api/model'
import { dollars } from '@/format/numbers'
import { providerName, versionName } from '@/format/provider'
import { duration, exact, useNow } from '@/format/time'
import { cardClass } from '@/ui/card'
import { ClusterMenu } from './cluster-menu'
import { CredentialMark } from './credential-mark'
import { HealthRing } from './health-ring'
import { HostChip } from './host-chip'
import { PhaseBar } from './phase-bar'
import { PhaseList } from './phase-list'
import { progress, toneOf } from './phases'
import { canRetry, useRetry } from './retry'
import { mayManage, useRole } from './rights'
import { StatusBadge } from './status-badge'
import { Unknown } from './unknown'
import { UsageMeter } from './usage-meter'

/** One cluster: what it is, how far it is, and what it is doing at the moment. */
export const ClusterCard = memo(function ClusterCard({ cluster }: { cluster: Cluster }) {
  const card = useRef<HTMLElement>(null)
  const linked = useLocation({ select: ({ hash }) => hash === cluster.id })
  useEffect(() => {
    if (linked) card.current?.focus()
  }, [linked])
  const tone = toneOf(cluster.phase)
  return (
    <article
      ref={card}
      id={cluster.id}
      tabIndex={-1}
      aria-labelledby={`${cluster.id}-name`}
      className={clsx(
        cardClass,
        'relative flex w-full min-w-0 flex-col transition-colors duration-150 focus:border-accent focus-visible:outline-2 focus-visible:outline-ring focus-visible:outline-offset-2',
        tone === 'bad' ? 'border-bad-line' : 'hover:border-line-strong',
      )}
    >
      <div className="flex flex-1 flex-col p-5">
        <div className="flex items-start gap-3.5">
          <HealthRing health={cluster.health} />
          <div className="min-w-0 flex-1">
            <h2 id={`${cluster.id}-name`} className="truncate font-semibold text-base leading-5" title={cluster.name}>
              <Link
                to="/clusters/$id"
                params={{ id: cluster.id }}
                className="after:absolute after:inset-0 hover:underline"
              >
                {cluster.name}
              </Link>
            </h2>
            <div className="mt-1.5 flex flex-wrap items-center gap-1.5">
              <StatusBadge phase={cluster.phase} />
              {cluster.is_host && <HostChip />}
              <CredentialMark credential={cluster.credential} />
            </div>
          </div>
          <div className="relative z-10 shrink-0">
            <ClusterMenu cluster={cluster} />
          </div>
        </div>
        <div className="mt-5">
          <PhaseBar cluster={cluster} />
        </div>
        <Message cluster={cluster} />
        <Usage cluster={cluster} />
        <div className="mt-auto flex items-baseline justify-between gap-3 pt-3 text-fg-3 text-xs">
          <TimeInPhase cluster={cluster} />
          <span className="relative z-10 flex shrink-0 items-baseline gap-3">
            <RetryButton cluster={cluster} />
            <PhaseList cluster={cluster} />
          </span>
        </div>
      </div>
      <Facts cluster={cluster} />
    </article>
  )
})

function Message({ cluster }: { cluster: Cluster }) {
  const failed = cluster.phases.find((step) => step.state === 'failed')
  return (
    <p
      data-testid="message"
      className={clsx(
        'mt-3 line-clamp-4 min-h-10 text-ui [overflow-wrap:anywhere]',
        cluster.phase === 'Failed' ? 'text-bad-fg' : 'text-fg-2',
      )}
    >
      {failed && <strong className="font-semibold">{failed.phase} failed. </strong>}
      {cluster.message}
    </p>
  )
}

/** Asks for the next attempt at once. */
function RetryButton({ cluster }: { cluster: Cluster }) {
  const retry = useRetry(cluster)
  const manages = mayManage(useRole())
  if (!manages || !canRetry(cluster)) return null
  return (
    <button
      type="button"
      aria-label={`Try ${cluster.name} again`}
      aria-disabled={retry.isPending || undefined}
      onClick={() => !retry.isPending && retry.mutate()}
      className="-mx-1.5 -my-1 rounded-md px-1.5 py-1 font-medium text-accent-text hover:bg-hover aria-disabled:opacity-60 max-sm:py-2"
    >
      Try again
    </button>
  )
}

/** What it uses, once that is measured. */
function Usage({ cluster: { cpu, memory, cost } }: { cluster: Cluster }) {
  if (cpu === null && memory === null && cost === null) return null
  return (
    <div className="mt-3 grid gap-1.5">
      <UsageMeter name="CPU" usage={cpu} />
      <UsageMeter name="Memory" usage={memory} />
      {cost?.monthly != null && (
        <p className="flex justify-between text-ui">
          <span className="text-fg-3">Cost</span>
          <span className="tabular-nums">
            {cost.not_priced > 0 && <span title="Some of it has no known price">at least </span>}
            {dollars(cost.monthly)} <span className="text-fg-3">a month</span>
          </span>
        </p>
      )}
    </div>
  )
}

function TimeInPhase({ cluster }: { cluster: Cluster }) {
  const now = useNow()
  const { step, of } = progress(cluster)
  const { phase_started_at: since, retry } = cluster
  const length = since && (
    <time dateTime={since} title={`Since ${exact(since)}`}>
      {duration(now - Date.parse(since))}
    </time>
  )
  return (
    <p className="min-w-0 tabular-nums">
      {cluster.phase === 'Ready' || cluster.phase === 'Failed' ? (
        length && (
          <>
            {cluster.phase} for {length}
          </>
        )
      ) : (
        <>
          {step === 0 ? 'Not started yet' : `Phase ${step} of ${of}`}
          {length && <> · for {length}</>}
        </>
      )}
      {cluster.unreachable && (
        <span title={cluster.unreachable.reason} className="mt-1 flex items-center gap-1.5 font-medium text-warn-fg">
          <TriangleAlert aria-hidden className="size-3.5 shrink-0" />
          No answer for {duration(now - Date.parse(cluster.unreachable.since))}
        </span>
      )}
      {retry && (
        <span className="mt-1 flex items-center gap-1.5 font-medium text-warn-fg">
          <RotateCw aria-hidden className="size-3.5 shrink-0" />
          {`Attempt ${retry.attempt} failed, next ${nextTry(Date.parse(retry.next_attempt_at) - now)}`}
        </span>
      )}
    </p>
  )
}

const nextTry = (ms: number) => (ms > 0 ? `in ${duration(ms)}` : 'now')

function Facts({ cluster }: { cluster: Cluster }) {
  const { nodes, kubernetes_version: version } = cluster
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)_auto_minmax(0,1fr)] gap-x-3 gap-y-1.5 border-line border-t px-5 py-3.5 text-xs">
      <Fact name="Provider">{providerName(cluster.provider)}</Fact>
      <Fact name="Kubernetes">{version ? versionName(version) : <Unknown />}</Fact>
      <Fact name="Region">{cluster.region}</Fact>
      <Fact name="Nodes">
        {nodes ? (
          <span className={clsx('flex items-center gap-1', nodes.ready < nodes.total && 'text-warn-fg')}>
            {nodes.ready}/{nodes.total} ready
            {nodes.ready < nodes.total && <TriangleAlert aria-hidden className="size-3.5 shrink-0" />}
          </span>
        ) : (
          <Unknown />
        )}
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-fg-3">{name}</dt>
      <dd className="truncate font-medium text-fg tabular-nums">{children}</dd>
    </>
  )
}
