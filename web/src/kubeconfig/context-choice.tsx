import { Link } from '@tanstack/react-router'
import clsx from 'clsx'
import { CircleCheck, CircleHelp, CircleX, TriangleAlert } from 'lucide-react'
import type { ContextVerdict, Verdict } from '@/api/model'
import { grouped } from '@/format/numbers'
import { providerName, versionName } from '@/format/provider'
import { exact } from '@/format/time'
import { Button } from '@/ui/button'
import { Sentences } from '@/ui/sentences'
import type { KubeconfigOnItsWay } from './use-kubeconfig'

const verdicts: Record<Verdict, { icon: typeof CircleX; word: string; look: string }> = {
  usable: { icon: CircleCheck, word: 'Usable', look: 'border-ok-line bg-ok-bg text-ok-fg' },
  refused: { icon: CircleX, word: 'Cannot be used', look: 'border-bad-line bg-bad-bg text-bad-fg' },
  not_checked: { icon: CircleHelp, word: 'Not looked at yet', look: 'border-line-strong bg-sunken text-fg-2' },
}

const rank: Record<Verdict, number> = { usable: 0, not_checked: 1, refused: 2 }

/** The contexts of a kubeconfig, those first that can be used, each with what came of looking at it. */
export function ContextChoice({ on }: { on: KubeconfigOnItsWay }) {
  const { check, context: chosen, refused, isLooking, lookingAt } = on
  if (!check)
    return (
      <p role="status" className="text-fg-3">
        {isLooking
          ? 'Trying each context from where KubeOpera runs. This takes up to ten seconds.'
          : 'KubeOpera tries each context of the kubeconfig, and says which of them it can use.'}
      </p>
    )
  const { contexts } = check
  const ordered = contexts.toSorted((a, b) => rank[a.verdict] - rank[b.verdict])
  return (
    <fieldset className="min-w-0">
      <legend className="mb-2 text-fg-3">
        {contexts.length === 1
          ? 'The kubeconfig has one context.'
          : `The kubeconfig has ${grouped(contexts.length)} contexts. Choose one of them.`}
      </legend>
      {refused.context && (
        <p role="alert" className="mb-2 font-medium text-bad-fg text-ui">
          {refused.context}
        </p>
      )}
      <ul className="grid grid-cols-1 gap-2.5">
        {ordered.map((context) => (
          <li key={context.name}>
            <Context
              context={context}
              chosen={context.name === chosen}
              onChoose={on.choose}
              onLookAt={on.lookAt}
              isLookedAt={lookingAt === context.name}
            />
          </li>
        ))}
      </ul>
    </fieldset>
  )
}

interface ContextProps {
  context: ContextVerdict
  onChoose: (context: string) => void
  /** Has one looked at that was left out. */
  onLookAt: (context: string) => void
  chosen: boolean
  isLookedAt: boolean
}

function Context({ context, chosen, onChoose, onLookAt, isLookedAt }: ContextProps) {
  const { name, verdict, server, refusal, warnings } = context
  const { icon: Icon, word, look } = verdicts[verdict]
  const usable = verdict === 'usable'
  return (
    <div
      className={clsx(
        'relative rounded-lg border bg-surface p-3.5',
        chosen ? 'border-accent ring-1 ring-accent' : 'border-line-strong',
        usable && !chosen && 'hover:bg-hover',
      )}
    >
      <div className="flex items-start gap-3">
        <input
          type="radio"
          name="context"
          id={`context-${name}`}
          aria-describedby={`verdict-${name}`}
          disabled={!usable}
          checked={chosen}
          onChange={() => onChoose(name)}
          className="relative z-10 mt-0.5 size-4 shrink-0 accent-accent"
        />
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
            <label
              htmlFor={`context-${name}`}
              className={clsx('min-w-0 font-medium [overflow-wrap:anywhere]', usable && 'after:absolute after:inset-0')}
            >
              {name}
            </label>
            {context.is_current && <span className="text-fg-3 text-xs">current context</span>}
            <span
              id={`verdict-${name}`}
              className={clsx(
                'ml-auto inline-flex h-6 items-center gap-1.5 rounded-full border pr-2.5 pl-1.5 font-medium text-xs',
                look,
              )}
            >
              <Icon aria-hidden className="size-3.5" />
              {word}
            </span>
          </div>
          {server && <p className="mt-1 font-mono text-fg-3 text-xs [overflow-wrap:anywhere]">{server}</p>}
          <Facts context={context} />
          {warnings.map(({ code, message }) => (
            <div key={code} className="mt-2 flex gap-2 text-ui text-warn-fg">
              <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
              <div className="relative z-10 min-w-0 flex-1">
                <Sentences>{message}</Sentences>
              </div>
            </div>
          ))}
          {refusal && (
            <div className="mt-2 text-fg-2 text-ui [overflow-wrap:anywhere]">
              <Sentences>{refusal.message}</Sentences>
              <WayOut context={context} />
            </div>
          )}
          {verdict === 'not_checked' && (
            <Button busy={isLookedAt} onClick={() => onLookAt(name)} className="mt-2.5">
              Look at it
            </Button>
          )}
        </div>
      </div>
    </div>
  )
}

function Facts({ context: { cluster, expires_at } }: { context: ContextVerdict }) {
  if (!cluster && !expires_at) return null
  const facts = cluster
    ? [
        `Kubernetes ${versionName(cluster.kubernetes_version)}`,
        `${cluster.nodes.ready}/${cluster.nodes.total} nodes ready`,
        cluster.provider === 'unknown'
          ? 'Provider unknown'
          : `${providerName(cluster.provider)}, ${cluster.region === 'unknown' ? 'region unknown' : cluster.region}`,
      ]
    : []
  if (expires_at) facts.push(`Credential ends ${exact(expires_at)}`)
  return (
    <ul className="mt-1.5 flex flex-wrap gap-x-4 gap-y-0.5 text-fg-2 text-ui tabular-nums">
      {facts.map((fact) => (
        <li key={fact}>{fact}</li>
      ))}
    </ul>
  )
}

/** Where to go when the cluster is one that KubeOpera has already. */
function WayOut({ context: { refusal, cluster } }: { context: ContextVerdict }) {
  const className = 'mt-1 block w-fit font-medium text-accent-text hover:underline'
  if (cluster?.known_as)
    return (
      <Link to="/clusters" hash={cluster.known_as.id} className={className}>
        Show {cluster.known_as.name}
      </Link>
    )
  if (refusal?.code === 'is_host_cluster')
    return (
      <Link to="/clusters/new" search={{ way: 'register' }} className={className}>
        Register This Cluster
      </Link>
    )
  return null
}
