import { useInfiniteQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import type { AuditEntry } from '@/api/model'
import { grouped } from '@/format/numbers'
import { exact } from '@/format/time'
import { Ago } from '@/ui/ago'
import { Button, buttonClass } from '@/ui/button'
import { Loaded } from '@/ui/loaded'
import { Chip, Nothing, Row, Rows } from '@/ui/rows'
import { Section } from '@/ui/section'
import { type AuditFilter, type AuditOutcome, actionName, auditQuery, exportHref, outcomes } from './audit'
import { AuditFilters } from './audit-filters'

interface AuditSectionProps {
  filter: AuditFilter
  onFilter: (filter: AuditFilter) => void
}

/** Who did what, the newest first. */
export function AuditSection({ filter, onFilter }: AuditSectionProps) {
  const query = useInfiniteQuery(auditQuery(filter))
  const isFiltered = Object.values(filter).some(Boolean)
  return (
    <Section
      title="Audit log"
      about="Who did what, when and from where. Nothing in it can be changed or taken away."
      action={
        <a href={exportHref(filter)} download="kubeopera-audit.ndjson" className={buttonClass('secondary')}>
          <Download aria-hidden />
          Export
        </a>
      }
    >
      <AuditFilters filter={filter} onFilter={onFilter} />
      <div className="mt-5">
        <Loaded query={query} what="the audit log">
          {({ pages }) => {
            const entries = pages.flatMap(({ items }) => items)
            if (entries.length === 0)
              return (
                <Nothing>
                  {isFiltered ? 'Nothing in the log fits these filters.' : 'Nothing has been done so far.'}
                </Nothing>
              )
            return (
              <>
                <Rows label="Audit log">
                  {entries.map((entry) => (
                    <Entry key={entry.position} entry={entry} />
                  ))}
                </Rows>
                <div className="-mx-5 mt-5 -mb-5 flex items-center justify-between gap-4 border-line border-t px-5 py-3.5">
                  <p role="status" className="text-fg-3 text-ui tabular-nums">
                    {grouped(entries.length)} {entries.length === 1 ? 'row' : 'rows'}
                    {query.hasNextPage ? ' so far' : ''}
                  </p>
                  {query.hasNextPage && (
                    <Button busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
                      Show more
                    </Button>
                  )}
                </div>
              </>
            )
          }}
        </Loaded>
      </div>
    </Section>
  )
}

const actors: Record<string, string> = {
  stranger: 'Somebody who was not logged in',
  cluster: 'A run for a cluster',
  kubeopera: 'KubeOpera',
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { action, actor, address, changed, happened_at, object, object_name, outcome } = entry
  return (
    <Row
      title={
        <>
          {actionName(action)}
          {object_name && <span className="font-normal text-fg-2">{object_name}</span>}
          {outcome !== 'done' && (
            <Chip tone={outcome === 'denied' || outcome === 'failed' ? 'warn' : 'plain'}>
              {outcomes[outcome as AuditOutcome] ?? outcome}
            </Chip>
          )}
        </>
      }
      facts={
        <>
          {actor.name ?? actors[actor.kind] ?? actor.kind}
          {address && ` from ${address}`}, <Ago at={happened_at} />
          {changed.length > 0 && `, changed ${changed.join(', ')}`}
        </>
      }
    >
      <details className="mt-1 text-fg-3 text-xs">
        <summary className="w-fit cursor-pointer rounded font-medium hover:text-fg">Details</summary>
        <dl className="mt-1.5 grid gap-1 [&_dd]:font-mono [&_dd]:text-fg-2 [&_dd]:[overflow-wrap:anywhere]">
          <dt>When</dt>
          <dd>{exact(happened_at)}</dd>
          {object && (
            <>
              <dt>Object</dt>
              <dd>{object}</dd>
            </>
          )}
          <dt>Request</dt>
          <dd>{entry.request_id}</dd>
          <dt>Row {grouped(entry.position)}, SHA-256</dt>
          <dd>{entry.hash}</dd>
        </dl>
      </details>
    </Row>
  )
}
