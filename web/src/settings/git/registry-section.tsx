import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { api, dataOf, ifStill, type Seen, seenOf } from '@/api/client'
import type { RegistrySetting } from '@/api/model'
import { TextField } from '@/form/field'
import { FormDialog } from '@/form/form-dialog'
import { Button } from '@/ui/button'
import { Confirm } from '@/ui/confirm'
import { Fact, Facts } from '@/ui/facts'
import { Loaded } from '@/ui/loaded'
import { Nothing } from '@/ui/rows'
import { Section } from '@/ui/section'
import { showReceipt } from '@/ui/toasts'

const registryQuery = queryOptions({
  queryKey: ['settings', 'registry'],
  queryFn: ({ signal }) => seenOf(api.GET('/api/v1/settings/registry', { signal, cache: 'no-store' })),
})

/** The credential with which clusters pull images from a registry of one's own. */
export function RegistrySection() {
  const query = useQuery(registryQuery)
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<'set' | 'remove'>()
  const renewed = (setting: Seen<RegistrySetting>) => queryClient.setQueryData(registryQuery.queryKey, setting)
  return (
    <Section title="Registry" about="With this credential, clusters pull images from a registry of yours.">
      <Loaded query={query} what="the registry">
        {({ credential, etag }) => (
          <>
            {credential ? (
              <Facts>
                <Fact name="Server">
                  <span className="font-mono text-xs">{credential.server}</span>
                </Fact>
                <Fact name="User name">{credential.username}</Fact>
              </Facts>
            ) : (
              <Nothing>There is none: images are pulled without a credential.</Nothing>
            )}
            <div className="mt-5 flex flex-wrap gap-2">
              <Button onClick={() => setAsked('set')}>
                {credential ? 'Use another credential' : 'Add a credential'}
              </Button>
              {credential && <Button onClick={() => setAsked('remove')}>Remove</Button>}
            </div>
            {asked === 'set' && (
              <CredentialDialog
                server={credential?.server ?? ''}
                etag={etag}
                onSaved={renewed}
                onClose={() => setAsked(undefined)}
              />
            )}
            {asked === 'remove' && (
              <Confirm
                title="Remove the registry credential?"
                verb="Remove"
                act={() => dataOf(api.DELETE('/api/v1/settings/registry', { params: ifStill({ etag }) }))}
                onDone={() => {
                  void queryClient.invalidateQueries(registryQuery)
                  showReceipt({
                    tone: 'success',
                    title: 'The registry credential is removed',
                    description: 'New clusters pull images without one.',
                  })
                }}
                onClose={() => setAsked(undefined)}
              >
                Images that only this credential can pull are no longer pulled.
              </Confirm>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

interface CredentialDialogProps {
  server: string
  etag: string
  onSaved: (setting: Seen<RegistrySetting>) => void
  onClose: () => void
}

function CredentialDialog({ server, etag: now, onSaved, onClose }: CredentialDialogProps) {
  // What is typed is meant for what was there when the dialog opened.
  const [etag] = useState(now)
  const form = useForm({ defaultValues: { server, username: '', password: '' } })
  const { errors } = form.formState
  return (
    <FormDialog
      title="Registry credential"
      form={form}
      verb="Save"
      send={(body) => seenOf(api.PUT('/api/v1/settings/registry', { params: ifStill({ etag }), body }))}
      onDone={(setting) => {
        onSaved(setting)
        showReceipt({
          tone: 'success',
          title: 'The registry credential is saved',
          description: 'Clusters pull images with it.',
        })
      }}
      onClose={onClose}
    >
      <TextField
        label="Server"
        mono
        placeholder="ghcr.io"
        hint="The host of the registry, with its port if it has one."
        error={errors.server?.message}
        {...form.register('server', { required: 'Enter the host of the registry.' })}
      />
      <TextField
        label="User name"
        error={errors.username?.message}
        {...form.register('username', { required: 'Enter the user name.' })}
      />
      <TextField
        label="Password or token"
        type="password"
        hint="It has to be allowed to pull. It never comes back to a browser."
        error={errors.password?.message}
        {...form.register('password', { required: 'Enter the password or token.' })}
      />
    </FormDialog>
  )
}
