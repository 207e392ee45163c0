import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { useIdempotencyKey } from '@/api/idempotency'
import type { ContextVerdict, KubeconfigCheck } from '@/api/model'
import { Problem } from '@/api/problem'
import { remember } from '@/clusters/clusters'
import { useShowCard } from '@/clusters/register'
import { mayManage, useRole } from '@/clusters/rights'
import { landOnField } from '@/form/refusal'
import { ContextChoice } from '@/kubeconfig/context-choice'
import type { Supplied } from '@/kubeconfig/kubeconfig'
import { KubeconfigInput } from '@/kubeconfig/kubeconfig-input'
import { useKubeconfig } from '@/kubeconfig/use-kubeconfig'
import { RequestId } from '@/shell/page-states'
import { Button } from '@/ui/button'
import { Command } from '@/ui/command'
import { Notice } from '@/ui/notice'
import { Sentences } from '@/ui/sentences'
import { showReceipt } from '@/ui/toasts'
import { forgetDraft } from '../draft'
import { Equivalent } from '../equivalent'
import { focusStep, Step } from '../step'
import { useDraft } from '../use-draft'
import { connectCluster, type Details, emptyDetails } from './connect'
import { DetailsFields } from './details-fields'
import { connectCommands } from './manifest'

export default function ConnectWay() {
  const manages = mayManage(useRole())
  return (
    <>
      <h2 className="font-semibold text-base">Connect Existing</h2>
      <p className="mt-1 max-w-prose text-fg-2">
        Adds a cluster that KubeOpera did not create, from any provider, with a kubeconfig for it. Everything that runs
        on it keeps running.
      </p>
      {!manages ? (
        <p className="mt-4 font-medium text-fg-2">
          Your role lets you look at clusters, not connect them. Ask a platform administrator to do it.
        </p>
      ) : (
        <ConnectForm />
      )}
    </>
  )
}

function ConnectForm() {
  const queryClient = useQueryClient()
  const showCard = useShowCard()
  const [banner, setBanner] = useState<Problem | null>(null)
  const form = useForm<Details>({ mode: 'onTouched', defaultValues: emptyDetails })
  const details = useWatch({ control: form.control }) as Details
  const keyOf = useIdempotencyKey()
  useDraft('connect', form, emptyDetails)

  /** Fills in what is still empty; what somebody typed stays. */
  const prefill = ({ name, cluster }: ContextVerdict) => {
    const known = { name: nameFrom(name), provider: cluster?.provider ?? '', region: cluster?.region ?? '' }
    for (const field of ['name', 'provider', 'region'] as const) {
      const isOpen = form.getValues(field) === '' || !form.getFieldState(field).isDirty
      if (isOpen && known[field] && known[field] !== 'unknown') form.setValue(field, known[field])
    }
  }
  const kubeconfig = useKubeconfig({
    onChoose: (verdict) => {
      setBanner(null)
      prefill(verdict)
    },
  })
  const { supplied, check, context, chosen } = kubeconfig

  const connecting = useMutation({
    mutationFn: (request: { file: Supplied; context: string; details: Details }) =>
      connectCluster(request.file, request.context, request.details, keyOf(request)),
    onSuccess: async ({ cluster }) => {
      forgetDraft('connect')
      remember(queryClient, cluster)
      await showCard(cluster.id)
      showReceipt({
        tone: 'success',
        title: `Connecting ${cluster.name}`,
        description: 'KubeOpera is setting it up. Its card shows each phase as it happens.',
      })
    },
    onMutate: () => setBanner(null),
    onError: (error) => {
      const problem = Problem.of(error)
      if (problem.field?.startsWith('kubeconfig')) {
        kubeconfig.refuse({ kubeconfig: problem.message })
        focusStep(1)
      } else if (problem.field === 'context') {
        kubeconfig.refuse({ context: problem.message })
        focusStep(2)
      } else if (!landOnField(error, form)) setBanner(problem)
    },
  })

  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (connecting.isPending) return
    if (!supplied || !check) {
      kubeconfig.refuse({
        kubeconfig: kubeconfig.refused.kubeconfig ?? 'Supply a kubeconfig and have it checked first.',
      })
      kubeconfig.area.current?.focus()
      return
    }
    if (!context) {
      kubeconfig.refuse({ context: 'Choose a context that can be used.' })
      focusStep(2)
      return
    }
    void form.handleSubmit((details) => connecting.mutate({ file: supplied, context, details }))()
  }

  return (
    <form noValidate onSubmit={submit} className="mt-6 grid grid-cols-1 gap-8">
      <Step number={1} title="Supply a kubeconfig">
        <KubeconfigInput on={kubeconfig} />
      </Step>
      <Step number={2} title="Choose its context">
        <ContextChoice on={kubeconfig} />
      </Step>
      <Step number={3} title="Describe the cluster">
        <DetailsFields form={form} found={chosen?.cluster?.provider} />
      </Step>
      <div className="border-line border-t pt-6">
        {banner && (
          <Notice tone="bad" role="alert" title="The cluster was not connected" className="mb-4">
            <Sentences>{banner.message}</Sentences>
            <RequestId of={banner} />
          </Notice>
        )}
        <Button type="submit" look="primary" size="large" className="max-sm:w-full" busy={connecting.isPending}>
          Connect
        </Button>
        <Equivalent title="The same as a HostCluster resource">
          {(place, id) => (
            <>
              <p>
                With access to the cluster KubeOpera runs on, this does what the form does. Put the kubeconfig into a
                file first.
              </p>
              <Command copyLabel="Copy the commands that connect this cluster">
                {connectCommands({ id, details, context: contextToName(check, context), place })}
              </Command>
            </>
          )}
        </Equivalent>
      </div>
    </form>
  )
}

/** The context to write down: the file's current one is used anyway. */
function contextToName(check: KubeconfigCheck | null, context: string | null): string | null {
  return context !== null && check?.preferred !== context ? context : null
}

/** A cluster name from a context's: "gke_acme_europe-north1_prod" has a usable part at its end. */
function nameFrom(context: string): string {
  const last = context.toLowerCase().split(/[/@_]/).findLast(Boolean) ?? ''
  return last
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '')
}
