import type { UseFormReturn } from 'react-hook-form'
import { SelectField, TextField } from '@/form/field'
import * as rules from '@/form/rules'
import { providerName } from '@/format/provider'
import type { Details } from './connect'

const providers = ['aws', 'gcp', 'azure', 'on-premises', 'other']

/** What a cluster is called, where it runs, how it is reached, and who its first administrator is. */
export function DetailsFields({ form, found }: { form: UseFormReturn<Details>; found: string | undefined }) {
  const {
    register,
    formState: { errors },
  } = form
  const offered = found && found !== 'unknown' && !providers.includes(found) ? [...providers, found] : providers
  const kept = form.getValues('provider')
  return (
    <div className="grid gap-x-5 gap-y-5 sm:grid-cols-2">
      <TextField
        label="Name"
        className="sm:col-span-2"
        hint="Names the cluster here and in Git. It cannot be that of another cluster."
        error={errors.name?.message}
        {...register('name', { validate: rules.clusterName })}
      />
      <SelectField
        label="Provider"
        error={errors.provider?.message}
        {...register('provider', { validate: rules.provider })}
      >
        <option value="" disabled>
          Choose
        </option>
        {(kept && !offered.includes(kept) ? [...offered, kept] : offered).map((provider) => (
          <option key={provider} value={provider}>
            {providerName(provider)}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Region"
        hint="Such as eu-north-1; of your own machines, the place where they are."
        error={errors.region?.message}
        {...register('region', { validate: rules.region })}
      />
      <TextField
        label="Domain"
        optional
        inputMode="url"
        className="sm:col-span-2"
        hint="Where the environment is reached, such as my-cluster.acme.com. Without it, nothing is exposed."
        error={errors.domain?.message}
        {...register('domain', { validate: rules.orEmpty(rules.domain) })}
      />
      <TextField
        label="Administrator's e-mail"
        optional
        type="email"
        hint="Creates a first administrator on this environment once the platform is up."
        error={errors.admin_email?.message}
        {...register('admin_email', {
          validate: (text, { admin_username }) =>
            text === '' && admin_username !== '' ? TOGETHER : rules.orEmpty(rules.email)(text),
          deps: 'admin_username',
        })}
      />
      <TextField
        label="Administrator's user name"
        optional
        error={errors.admin_username?.message}
        {...register('admin_username', {
          validate: (text, { admin_email }) =>
            text === '' && admin_email !== '' ? TOGETHER : rules.orEmpty(rules.username)(text),
          deps: 'admin_email',
        })}
      />
      <TextField
        label="Folder in Git"
        optional
        className="sm:col-span-2"
        hint="Where the cluster's tree goes in the GitOps repository. Without it, fluxcd/clusters/ and the name."
        error={errors.git_path?.message}
        {...register('git_path', { validate: rules.orEmpty(rules.gitPath) })}
      />
    </div>
  )
}

const TOGETHER = 'E-mail address and user name of the administrator go together: give both or neither.'
