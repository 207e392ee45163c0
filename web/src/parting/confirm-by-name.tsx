import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, type SubmitEvent, useId, useRef, useState } from 'react'
import type { Cluster } from '@/api/model'
import { Problem } from '@/api/problem'
import { remember } from '@/clusters/clusters'
import { TextField } from '@/form/field'
import { RequestId } from '@/shell/page-states'
import { Button } from '@/ui/button'
import { Modal } from '@/ui/modal'
import { Notice } from '@/ui/notice'

interface ConfirmByNameProps {
  /** What has to be typed. The server compares it once more. */
  name: string
  title: string
  /** Words of the two buttons, and what to say if it was refused. */
  keep: string
  act: string
  failed: string
  run: (typed: string) => Promise<Cluster>
  onDone?: () => Promise<void>
  onClose: () => void
  children: ReactNode
}

/** Asks for the cluster's name before something is done to it that cannot be undone. */
export function ConfirmByName({ name, title, keep, act, failed, run, onDone, onClose, children }: ConfirmByNameProps) {
  const queryClient = useQueryClient()
  const form = useId()
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const [refused, setRefused] = useState<string>()
  const running = useMutation({
    mutationFn: () => run(typed),
    onSuccess: async (leaving) => {
      remember(queryClient, leaving)
      onClose()
      await onDone?.()
    },
    onError: (error) => {
      const { field, message } = Problem.of(error)
      if (field === 'name') setRefused(message)
    },
  })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (running.isPending) return
    if (typed === name) return running.mutate()
    setRefused('This is not the name of the cluster. Type it exactly as it is.')
    input.current?.focus()
  }
  const problem = running.error && Problem.of(running.error)
  return (
    <Modal
      open
      alert
      onClose={onClose}
      title={title}
      initialFocus={input}
      footer={
        <>
          <Button onClick={onClose}>{keep}</Button>
          <Button type="submit" form={form} look="danger" busy={running.isPending}>
            {act}
          </Button>
        </>
      }
    >
      {children}
      {problem && problem.field !== 'name' && (
        <Notice tone="bad" role="alert" className="mt-4" title={failed}>
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
