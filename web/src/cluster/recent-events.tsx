import clsx from 'clsx'
import { Info, RotateCw, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { ClusterEvent, ClusterMonitor } from '@/api/model'
import { grouped } from '@/format/numbers'
import { Ago } from '@/ui/ago'
import { Button } from '@/ui/button'
import { Notice } from '@/ui/notice'
import { Nothing, Rows } from '@/ui/rows'
import { Section } from '@/ui/section'
import type { PartProps } from './monitored'
import { objectName } from './object-name'

/** More are shown when asked for. */
const AT_FIRST = 20

interface RecentEventsProps extends PartProps, Pick<ClusterMonitor, 'events'> {
  isReading: boolean
  onReadAgain: () => void
}

/** What Kubernetes reported of late, the latest first; what happened often is one line. */
export function RecentEvents({ events, about, isReading, onReadAgain }: RecentEventsProps) {
  const [all, setAll] = useState(false)
  const { items, more, not_readable: notReadable } = events
  const shown = all ? items : items.slice(0, AT_FIRST)
  return (
    <Section
      title="Recent events"
      about={
        <>
          {about}
          {items.length > 0 && (
            <span className="block">
              By last occurrence.
              {more > 0 &&
                ` The latest ${grouped(items.length)}: ${grouped(more)} more are in the cluster, or came faster than they were read.`}
            </span>
          )}
        </>
      }
      action={
        <Button busy={isReading} onClick={onReadAgain}>
          {!isReading && <RotateCw aria-hidden />}
          Read again
        </Button>
      }
    >
      {notReadable && (
        <Notice tone="warn" className={clsx(items.length > 0 && 'mb-4')} title="Events cannot be read">
          {notReadable}
        </Notice>
      )}
      {items.length > 0 ? (
        <Rows label="Events">
          {shown.map((event) => (
            <Event key={`${event.reason} ${objectName(event.object)} ${event.last_seen} ${event.message}`} {...event} />
          ))}
          {shown.length < items.length && (
            <li className="px-5 py-3">
              <Button onClick={() => setAll(true)}>Show all {grouped(items.length)}</Button>
            </li>
          )}
        </Rows>
      ) : (
        !notReadable && <Nothing>Kubernetes has reported nothing of late.</Nothing>
      )}
    </Section>
  )
}

function Event({ kind, reason, object, message, count, last_seen: last, first_seen: first }: ClusterEvent) {
  const Icon = kind === 'warning' ? TriangleAlert : Info
  return (
    <li className="flex gap-3 px-5 py-3">
      <Icon aria-hidden className={clsx('mt-0.5 size-4 shrink-0', kind === 'warning' ? 'text-warn-fg' : 'text-fg-3')} />
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline justify-between gap-x-4">
          <p className="min-w-0 [overflow-wrap:anywhere]">
            <span className="sr-only">{kind === 'warning' ? 'Warning: ' : 'Normal: '}</span>
            <span className="font-medium">{reason}</span>{' '}
            <span className="text-fg-3 text-ui">{objectName(object)}</span>
          </p>
          <p className="text-fg-3 text-xs tabular-nums">
            {count > 1 && (
              <>
                {grouped(count)} times
                {first && (
                  <>
                    {' since '}
                    <Ago at={first} />
                  </>
                )}
                {', last '}
              </>
            )}
            {last ? <Ago at={last} /> : 'when is not said'}
          </p>
        </div>
        <p className="mt-0.5 text-fg-2 text-ui [overflow-wrap:anywhere]">{message}</p>
      </div>
    </li>
  )
}
