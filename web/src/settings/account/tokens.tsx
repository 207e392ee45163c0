import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import type { Token } from '@/api/model'
import { SelectField, TextField } from '@/form/field'
import { FormDialog } from '@/form/form-dialog'
import * as rules from '@/form/rules'
import { Ago } from '@/ui/ago'
import { Button } from '@/ui/button'
import { Confirm } from '@/ui/confirm'
import { Loaded } from '@/ui/loaded'
import { Nothing, Row, Rows } from '@/ui/rows'
import { SecretOnce } from '@/ui/secret-once'
import { Section } from '@/ui/section'
import { showReceipt } from '@/ui/toasts'
import { makeToken, revokeToken, tokensQuery } from './account'

export function Tokens() {
  const query = useQuery(tokensQuery)
  const queryClient = useQueryClient()
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<{ label: string; secret: string }>()
  const [revoking, setRevoking] = useState<Token>()
  const renew = () => void queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey })
  return (
    <Section
      title="Personal access tokens"
      about="With a token, a script may do what you may do, until it ends."
      action={
        <Button onClick={() => setMaking(true)}>
          <Plus aria-hidden />
          New token
        </Button>
      }
    >
      <Loaded query={query} what="tokens">
        {(tokens) =>
          tokens.length === 0 ? (
            <Nothing>You have no tokens.</Nothing>
          ) : (
            <Rows label="Personal access tokens">
              {tokens.map((token) => (
                <Row
                  key={token.id}
                  title={token.label}
                  facts={
                    <>
                      {token.last_used_at ? (
                        <>
                          Last used <Ago at={token.last_used_at} />
                        </>
                      ) : (
                        'Never used'
                      )}
                      , ends <Ago at={token.expires_at} />
                    </>
                  }
                  actions={
                    <Button aria-label={`Revoke ${token.label}`} onClick={() => setRevoking(token)}>
                      Revoke
                    </Button>
                  }
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
      {making && (
        <NewToken
          onMade={(label, secret) => {
            setMade({ label, secret })
            renew()
          }}
          onClose={() => setMaking(false)}
        />
      )}
      {made && (
        <SecretOnce title={`Token ${made.label}`} what="token" secret={made.secret} onClose={() => setMade(undefined)}>
          <p className="mt-3 text-fg-3 text-ui">
            Send it in the header <code className="font-mono">Authorization: Bearer</code>.
          </p>
        </SecretOnce>
      )}
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.label}?`}
          verb="Revoke"
          act={() => revokeToken(revoking.id)}
          onDone={() => {
            renew()
            showReceipt({
              tone: 'success',
              title: `${revoking.label} is revoked`,
              description: 'It is good for nothing any more.',
            })
          }}
          onClose={() => setRevoking(undefined)}
        >
          Scripts that use it are refused from then on.
        </Confirm>
      )}
    </Section>
  )
}

const DAY_MS = 86_400_000

function NewToken({ onMade, onClose }: { onMade: (label: string, secret: string) => void; onClose: () => void }) {
  const form = useForm({ defaultValues: { label: '', days: '30' } })
  const { errors } = form.formState
  return (
    <FormDialog
      title="New personal access token"
      form={form}
      verb="Make token"
      send={({ label, days }) => makeToken(label, new Date(Date.now() + Number(days) * DAY_MS).toISOString())}
      onDone={({ token, secret }) => onMade(token.label, secret)}
      onClose={onClose}
    >
      <TextField
        label="What it is for"
        placeholder="CI pipeline"
        error={errors.label?.message}
        {...form.register('label', { validate: rules.title })}
      />
      <SelectField label="Ends after" {...form.register('days')}>
        <option value="7">7 days</option>
        <option value="30">30 days</option>
        <option value="90">90 days</option>
        <option value="365">One year</option>
      </SelectField>
    </FormDialog>
  )
}
