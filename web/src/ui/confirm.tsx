import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem } from '@/api/problem'
import { Button } from './button'
import { Modal } from './modal'
import { Notice } from './notice'

interface ConfirmProps {
  title: string
  /** What happens, and what does not come back. */
  children: ReactNode
  /** The verb on the button that does it. */
  verb: string
  act: () => Promise<unknown>
  onDone: () => void
  onClose: () => void
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, children, verb, act, onDone, onClose }: ConfirmProps) {
  const action = useMutation({
    mutationFn: act,
    onSuccess: () => {
      onDone()
      onClose()
    },
  })
  return (
    <Modal
      open
      alert
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" busy={action.isPending} onClick={() => action.mutate()}>
            {verb}
          </Button>
        </>
      }
    >
      <div className="text-fg-2">{children}</div>
      {action.error && (
        <Notice tone="bad" role="alert" className="mt-4">
          {Problem.of(action.error).message}
        </Notice>
      )}
    </Modal>
  )
}
