import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { EllipsisVertical, UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { Person, Role } from '@/api/model'
import { isAdministrator, useRole } from '@/clusters/rights'
import { roleOrder, roles } from '@/session/roles'
import { Ago } from '@/ui/ago'
import { Button, buttonClass } from '@/ui/button'
import { Confirm } from '@/ui/confirm'
import { Loaded } from '@/ui/loaded'
import { OnDemand, popup } from '@/ui/on-demand'
import { Chip, Row, Rows } from '@/ui/rows'
import { Section } from '@/ui/section'
import { showFailure, showReceipt } from '@/ui/toasts'
import { AddPerson } from './add-person'
import { changePerson, peopleQuery } from './people'
import { ResetPassword } from './reset-password'

const personActions = popup('menu', () => import('./person-actions'))

type Asked = { what: 'reset' | 'disable'; person: Person } | { what: 'add' }

export function PeopleSection() {
  const administers = isAdministrator(useRole())
  const query = useQuery(peopleQuery)
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<Asked>()
  const renew = () => void queryClient.invalidateQueries({ queryKey: peopleQuery.queryKey })
  const close = () => setAsked(undefined)
  return (
    <Section
      title="People"
      about="Everybody who may log in, and what they may do."
      action={
        administers && (
          <Button look="primary" onClick={() => setAsked({ what: 'add' })}>
            <UserPlus aria-hidden />
            Add a person
          </Button>
        )
      }
    >
      <Loaded query={query} what="people">
        {(people) => (
          <Rows label="People">
            {people.map((person) => (
              <PersonRow key={person.id} person={person} onAsk={setAsked} onChange={renew} />
            ))}
          </Rows>
        )}
      </Loaded>
      {asked?.what === 'add' && <AddPerson onAdded={renew} onClose={close} />}
      {asked?.what === 'reset' && <ResetPassword person={asked.person} onClose={close} />}
      {asked?.what === 'disable' && (
        <Confirm
          title={`Keep ${asked.person.username} from logging in?`}
          verb="Disable"
          act={() => changePerson(asked.person.id, { disabled: true })}
          onDone={() => {
            renew()
            showReceipt({
              tone: 'success',
              title: `${asked.person.username} is disabled`,
              description: 'Their sessions and tokens have ended.',
            })
          }}
          onClose={close}
        >
          Their sessions end at once, and their tokens for good. You can let them in again later.
        </Confirm>
      )}
    </Section>
  )
}

interface PersonRowProps {
  person: Person
  onAsk: (asked: Asked) => void
  onChange: () => void
}

function PersonRow({ person, onAsk, onChange }: PersonRowProps) {
  const { session } = useRouteContext({ from: '/_logged-in' })
  const isSelf = person.id === session.user.id
  const change = useMutation({
    mutationFn: (wanted: { role?: Role; disabled?: boolean }) => changePerson(person.id, wanted),
    onSuccess: ({ username, role, disabled_at }) => {
      onChange()
      showReceipt({
        tone: 'success',
        title: `${username} is ${disabled_at ? 'disabled' : roles[role].name.toLowerCase()}`,
        description: disabled_at ? 'They cannot log in.' : roles[role].may,
      })
    },
    onError: (error) => showFailure(`${person.username} is as before`, error),
  })
  const isOurs = person.way === 'password'
  return (
    <Row
      faded={person.disabled_at !== null}
      title={
        <>
          {person.username}
          {isSelf && <Chip tone="accent">You</Chip>}
          {!isOurs && <Chip>Identity provider</Chip>}
          {person.disabled_at && <Chip tone="warn">Disabled</Chip>}
        </>
      }
      facts={
        person.disabled_at ? (
          <>
            Kept from logging in since <Ago at={person.disabled_at} />
          </>
        ) : (
          <>
            Added <Ago at={person.created_at} />
          </>
        )
      }
      actions={
        <>
          <select
            aria-label={`Role of ${person.username}`}
            value={change.isPending ? (change.variables.role ?? person.role) : person.role}
            disabled={change.isPending || !isOurs}
            onChange={(event) => change.mutate({ role: event.target.value as Role })}
            className="h-9 rounded-lg border border-control bg-surface px-2 text-ui disabled:opacity-60 max-sm:h-11"
          >
            {roleOrder.map((role) => (
              <option key={role} value={role}>
                {roles[role].name}
              </option>
            ))}
          </select>
          <OnDemand
            popup={personActions}
            with={{
              isDisabled: person.disabled_at !== null,
              onReset: isOurs && !isSelf ? () => onAsk({ what: 'reset', person }) : undefined,
              onDisable: () => onAsk({ what: 'disable', person }),
              onLetIn: () => change.mutate({ disabled: false }),
            }}
          >
            <button
              type="button"
              aria-label={`Actions for ${person.username}`}
              className={buttonClass('ghost', 'icon')}
            >
              <EllipsisVertical aria-hidden />
            </button>
          </OnDemand>
        </>
      }
    />
  )
}
