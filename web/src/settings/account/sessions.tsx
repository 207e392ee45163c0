import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SessionEntry } from '@/api/model'
import { Ago } from '@/ui/ago'
import { Button } from '@/ui/button'
import { Confirm } from '@/ui/confirm'
import { Loaded } from '@/ui/loaded'
import { Chip, Row, Rows } from '@/ui/rows'
import { Section } from '@/ui/section'
import { showReceipt } from '@/ui/toasts'
import { endSession, sessionsQuery } from './account'

export function Sessions() {
  const query = useQuery(sessionsQuery)
  const queryClient = useQueryClient()
  const [ending, setEnding] = useState<SessionEntry>()
  return (
    <Section title="Sessions" about="Where you are logged in.">
      <Loaded query={query} what="sessions">
        {(sessions) => (
          <Rows label="Sessions">
            {sessions.map((session) => (
              <Row
                key={session.id}
                title={
                  <>
                    <span className="font-mono text-ui">{session.address}</span>
                    {session.current && <Chip tone="accent">This session</Chip>}
                  </>
                }
                facts={
                  <>
                    Last used <Ago at={session.last_seen_at} />, opened <Ago at={session.created_at} />, ends{' '}
                    <Ago at={session.expires_at} />
                  </>
                }
                actions={!session.current && <Button onClick={() => setEnding(session)}>End</Button>}
              />
            ))}
          </Rows>
        )}
      </Loaded>
      {ending && (
        <Confirm
          title={`End the session from ${ending.address}?`}
          verb="End session"
          act={() => endSession(ending.id)}
          onDone={() => {
            void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
            showReceipt({
              tone: 'success',
              title: 'The session has ended',
              description: `It was from ${ending.address}.`,
            })
          }}
          onClose={() => setEnding(undefined)}
        >
          Whoever uses it has to log in again.
        </Confirm>
      )}
    </Section>
  )
}
