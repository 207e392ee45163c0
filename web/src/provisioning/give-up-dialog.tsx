import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type SubmitEvent, useId, useRef, useState } from 'react'
import type { Cluster } from '@/api/model'
import { Problem } from '@/api/problem'
import { remember } from '@/clusters/clusters'
import { TextField } from '@/form/field'
import { RequestId } from '@/shell/page-states'
import { Button } from '@/ui/button'
import { Modal } from '@/ui/modal'
import { Notice } from '@/ui/notice'
import { giveUp } from './provisioning'

interface GiveUpDialogProps {
  cluster: Cluster
  /** How much is known to be left in the cloud. */
  left: number | undefined
  onClose: () => void
}

/** Lets go of a cluster whose infrastructure cannot be deleted, after its name was typed. */
export default function GiveUpDialog({ cluster: { id, name }, left, onClose }: GiveUpDialogProps) {
  const queryClient = useQueryClient()
  const form = useId()
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const [refused, setRefused] = useState<string>()
  const giving = useMutation({
    mutationFn: () => giveUp(id, typed),
    onSuccess: (leaving) => {
      remember(queryClient, leaving)
      onClose()
    },
    onError: (error) => {
      const { field, message } = Problem.of(error)
      if (field === 'name') setRefused(message)
    },
  })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (giving.isPending) return
    if (typed === name) return giving.mutate()
    setRefused('This is not the name of the cluster. Type it exactly as it is.')
    input.current?.focus()
  }
  const problem = giving.error && Problem.of(giving.error)
  return (
    <Modal
      open
      alert
      onClose={onClose}
      title={`Give the infrastructure of ${name} up?`}
      initialFocus={input}
      footer={
        <>
          <Button onClick={onClose}>Keep trying</Button>
          <Button type="submit" form={form} look="danger" busy={giving.isPending}>
            Give it up
          </Button>
        </>
      }
    >
      <p className="text-fg-2">
        KubeOpera forgets the cluster and deletes nothing more.{' '}
        {left === undefined
          ? 'It does not know what is left in the cloud.'
          : `${left.toLocaleString()} of its resources are left in the cloud as far as it knows.`}{' '}
        What is left costs what it costs until you delete it there; everything has the tag{' '}
        <code className="select-all font-mono [overflow-wrap:anywhere]">kubeopera.io/cluster-id={id}</code>.
      </p>
      {problem && problem.field !== 'name' && (
        <Notice tone="bad" role="alert" className="mt-4" title="It was not given up">
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
