import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import clsx from 'clsx'
import { CircleCheck, CircleX, Plus } from 'lucide-react'
import { useState } from 'react'
import type { Credential } from '@/api/model'
import { Problem } from '@/api/problem'
import { CredentialDialog } from '@/settings/credentials/credential-dialog'
import { checkCredential, credentialsQuery, kindOrder, kinds } from '@/settings/credentials/credentials'
import { ExternalId, type ExternalIdShown } from '@/settings/credentials/external-id'
import { Ago } from '@/ui/ago'
import { Button } from '@/ui/button'
import { Loaded } from '@/ui/loaded'

interface CredentialChoiceProps {
  /** `aws` or `gcp`; empty while none is chosen. */
  provider: string
  chosen: string
  error: string | undefined
  onChoose: (id: string) => void
}

/** The credentials for a cloud, each with a way to have it checked, and a way to add one. */
export function CredentialChoice({ provider, chosen, error, onChoose }: CredentialChoiceProps) {
  const query = useQuery(credentialsQuery)
  const queryClient = useQueryClient()
  const [adding, setAdding] = useState(false)
  const [externalId, setExternalId] = useState<ExternalIdShown>()
  if (!provider) return <p className="text-fg-3">Choose a provider first: each has credentials of its own.</p>
  const types = kindOrder.filter((type) => kinds[type].cloud.toLowerCase() === provider)
  return (
    <fieldset className="min-w-0">
      <legend className="sr-only">Cloud credential</legend>
      {error && (
        <p role="alert" className="mb-2 font-medium text-bad-fg text-ui">
          {error}
        </p>
      )}
      <Loaded query={query} what="credentials">
        {(credentials) => {
          const fitting = credentials.filter(({ type }) => types.includes(type))
          return fitting.length === 0 ? (
            <p className="text-fg-3">There is no saved credential for this provider.</p>
          ) : (
            <ul className="grid grid-cols-1 gap-2.5">
              {fitting.map((credential) => (
                <Choice
                  key={credential.id}
                  credential={credential}
                  chosen={credential.id === chosen}
                  onChoose={() => onChoose(credential.id)}
                />
              ))}
            </ul>
          )
        }}
      </Loaded>
      <Button className="mt-3" onClick={() => setAdding(true)}>
        <Plus aria-hidden />
        Add a credential
      </Button>
      {adding && (
        <CredentialDialog
          credential={null}
          types={types}
          onSaved={(saved, shown) => {
            queryClient.setQueryData(credentialsQuery.queryKey, (known) => known && [...known, saved])
            onChoose(saved.id)
            setExternalId(shown)
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {externalId && <ExternalId shown={externalId} onClose={() => setExternalId(undefined)} />}
    </fieldset>
  )
}

interface ChoiceProps {
  credential: Credential
  chosen: boolean
  onChoose: () => void
}

function Choice({ credential: { id, label, type, last_four, changed_at }, chosen, onChoose }: ChoiceProps) {
  const check = useMutation({ mutationFn: () => checkCredential(id) })
  return (
    <li
      className={clsx(
        'relative rounded-lg border bg-surface p-3.5',
        chosen ? 'border-accent ring-1 ring-accent' : 'border-line-strong hover:bg-hover',
      )}
    >
      <div className="flex flex-wrap items-center gap-3">
        <input
          type="radio"
          name="credential"
          id={`credential-${id}`}
          checked={chosen}
          onChange={onChoose}
          className="relative z-10 size-4 shrink-0 accent-accent"
        />
        <div className="min-w-0 flex-1 basis-40">
          <label
            htmlFor={`credential-${id}`}
            className="font-medium [overflow-wrap:anywhere] after:absolute after:inset-0"
          >
            {label}
          </label>
          <p className="text-fg-3 text-ui">
            {kinds[type].name} <span className="font-mono">····{last_four}</span>, saved <Ago at={changed_at} />
          </p>
        </div>
        <Button
          className="relative z-10"
          busy={check.isPending}
          aria-label={`Check ${label}`}
          onClick={() => check.mutate()}
        >
          Check
        </Button>
      </div>
      <div role="status" className="relative z-10 text-ui [overflow-wrap:anywhere] empty:hidden">
        {check.data?.accepted && (
          <p className="mt-2 flex gap-2 text-ok-fg">
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0" />
            <span>
              {kinds[type].cloud} knows it: <span className="font-mono">{check.data.identity}</span>
            </span>
          </p>
        )}
        {(check.error || check.data?.accepted === false) && (
          <p className="mt-2 flex gap-2 text-bad-fg">
            <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
            <span>{check.error ? Problem.of(check.error).message : check.data?.message}</span>
          </p>
        )}
      </div>
    </li>
  )
}
