import { useState } from 'react'
import { useForm } from 'react-hook-form'
import type { Credential, CredentialType } from '@/api/model'
import { TextField } from '@/form/field'
import { FormDialog } from '@/form/form-dialog'
import * as rules from '@/form/rules'
import { Button } from '@/ui/button'
import { showReceipt } from '@/ui/toasts'
import { CredentialFields } from './credential-fields'
import { changeCredential, emptyCredential, kindOrder, saveCredential, type TypedCredential } from './credentials'
import type { ExternalIdShown } from './external-id'

interface CredentialDialogProps {
  /** The one to change; null to add one. */
  credential: Credential | null
  /** The types to choose from for a new one. */
  types?: CredentialType[]
  /** With what is shown once, if it is a role. */
  onSaved: (saved: Credential, shown: ExternalIdShown | undefined) => void
  onClose: () => void
}

export function CredentialDialog({ credential, types = kindOrder, onSaved, onClose }: CredentialDialogProps) {
  const form = useForm<TypedCredential>({
    defaultValues: {
      ...emptyCredential,
      label: credential?.label ?? '',
      type: credential?.type ?? emptyCredential.type,
    },
  })
  const [replaces, setReplaces] = useState(credential === null)
  return (
    <FormDialog
      title={credential ? `Change ${credential.label}` : 'Add a cloud credential'}
      form={form}
      verb="Save"
      send={async (typed) => {
        if (!credential) return saveCredential(typed)
        const changed = await changeCredential(credential.id, typed.label, replaces ? typed : null)
        return { credential: changed, external_id: null }
      }}
      onDone={({ credential: saved, external_id }) => {
        const { label } = saved
        onSaved(saved, external_id ? { label, external_id } : undefined)
        showReceipt({
          tone: 'success',
          title: `${label} is saved`,
          description: 'Check asks the cloud whether it can be used.',
        })
      }}
      onClose={onClose}
    >
      {replaces ? (
        <CredentialFields form={form} types={credential ? [credential.type] : types} />
      ) : (
        <>
          <TextField
            label="Label"
            error={form.formState.errors.label?.message}
            {...form.register('label', { validate: rules.title })}
          />
          <div>
            <Button onClick={() => setReplaces(true)}>Replace the secret</Button>
          </div>
        </>
      )}
    </FormDialog>
  )
}
