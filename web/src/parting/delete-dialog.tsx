import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type SubmitEvent, useId, useRef, useState } from 'react'
import type { Cluster } from '@/api/model'
import { Problem } from '@/api/problem'
import { remember } from '@/clusters/clusters'
import { useShowCard } from '@/clusters/register'
import { TextField } from '@/form/field'
import { dollarsAndCents } from '@/format/numbers'
import { providerName } from '@/format/provider'
import { useProvisioning } from '@/provisioning/provisioning'
import { RequestId } from '@/shell/page-states'
import { Button } from '@/ui/button'
import { Modal } from '@/ui/modal'
import { Notice } from '@/ui/notice'
import { showReceipt } from '@/ui/toasts'
import { deleteCluster } from './parting'

/** Deletes a provisioned cluster with its infrastructure, after its name was typed. */
export default function DeleteDialog({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { id, name, nodes, provider, region } = cluster
  const queryClient = useQueryClient()
  const showCard = useShowCard()
  const { data: ledger } = useProvisioning(id)
  const form = useId()
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const [refused, setRefused] = useState<string>()
  const deletion = useMutation({
    mutationFn: () => deleteCluster(id, typed),
    onSuccess: async (leaving) => {
      remember(queryClient, leaving)
      onClose()
      await showCard(id)
      showReceipt({
        tone: 'info',
        title: `Deleting ${name}`,
        description: 'Its page lists what is gone and what is left. Its card goes when nothing is left.',
      })
    },
    onError: (error) => {
      const { field, message } = Problem.of(error)
      if (field === 'name') setRefused(message)
    },
  })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (deletion.isPending) return
    if (typed === name) return deletion.mutate()
    setRefused('This is not the name of the cluster. Type it exactly as it is.')
    input.current?.focus()
  }
  const problem = deletion.error && Problem.of(deletion.error)
  return (
    <Modal
      open
      alert
      onClose={onClose}
      title={`Delete ${name}?`}
      initialFocus={input}
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button type="submit" form={form} look="danger" busy={deletion.isPending}>
            Delete cluster
          </Button>
        </>
      }
    >
      <p className="text-fg-2">
        This destroys the cluster and everything in the cloud that KubeOpera built for it. It cannot be undone.
      </p>
      <ul className="mt-3 list-disc pl-5 text-fg-2 text-ui marker:text-fg-3">
        <li>
          {nodes
            ? `${nodes.total.toLocaleString()} ${nodes.total === 1 ? 'node' : 'nodes'} and what runs on them`
            : 'Its nodes and what runs on them'}
        </li>
        <li>
          The network and load balancers in {providerName(provider)} {region}
        </li>
        <li>The data on its volumes, unless you have a copy elsewhere</li>
        {ledger && ledger.left > 0 && (
          <li>
            {ledger.left.toLocaleString()} resources in the cloud in all, {dollarsAndCents(ledger.left_monthly)} a month
            at list prices
            {ledger.left_not_priced > 0 && `, ${ledger.left_not_priced.toLocaleString()} of them without a known price`}
          </li>
        )}
      </ul>
      {problem && problem.field !== 'name' && (
        <Notice tone="bad" role="alert" className="mt-4" title="It is not being deleted">
          {problem.message}
          <RequestId of={problem} />
        </Notice>
      )}
      <form id={form} noValidate onSubmit={submit} className="mt-5">
        <p className="mb-3 text-ui">
          To confirm, type <strong className="select-all rounded bg-sunken px-1.5 py-0.5 font-mono">{name}</strong>
        </p>
        <TextField
          ref={input}
          label="Name of the cluster"
          mono
          value={typed}
          error={refused}
          onChange={(event) => {
            setTyped(event.target.value)
            setRefused(undefined)
          }}
        />
      </form>
    </Modal>
  )
}
