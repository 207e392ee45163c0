import type { UseFormReturn } from 'react-hook-form'
import { TextField } from '@/form/field'
import * as rules from '@/form/rules'

/** How a new cluster's environment is reached, and who its first administrator is. */
export const emptyEnvironment = { domain: '', admin_email: '', admin_username: '', git_path: '' }

export type Environment = typeof emptyEnvironment

const TOGETHER = 'E-mail address and user name of the administrator go together: give both or neither.'

/** Fields of a form that has these among others. */
export function EnvironmentFields<T extends Environment>({ form }: { form: UseFormReturn<T> }) {
  // What a form of more fields can do, it can do with these.
  const {
    register,
    formState: { errors },
  } = form as unknown as UseFormReturn<Environment>
  return (
    <>
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
    </>
  )
}
