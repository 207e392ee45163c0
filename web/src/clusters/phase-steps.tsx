import { Popover } from '@base-ui/react/popover'
import clsx from 'clsx'
import type { Cluster, PhaseStep } from '@/api/model'
import { duration, exact, useNow } from '@/format/time'
import { popupClass } from '@/ui/menu'
import type { Opened } from '@/ui/on-demand'
import { PhaseMark, phaseWord } from './phase-mark'
import { doneSince, meaning } from './phases'

/** Every phase of the cluster's way with its meaning, and the whole message, as a popover that is open. */
export default function PhaseSteps({ cluster, trigger }: { cluster: Cluster } & Opened) {
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger render={trigger} />
      <Popover.Portal>
        <Popover.Positioner align="end" sideOffset={6} collisionPadding={12} className="z-40">
          <Popover.Popup className={clsx(popupClass, 'w-96 max-w-[calc(100vw-1.5rem)]')}>
            <div className="max-h-[70dvh] overflow-y-auto p-3">
              <Popover.Title className="font-semibold">Phases of {cluster.name}</Popover.Title>
              <ol className="mt-3">
                {cluster.phases.map((step) => (
                  <Step key={step.phase} {...step} since={doneSince(cluster, step.phase)} />
                ))}
                <Step
                  phase="Ready"
                  state={cluster.phase === 'Ready' ? 'done' : 'waiting'}
                  since={doneSince(cluster, 'Ready')}
                />
              </ol>
              {cluster.message && (
                <Popover.Description className="mt-1 border-line border-t pt-3 text-fg-2 text-ui [overflow-wrap:anywhere]">
                  {cluster.message}
                </Popover.Description>
              )}
              {cluster.git_ops && <Tree {...cluster.git_ops} />}
            </div>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Step({ phase, state, since }: PhaseStep & { since: string | null }) {
  const now = useNow()
  return (
    <li className="group relative flex gap-3 pb-3.5" aria-current={state === 'current' ? 'step' : undefined}>
      <span aria-hidden className="absolute top-5 bottom-0 left-[7px] w-px bg-line group-last:hidden" />
      <PhaseMark state={state} />
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline justify-between gap-3">
          <span className={clsx('font-medium text-ui', state === 'waiting' ? 'text-fg-3' : 'text-fg')}>
            {phase}
            <span className="sr-only">, {phaseWord(state)}</span>
          </span>
          {state === 'done' && since && (
            <time dateTime={since} title={exact(since)} className="text-fg-3 text-xs tabular-nums">
              {duration(now - Date.parse(since))} ago
            </time>
          )}
        </p>
        <p className="text-fg-3 text-xs leading-4.5">{meaning[phase]}</p>
      </div>
    </li>
  )
}

/** Where in Git the cluster's tree is, and which commit of it. */
function Tree({ url, branch, path, commit }: NonNullable<Cluster['git_ops']>) {
  return (
    <dl className="mt-3 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 border-line border-t pt-3 text-xs [&_dd]:font-mono [&_dd]:[overflow-wrap:anywhere] [&_dt]:text-fg-3">
      <dt>Repository</dt>
      <dd>{url}</dd>
      <dt>Path</dt>
      <dd>{path}</dd>
      <dt>Branch</dt>
      <dd>
        {branch}
        {commit && ` at ${commit.slice(0, 12)}`}
      </dd>
    </dl>
  )
}
