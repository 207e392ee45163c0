import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import type { Catalogue, InstanceType } from '@/api/model'
import { Problem } from '@/api/problem'
import { SelectField, TextField } from '@/form/field'
import * as rules from '@/form/rules'
import { bytes } from '@/format/bytes'
import { grouped } from '@/format/numbers'
import { EnvironmentFields } from '../environment-fields'
import { chosenOf, instanceTypesQuery, type Order, VANILLA } from './create'

interface SizeFieldsProps {
  form: UseFormReturn<Order>
  order: Order
  catalogue: Catalogue
}

/** What the cluster is called, where it is, and what it is made of. Lists that come later are told their value. */
export function SizeFields({ form, order, catalogue }: SizeFieldsProps) {
  const {
    register,
    formState: { errors },
  } = form
  const { cloud, topology } = chosenOf(catalogue, order)
  return (
    <div className="grid gap-x-5 gap-y-5 sm:grid-cols-2">
      <TextField
        label="Name"
        className="sm:col-span-2"
        hint="Names the cluster here, in Git and in the cloud. It cannot be changed later."
        error={errors.name?.message}
        {...register('name', { validate: rules.clusterName })}
      />
      <SelectField
        label="Region"
        error={errors.region?.message}
        {...register('region', { required: 'Choose a region.' })}
        value={order.region}
      >
        <option value="">Choose</option>
        {cloud?.regions.map(({ id, name }) => (
          <option key={id} value={id}>
            {name} ({id})
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Kubernetes version"
        error={errors.kubernetes_version?.message}
        {...register('kubernetes_version', { required: 'Choose a version.' })}
        value={order.kubernetes_version}
      >
        <option value="">Choose</option>
        {topology?.kubernetes_versions.map(({ version, support }) => (
          <option key={version} value={version}>
            {version}
            {support === 'extended' && ' (extended support)'}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Nodes"
        type="number"
        inputMode="numeric"
        min={1}
        max={topology?.max_nodes}
        hint={topology && `1 to ${grouped(topology.max_nodes)} worker nodes.`}
        error={errors.node_count?.message}
        {...register('node_count', {
          validate: (text) => {
            const most = topology?.max_nodes ?? Number.POSITIVE_INFINITY
            const count = Number(text)
            if (!/^\d+$/.test(text) || count < 1) return 'Enter a whole number of at least 1.'
            return count <= most || `At most ${grouped(most)} nodes can be created.`
          },
        })}
      />
      <InstanceTypeField form={form} order={order} />
      {order.topology === VANILLA && topology && (
        <SelectField
          label="Control-plane nodes"
          className="sm:col-span-2"
          hint="An odd number, because etcd needs a majority. With more than one, a load balancer is in front of them."
          error={errors.control_plane_count?.message}
          {...register('control_plane_count')}
          value={order.control_plane_count}
        >
          {topology.control_plane_counts.map((count) => (
            <option key={count} value={count}>
              {count}
            </option>
          ))}
        </SelectField>
      )}
      <EnvironmentFields form={form} />
    </div>
  )
}

/** What a cluster begins with unless somebody wants something else. */
const isUsual = ({ cpus, memory_mib, gpus }: InstanceType) => cpus >= 2 && memory_mib >= 4_096 && gpus === 0

function InstanceTypeField({ form, order }: Omit<SizeFieldsProps, 'catalogue'>) {
  const { provider, region, instance_type } = order
  const query = useQuery(instanceTypesQuery(provider, region))
  const types = query.data
  const { setValue } = form
  useEffect(() => {
    if (!types || types.some(({ name }) => name === instance_type)) return
    setValue('instance_type', (types.find(isUsual) ?? types[0])?.name ?? '')
  }, [types, instance_type, setValue])
  const families = types && Map.groupBy(types, ({ family }) => family)
  return (
    <SelectField
      label="Size of each node"
      error={
        form.formState.errors.instance_type?.message ?? (query.error ? Problem.of(query.error).message : undefined)
      }
      hint={region ? (query.isPending ? 'Reading what there is in this region.' : undefined) : 'Choose a region first.'}
      {...form.register('instance_type', { required: 'Choose a size.' })}
      value={instance_type}
    >
      <option value="">Choose</option>
      {families &&
        [...families].map(([family, members]) => (
          <optgroup key={family} label={family}>
            {members.map((type) => (
              <option key={type.name} value={type.name}>
                {type.name}: {described(type)}
              </option>
            ))}
          </optgroup>
        ))}
    </SelectField>
  )
}

function described({ cpus, memory_mib, architecture, gpus, gpu }: InstanceType): string {
  const parts = [`${grouped(cpus)} CPUs`, bytes(memory_mib * 1_024 ** 2)]
  if (architecture !== 'amd64') parts.push(architecture)
  if (gpus > 0) parts.push(`${gpus} × ${gpu ?? 'GPU'}`)
  return parts.join(', ')
}
