import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import type { Seen } from '@/api/client'
import type { GitSetting } from '@/api/model'
import { Problem } from '@/api/problem'
import { SelectField, TextArea, TextField } from '@/form/field'
import { FormDialog } from '@/form/form-dialog'
import { landOnField } from '@/form/refusal'
import { Button } from '@/ui/button'
import { Notice } from '@/ui/notice'
import { showReceipt } from '@/ui/toasts'
import { checkRepository, chooseRepository, emptyRepository, type TypedRepository } from './git'
import { GitFindings } from './git-findings'

interface RepositoryDialogProps {
  setting: Seen<GitSetting>
  onChosen: (setting: Seen<GitSetting>) => void
  onClose: () => void
}

/** Chooses another repository, after it was tried. */
export function RepositoryDialog({ setting: now, onChosen, onClose }: RepositoryDialogProps) {
  // What is typed is meant for what was there when the dialog opened.
  const [setting] = useState(now)
  const keeps = setting.credential !== null && !setting.is_built_in
  const form = useForm<TypedRepository>({
    defaultValues: keeps
      ? { ...emptyRepository, url: setting.url, branch: setting.branch ?? '', how: 'kept' }
      : emptyRepository,
  })
  const { errors } = form.formState
  const how = form.watch('how')
  const check = useMutation({
    mutationFn: checkRepository,
    onError: (error) => void landOnField(error, form),
  })
  const problem = check.error && Problem.of(check.error)
  const isAtField = Object.values(errors).some((error) => error.type === 'server')
  return (
    <FormDialog
      title="Use another repository"
      form={form}
      verb="Use it"
      send={(typed) => chooseRepository(setting, typed)}
      onDone={(chosen) => {
        onChosen(chosen)
        showReceipt({ tone: 'success', title: 'New clusters go to another repository', description: chosen.url })
      }}
      onClose={onClose}
    >
      <TextField
        label="Address"
        mono
        placeholder="https://github.com/acme/gitops-iac.git"
        hint="https:// or ssh://, or user@host:path, without a credential in it."
        error={errors.url?.message}
        {...form.register('url', { required: 'Enter the address of the repository.' })}
      />
      <TextField
        label="Branch"
        optional
        mono
        hint="Without it, the repository's default branch."
        error={errors.branch?.message}
        {...form.register('branch')}
      />
      <SelectField label="How to write to it" {...form.register('how')}>
        {keeps && <option value="kept">With the credential that is stored</option>}
        <option value="basic">With a password or token, over HTTPS</option>
        <option value="ssh">With a private key, over SSH</option>
      </SelectField>
      {how === 'basic' && (
        <>
          <TextField
            label="User name"
            optional
            hint="Without it, git, which does with a token."
            error={errors.username?.message}
            {...form.register('username')}
          />
          <TextField
            label="Password or token"
            type="password"
            hint="It has to be allowed to push. It never comes back to a browser."
            error={errors.password?.message}
            {...form.register('password', { shouldUnregister: true, required: 'Enter the password or token.' })}
          />
          <TextArea
            label="Certificate authority"
            optional
            placeholder="-----BEGIN CERTIFICATE-----"
            hint="Only if no public authority signed the server's certificate."
            error={errors.certificate_authority?.message}
            {...form.register('certificate_authority')}
          />
        </>
      )}
      {how === 'ssh' && (
        <>
          <TextArea
            label="Private key"
            placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
            hint="In OpenSSH's form, without a passphrase. It never comes back to a browser."
            error={errors.private_key?.message}
            {...form.register('private_key', { shouldUnregister: true, required: 'Paste the private key.' })}
          />
          <TextArea
            label="Host keys of the server"
            hint="As ssh-keyscan prints them. Try it, and the server's own are offered here."
            error={errors.known_hosts?.message}
            {...form.register('known_hosts')}
          />
        </>
      )}
      <div>
        <Button busy={check.isPending} onClick={form.handleSubmit((typed) => check.mutate(typed))}>
          Try it first
        </Button>
      </div>
      {problem && !isAtField && (
        <Notice tone="bad" role="alert">
          {problem.message}
        </Notice>
      )}
      {check.data && (
        <GitFindings
          check={check.data}
          onTrust={(known_hosts) => {
            form.setValue('known_hosts', known_hosts, { shouldDirty: true })
            form.setFocus('known_hosts')
          }}
        />
      )}
    </FormDialog>
  )
}
