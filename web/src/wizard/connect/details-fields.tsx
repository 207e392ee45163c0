import type { UseFormReturn } from 'react-hook-form'
import { SelectField, TextField } from '@/form/field'
import * as rules from '@/form/rules'
import { providerName } from '@/format/provider'
import { EnvironmentFields } from '../environment-fields'
import type { Details } from './connect'

const providers = ['aws', 'gcp', 'azure', 'on-premises', 'other']

/** What a cluster is called, where it runs, and what belongs to its environment. */
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
      <EnvironmentFields form={form} />
    </div>
  )
}
