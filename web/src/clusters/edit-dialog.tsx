import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { Plus, X } from 'lucide-react'
import { useFieldArray, useForm } from 'react-hook-form'
import type { Seen } from '@/api/client'
import type { Cluster } from '@/api/model'
import { TextField } from '@/form/field'
import { FormDialog } from '@/form/form-dialog'
import * as rules from '@/form/rules'
import { Button, buttonClass } from '@/ui/button'
import { Loaded } from '@/ui/loaded'
import { Modal } from '@/ui/modal'
import { showReceipt } from '@/ui/toasts'
import { remember } from './clusters'
import { changeCluster, see } from './edit'

/** Gives a cluster another name or other labels, if nobody else did meanwhile. */
export default function EditDialog({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const query = useQuery({
    queryKey: ['seen', cluster.id],
    queryFn: ({ signal }) => see(cluster.id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (query.data) return <Form cluster={query.data} onClose={onClose} />
  return (
    <Modal open title={`Edit ${cluster.name}`} onClose={onClose}>
      <Loaded query={query} what="the cluster">
        {() => null}
      </Loaded>
    </Modal>
  )
}

function Form({ cluster, onClose }: { cluster: Seen<Cluster>; onClose: () => void }) {
  const queryClient = useQueryClient()
  const router = useRouter()
  const isNameFixed = cluster.mode !== 'connect_existing'
  const form = useForm({
    defaultValues: {
      name: cluster.name,
      labels: Object.entries(cluster.labels).map(([key, value]) => ({ key, value })),
    },
  })
  const { errors } = form.formState
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'labels' })
  return (
    <FormDialog
      title={`Edit ${cluster.name}`}
      form={form}
      verb="Save"
      send={({ name, labels }) =>
        changeCluster(cluster, {
          ...(!isNameFixed && { name }),
          labels: Object.fromEntries(labels.map(({ key, value }) => [key, value])),
        })
      }
      onDone={(changed) => {
        remember(queryClient, changed)
        void router.invalidate()
        showReceipt({
          tone: 'success',
          title: `${changed.name} is saved`,
          description: 'Its HostCluster resource follows.',
        })
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        readOnly={isNameFixed}
        hint={
          isNameFixed
            ? 'KubeOpera created it, and its name is part of the names of its infrastructure.'
            : 'Its folder in Git does not move with the name.'
        }
        error={errors.name?.message}
        {...form.register('name', { validate: rules.clusterName })}
      />
      <fieldset className="min-w-0">
        <legend className="mb-1.5 font-medium text-ui">Labels</legend>
        {fields.length === 0 && <p className="text-fg-3 text-ui">There are none.</p>}
        <ul className="grid gap-2.5">
          {fields.map((field, index) => (
            <li key={field.id} className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto] items-start gap-2">
              <TextField
                label={`Key ${index + 1}`}
                mono
                placeholder="env"
                error={errors.labels?.[index]?.key?.message}
                {...form.register(`labels.${index}.key`, {
                  validate: (key, { labels }) =>
                    labels.filter((label) => label.key === key).length > 1
                      ? 'There is another label with this key.'
                      : rules.labelKey(key),
                })}
              />
              <TextField
                label={`Value ${index + 1}`}
                mono
                placeholder="prod"
                error={errors.labels?.[index]?.value?.message}
                {...form.register(`labels.${index}.value`, { validate: rules.labelValue })}
              />
              <button
                type="button"
                aria-label={`Remove label ${index + 1}`}
                onClick={() => remove(index)}
                className={`${buttonClass('ghost', 'icon')} mt-6.5`}
              >
                <X aria-hidden />
              </button>
            </li>
          ))}
        </ul>
        {errors.labels?.message && (
          <p role="alert" className="mt-2 font-medium text-bad-fg text-xs">
            {errors.labels.message}
          </p>
        )}
        <Button className="mt-3" onClick={() => append({ key: '', value: '' })}>
          <Plus aria-hidden />
          Add a label
        </Button>
      </fieldset>
    </FormDialog>
  )
}
