import { useForm } from 'react-hook-form'
import type { Person } from '@/api/model'
import { TextField } from '@/form/field'
import { FormDialog } from '@/form/form-dialog'
import * as rules from '@/form/rules'
import { showReceipt } from '@/ui/toasts'
import { setPassword } from '../account/account'

export function ResetPassword({ person, onClose }: { person: Person; onClose: () => void }) {
  const form = useForm({ defaultValues: { password: '' } })
  return (
    <FormDialog
      title={`Give ${person.username} another password`}
      form={form}
      verb="Set password"
      send={({ password }) => setPassword(person.id, password)}
      onDone={() =>
        showReceipt({
          tone: 'success',
          title: `${person.username} has another password`,
          description: 'Their sessions have ended. Give it to them in a safe way.',
        })
      }
      onClose={onClose}
    >
      <p className="text-fg-2">It ends all their sessions. Their tokens go on.</p>
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="12 to 128 characters."
        error={form.formState.errors.password?.message}
        {...form.register('password', { validate: rules.password })}
      />
    </FormDialog>
  )
}
