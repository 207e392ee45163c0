import { useQuery } from '@tanstack/react-query'
import type { UseFormReturn } from 'react-hook-form'
import type { CredentialType } from '@/api/model'
import { SelectField, TextArea, TextField } from '@/form/field'
import * as rules from '@/form/rules'
import { credentialsQuery, kinds, type TypedCredential } from './credentials'

interface CredentialFieldsProps {
  form: UseFormReturn<TypedCredential>
  /** The types to choose from. */
  types: CredentialType[]
}

/** What a cloud credential is called, and its secret. */
export function CredentialFields({ form, types }: CredentialFieldsProps) {
  const {
    register,
    watch,
    formState: { errors },
  } = form
  const type = watch('type')
  return (
    <>
      <TextField
        label="Label"
        placeholder="acme-platform"
        hint="What people call it here."
        error={errors.label?.message}
        {...register('label', { validate: rules.title })}
      />
      {types.length > 1 && (
        <SelectField label="Type" hint={kinds[type].about} {...register('type')}>
          {types.map((kind) => (
            <option key={kind} value={kind}>
              {kinds[kind].name}
            </option>
          ))}
        </SelectField>
      )}
      {type === 'aws_access_key' && <AccessKey form={form} />}
      {type === 'aws_assume_role' && <AssumeRole form={form} />}
      {type === 'gcp_service_account_key' && <ServiceAccountKey form={form} />}
    </>
  )
}

type PartProps = Pick<CredentialFieldsProps, 'form'>

function AccessKey({ form: { register, formState } }: PartProps) {
  const { errors } = formState
  return (
    <>
      <TextField
        mono
        label="Access key ID"
        placeholder="AKIA…"
        error={errors.access_key_id?.message}
        {...register('access_key_id', {
          shouldUnregister: true,
          validate: (text) => /^AKIA[A-Z0-9]{16}$/.test(text) || 'Enter AKIA and 16 capital letters and digits.',
        })}
      />
      <TextField
        mono
        type="password"
        label="Secret access key"
        hint="It is encrypted before it is stored, and never comes back to a browser."
        error={errors.secret_access_key?.message}
        {...register('secret_access_key', {
          shouldUnregister: true,
          validate: (text) => text.length === 40 || 'Enter the 40 characters that AWS showed with the key.',
        })}
      />
    </>
  )
}

function AssumeRole({ form: { register, formState } }: PartProps) {
  const { errors } = formState
  const { data } = useQuery(credentialsQuery)
  const keys = data?.filter(({ type }) => type === 'aws_access_key') ?? []
  return (
    <>
      <TextField
        mono
        label="ARN of the role"
        placeholder="arn:aws:iam::123456789012:role/kubeopera"
        error={errors.role_arn?.message}
        {...register('role_arn', {
          shouldUnregister: true,
          validate: (text) =>
            /^arn:aws[a-z-]*:iam::\d{12}:role\/\S+$/.test(text) ||
            "Paste the role's ARN, such as arn:aws:iam::123456789012:role/kubeopera.",
        })}
      />
      <SelectField
        label="Who assumes it"
        error={errors.source?.message}
        hint="After saving, you get the external ID that the role's trust policy has to ask for."
        {...register('source', { shouldUnregister: true })}
      >
        <option value="">Whoever KubeOpera runs as</option>
        {keys.map(({ id, label, last_four }) => (
          <option key={id} value={id}>
            {label} (…{last_four})
          </option>
        ))}
      </SelectField>
    </>
  )
}

function ServiceAccountKey({ form: { register, formState, setValue } }: PartProps) {
  return (
    <div>
      <TextArea
        label="Key file"
        placeholder='{"type": "service_account", …}'
        hint="Paste the JSON file. It is encrypted before it is stored, and never comes back to a browser."
        error={formState.errors.key?.message}
        {...register('key', { shouldUnregister: true, required: 'Paste the JSON file, or choose it.' })}
      />
      <label className="mt-2 block text-fg-2 text-ui">
        <span className="mr-2">Or choose it:</span>
        <input
          type="file"
          accept="application/json,.json"
          className="max-w-full text-ui file:mr-2 file:h-8 file:rounded-lg file:border file:border-line-strong file:bg-surface file:px-2.5 file:font-medium file:text-fg"
          onChange={async (event) => {
            const file = event.target.files?.[0]
            if (file) setValue('key', await file.text(), { shouldValidate: true })
          }}
        />
      </label>
    </div>
  )
}
