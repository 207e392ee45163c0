import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { useIdempotencyKey } from '@/api/idempotency'
import type { Catalogue } from '@/api/model'
import { Problem } from '@/api/problem'
import { remember } from '@/clusters/clusters'
import { useShowCard } from '@/clusters/register'
import { isAdministrator, useRole } from '@/clusters/rights'
import { landOnField } from '@/form/refusal'
import { RequestId } from '@/shell/page-states'
import { Button } from '@/ui/button'
import { Command } from '@/ui/command'
import { Loaded } from '@/ui/loaded'
import { Notice } from '@/ui/notice'
import { showReceipt } from '@/ui/toasts'
import { forgetDraft } from '../draft'
import { Equivalent } from '../equivalent'
import { focusStep, Step } from '../step'
import { useDraft } from '../use-draft'
import { catalogueQuery, createCluster, emptyOrder, type Order } from './create'
import { CredentialChoice } from './credential-choice'
import { EstimatePanel } from './estimate-panel'
import { createCommands, createdResource } from './manifest'
import { SizeFields } from './size-fields'
import { TopologyChoice } from './topology-choice'

export default function CreateWay() {
  const administers = isAdministrator(useRole())
  const query = useQuery({ ...catalogueQuery, enabled: administers })
  return (
    <>
      <h2 className="font-semibold text-base">Create New</h2>
      <p className="mt-1 max-w-prose text-fg-2">
        KubeOpera creates a cluster on your cloud account and hands it to Flux. That takes 10 to 40 minutes; its card
        shows how far it is.
      </p>
      <div className="mt-6">
        {administers ? (
          <Loaded query={query} what="what can be created">
            {(catalogue) => <CreateForm catalogue={catalogue} />}
          </Loaded>
        ) : (
          <p className="font-medium text-fg-2">
            To create clusters takes cloud credentials, which only platform administrators can use. Ask one to do it.
          </p>
        )}
      </div>
    </>
  )
}

function CreateForm({ catalogue }: { catalogue: Catalogue }) {
  const queryClient = useQueryClient()
  const showCard = useShowCard()
  const [banner, setBanner] = useState<Problem | null>(null)
  const form = useForm<Order>({ mode: 'onTouched', defaultValues: emptyOrder })
  useDraft('create', form, emptyOrder)
  const order = useWatch({ control: form.control }) as Order
  const keyOf = useIdempotencyKey()
  const creating = useMutation({
    mutationFn: (wanted: Order) => createCluster(wanted, keyOf(wanted)),
    onMutate: () => setBanner(null),
    onSuccess: async ({ cluster }) => {
      forgetDraft('create')
      remember(queryClient, cluster)
      await showCard(cluster.id)
      showReceipt({
        tone: 'success',
        title: `Creating ${cluster.name}`,
        description: 'That takes 10 to 40 minutes. Its card shows each phase as it happens.',
      })
    },
    onError: (error) => {
      if (!landOnField(error, form)) return setBanner(Problem.of(error))
      const { field } = Problem.of(error)
      if (field === 'provider' || field === 'topology') focusStep(1)
      if (field === 'credential_id') focusStep(2)
    },
  })

  /** Another cloud has other regions, sizes and credentials; another topology has other versions. */
  const choose = (provider: string, topology: string) => {
    const cloud = catalogue.providers.find(({ id }) => id === provider)
    const versions = cloud?.topologies.find(({ id }) => id === topology)?.kubernetes_versions ?? []
    if (provider !== order.provider) {
      form.setValue('region', '')
      form.setValue('instance_type', '')
      form.setValue('credential_id', '')
    }
    form.setValue('provider', provider)
    form.setValue('topology', topology)
    if (!versions.some(({ version }) => version === order.kubernetes_version))
      form.setValue(
        'kubernetes_version',
        (versions.find(({ support }) => support === 'standard') ?? versions[0])?.version ?? '',
      )
    form.clearErrors(['provider', 'topology', 'kubernetes_version'])
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (creating.isPending) return
    if (!order.topology) {
      form.setError('topology', { message: 'Choose what to build.' })
      focusStep(1)
    } else if (!order.credential_id) {
      form.setError('credential_id', { message: 'Choose a credential.' })
      focusStep(2)
    } else void form.handleSubmit((wanted) => creating.mutate(wanted))()
  }
  const { errors } = form.formState
  return (
    <form noValidate onSubmit={submit} className="grid grid-cols-1 gap-8 xl:grid-cols-[minmax(0,1fr)_18rem]">
      <div className="grid grid-cols-1 gap-8">
        <Step number={1} title="Choose a provider and topology">
          <TopologyChoice
            catalogue={catalogue}
            provider={order.provider}
            topology={order.topology}
            error={errors.topology?.message ?? errors.provider?.message}
            onChoose={choose}
          />
        </Step>
        <Step number={2} title="Choose a cloud credential">
          <CredentialChoice
            provider={order.provider}
            chosen={order.credential_id}
            error={errors.credential_id?.message}
            onChoose={(id) => {
              form.setValue('credential_id', id)
              form.clearErrors('credential_id')
            }}
          />
        </Step>
        <Step number={3} title="Size the cluster">
          <SizeFields form={form} order={order} catalogue={catalogue} />
        </Step>
      </div>
      <EstimatePanel order={order} catalogue={catalogue} />
      <div className="border-line border-t pt-6 xl:col-span-2">
        {banner && (
          <Notice tone="bad" role="alert" title="The cluster is not being created" className="mb-4">
            {banner.message}
            <RequestId of={banner} />
          </Notice>
        )}
        <Button type="submit" look="primary" size="large" className="max-sm:w-full" busy={creating.isPending}>
          Create cluster
        </Button>
        <Equivalent title="The same from a terminal">
          {(place, id) => (
            <>
              <p>This sends what the form sends, and asks for a personal access token of a platform administrator.</p>
              <Command copyLabel="Copy the commands that create this cluster">
                {createCommands(order, location.origin)}
              </Command>
              <p>
                KubeOpera then writes this HostCluster. Applied with kubectl, one like it ends in Failed with
                CredentialNotPermitted: only KubeOpera gives a cluster the right to use a cloud credential, after it has
                looked at who asks.
              </p>
              <Command copyLabel="Copy the HostCluster resource">{createdResource(order, place, id)}</Command>
            </>
          )}
        </Equivalent>
      </div>
    </form>
  )
}
