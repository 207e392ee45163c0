import clsx from 'clsx'
import { RotateCw } from 'lucide-react'
import type { Cluster, FailedAttempts, PhaseStep } from '@/api/model'
import { PhaseMark, phaseWord } from '@/clusters/phase-mark'
import { meaning, periods, troubleOf } from '@/clusters/phases'
import { useRetry } from '@/clusters/retry'
import { mayManage, useRole } from '@/clusters/rights'
import { grouped } from '@/format/numbers'
import { duration, exact, time, useNow } from '@/format/time'
import { Ago } from '@/ui/ago'
import { Button } from '@/ui/button'
import { Section } from '@/ui/section'
import { Sentences } from '@/ui/sentences'

/** Every phase of the cluster's way: when it began and ended, what failed in it, and what the one in trouble waits for. */
export function PhaseTimeline({ cluster }: { cluster: Cluster }) {
  return (
    <Section title="Phases" about="The way of this cluster to Ready.">
      <ol>
        {periods(cluster).map((period) => (
          <Step key={period.phase} {...period} cluster={cluster} />
        ))}
      </ol>
    </Section>
  )
}

interface StepProps extends PhaseStep {
  began: string | null
  ended: string | null
  cluster: Cluster
}

function Step({ phase, state, began, ended, failed_attempts: failed, cluster }: StepProps) {
  const inTrouble = state === 'failed' || (state === 'current' && cluster.retry !== null)
  return (
    <li className="group relative flex gap-3 pb-5 last:pb-0" aria-current={state === 'current' ? 'step' : undefined}>
      <span aria-hidden className="absolute top-5 bottom-0 left-[7px] w-px bg-line group-last:hidden" />
      <PhaseMark state={state} />
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-0.5">
          <h3 className={clsx('font-medium', state === 'waiting' && 'text-fg-3')}>
            {phase}
            <span className="sr-only">, {phaseWord(state)}</span>
          </h3>
          <Period state={state} began={began} ended={ended} />
        </div>
        <p className="text-fg-3 text-ui">{meaning[phase]}</p>
        {inTrouble && <Trouble cluster={cluster} phase={phase} past={failed} failed={state === 'failed'} />}
        {failed && !inTrouble && <Overcome {...failed} />}
      </div>
    </li>
  )
}

function Period({ state, began, ended }: Pick<StepProps, 'state' | 'began' | 'ended'>) {
  const now = useNow()
  if (state === 'waiting') return null
  const length = began && (ended ? Date.parse(ended) : now) - Date.parse(began)
  return (
    <p className="text-fg-3 text-xs tabular-nums">
      {began && (
        <>
          <time dateTime={began} title={exact(began)}>
            {time(began)}
          </time>
          {' – '}
        </>
      )}
      {ended ? (
        <time dateTime={ended} title={exact(ended)}>
          {time(ended)}
        </time>
      ) : (
        'now'
      )}
      {length !== null && length !== '' && <span className="ml-2 text-fg-2">{duration(length)}</span>}
    </p>
  )
}

/** What stood in the way of a phase that goes well by now, or is done. */
function Overcome({ count, last_at, message }: FailedAttempts) {
  return (
    <div className="mt-1.5 text-fg-2 text-ui [overflow-wrap:anywhere]">
      {attempts(count)} failed first, the last <Ago at={last_at} />: <Sentences>{message}</Sentences>
    </div>
  )
}

const attempts = (count: number) => (count === 1 ? '1 attempt' : `${grouped(count)} attempts`)

interface TroubleProps {
  cluster: Cluster
  phase: PhaseStep['phase']
  past: FailedAttempts | undefined
  failed: boolean
}

/** What went wrong last in the phase under way, how often since it began, and what happens next. */
function Trouble({ cluster, phase, past, failed }: TroubleProps) {
  const retry = useRetry(cluster)
  const manages = mayManage(useRole())
  const since = past?.first_at ?? cluster.retry?.since
  return (
    <div
      className={clsx(
        'mt-2.5 rounded-lg border px-4 py-3',
        failed ? 'border-bad-line bg-bad-bg text-bad-fg' : 'border-warn-line bg-warn-bg text-warn-fg',
      )}
    >
      <div className="text-ui [overflow-wrap:anywhere]">
        <Sentences>{troubleOf(cluster, phase)}</Sentences>
      </div>
      <div className="mt-2.5 flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1 basis-48 text-xs tabular-nums">
          {cluster.retry ? (
            <>
              {attempts(past?.count ?? cluster.retry.attempt)} failed
              {since && (
                <>
                  {' since '}
                  <Ago at={since} />
                </>
              )}
              . Next <Ago at={cluster.retry.next_attempt_at} past="now" />.
            </>
          ) : (
            'KubeOpera does not try this again by itself.'
          )}
        </p>
        {manages && (
          <Button busy={retry.isPending} onClick={() => retry.mutate()}>
            <RotateCw aria-hidden />
            Try again now
          </Button>
        )}
      </div>
    </div>
  )
}
