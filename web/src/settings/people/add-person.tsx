import { useForm } from 'react-hook-form'
import type { Role } from '@/api/model'
import { SelectField, TextField } from '@/form/field'
import { FormDialog } from '@/form/form-dialog'
import * as rules from '@/form/rules'
import { roleOrder, roles } from '@/session/roles'
import { showReceipt } from '@/ui/toasts'
import { addPerson } from './people'

export function AddPerson({ onAdded, onClose }: { onAdded: () => void; onClose: () => void }) {
  const form = useForm({ defaultValues: { username: '', role: 'viewer' as Role, password: '' } })
  const { errors } = form.formState
  return (
    <FormDialog
      title="Add a person"
      form={form}
      verb="Add"
      send={addPerson}
      onDone={({ username, role }) => {
        onAdded()
        showReceipt({
          tone: 'success',
          title: `${username} can log in`,
          description: `As ${roles[role].name.toLowerCase()}. Give them the password you chose, in a safe way.`,
        })
      }}
      onClose={onClose}
    >
      <TextField
        label="User name"
        error={errors.username?.message}
        {...form.register('username', { validate: rules.username })}
      />
      <SelectField label="Role" hint={roles[form.watch('role')].may} {...form.register('role')}>
        {roleOrder.map((role) => (
          <option key={role} value={role}>
            {roles[role].name}
          </option>
        ))}
      </SelectField>
      <TextField
        label="First password"
        type="password"
        autoComplete="new-password"
        hint="12 to 128 characters. They can change it."
        error={errors.password?.message}
        {...form.register('password', { validate: rules.password })}
      />
    </FormDialog>
  )
}
