import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleX, Plus } from 'lucide-react'
import { useState } from 'react'
import type { Credential } from '@/api/model'
import { Problem } from '@/api/problem'
import { isAdministrator, useRole } from '@/clusters/rights'
import { useFleet } from '@/clusters/use-fleet'
import { Ago } from '@/ui/ago'
import { Button } from '@/ui/button'
import { Confirm } from '@/ui/confirm'
import { CopyButton } from '@/ui/copy-button'
import { Loaded } from '@/ui/loaded'
import { Chip, Nothing, Row, Rows } from '@/ui/rows'
import { Section } from '@/ui/section'
import { showReceipt } from '@/ui/toasts'
import { CredentialDialog } from './credential-dialog'
import { checkCredential, credentialsQuery, deleteCredential, kinds } from './credentials'
import { ExternalId, type ExternalIdShown } from './external-id'

type Asked = { what: 'add' } | { what: 'change' | 'delete'; credential: Credential }

export function CredentialsSection() {
  const administers = isAdministrator(useRole())
  const query = useQuery(credentialsQuery)
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<Asked>()
  const [externalId, setExternalId] = useState<ExternalIdShown>()
  const renew = () => void queryClient.invalidateQueries({ queryKey: credentialsQuery.queryKey })
  const close = () => setAsked(undefined)
  return (
    <Section
      title="Cloud credentials"
      about="With these, KubeOpera creates clusters on your cloud accounts. They are stored encrypted; only platform administrators see this page."
      action={
        administers && (
          <Button look="primary" onClick={() => setAsked({ what: 'add' })}>
            <Plus aria-hidden />
            Add a credential
          </Button>
        )
      }
    >
      <Loaded query={query} what="credentials">
        {(credentials) =>
          credentials.length === 0 ? (
            <Nothing>There are none. You can add one here, or while you create a cluster.</Nothing>
          ) : (
            <Rows label="Cloud credentials">
              {credentials.map((credential) => (
                <CredentialRow key={credential.id} credential={credential} onAsk={setAsked} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      {asked && asked.what !== 'delete' && (
        <CredentialDialog
          credential={asked.what === 'change' ? asked.credential : null}
          onSaved={(_, shown) => {
            renew()
            setExternalId(shown)
          }}
          onClose={close}
        />
      )}
      {externalId && <ExternalId shown={externalId} onClose={() => setExternalId(undefined)} />}
      {asked?.what === 'delete' && (
        <Confirm
          title={`Delete ${asked.credential.label}?`}
          verb="Delete"
          act={() => deleteCredential(asked.credential.id)}
          onDone={() => {
            renew()
            showReceipt({
              tone: 'success',
              title: `${asked.credential.label} is deleted`,
              description: 'In the cloud it still exists until you delete it there.',
            })
          }}
          onClose={close}
        >
          KubeOpera forgets it. What uses it has to go first.
        </Confirm>
      )}
    </Section>
  )
}

function CredentialRow({ credential, onAsk }: { credential: Credential; onAsk: (asked: Asked) => void }) {
  const { id, label, type, last_four, changed_at, clusters } = credential
  const check = useMutation({ mutationFn: () => checkCredential(id) })
  const fleet = useFleet().data?.items
  const names = clusters.map((used) => fleet?.find((cluster) => cluster.id === used)?.name ?? used)
  return (
    <Row
      title={
        <>
          {label} <Chip>{kinds[type].name}</Chip>
        </>
      }
      facts={
        <>
          <span className="font-mono">····{last_four}</span>, saved <Ago at={changed_at} />
          {names.length > 0 ? `, in use by ${names.join(', ')}` : ', not in use'}
        </>
      }
      actions={
        <>
          <Button busy={check.isPending} aria-label={`Check ${label}`} onClick={() => check.mutate()}>
            Check
          </Button>
          <Button aria-label={`Change ${label}`} onClick={() => onAsk({ what: 'change', credential })}>
            Change
          </Button>
          <Button aria-label={`Delete ${label}`} onClick={() => onAsk({ what: 'delete', credential })}>
            Delete
          </Button>
        </>
      }
    >
      <div role="status">
        {check.data?.accepted && (
          <p className="mt-2 flex items-start gap-2 text-ok-fg text-ui [overflow-wrap:anywhere]">
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0" />
            <span>
              {kinds[type].cloud} knows it: <span className="font-mono">{check.data.identity}</span>
              {check.data.account && `, account ${check.data.account}`}
            </span>
            {check.data.identity && (
              <CopyButton text={check.data.identity} label="Copy the identity" className="-my-1.5" />
            )}
          </p>
        )}
        {(check.error || check.data?.accepted === false) && (
          <p className="mt-2 flex items-start gap-2 text-bad-fg text-ui [overflow-wrap:anywhere]">
            <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
            {check.error ? Problem.of(check.error).message : check.data?.message}
          </p>
        )}
      </div>
    </Row>
  )
}
