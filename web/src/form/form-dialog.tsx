import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useId, useRef } from 'react'
import type { FieldValues, UseFormReturn } from 'react-hook-form'
import { Problem } from '@/api/problem'
import { Button } from '@/ui/button'
import { Modal } from '@/ui/modal'
import { Notice } from '@/ui/notice'
import { landOnField } from './refusal'

const field = 'input:not([hidden]), select, textarea'

interface FormDialogProps<T extends FieldValues, R> {
  title: string
  form: UseFormReturn<T>
  /** The verb on the button that sends it. */
  verb: string
  send: (values: T) => Promise<R>
  onDone: (result: R) => void
  onClose: () => void
  children: ReactNode
}

/** A form in a dialog: sends it, puts refusals where they belong, closes when it is done. */
export function FormDialog<T extends FieldValues, R>(props: FormDialogProps<T, R>) {
  const { title, form, verb, send, onDone, onClose, children } = props
  const id = useId()
  const fields = useRef<HTMLFormElement>(null)
  const sending = useMutation({
    mutationFn: send,
    onSuccess: (result) => {
      onClose()
      onDone(result)
    },
    onError: (error) => void landOnField(error, form),
  })
  const { errors } = form.formState
  const problem = sending.error && Problem.of(sending.error)
  const isAtField = Object.values(errors).some((error) => error?.type === 'server')
  return (
    <Modal
      open
      title={title}
      onClose={onClose}
      // Where one types first; under a finger that would bring up a keyboard over the dialog.
      initialFocus={(way) => way === 'touch' || (fields.current?.querySelector<HTMLElement>(field) ?? true)}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} look="primary" busy={sending.isPending}>
            {verb}
          </Button>
        </>
      }
    >
      <form
        ref={fields}
        id={id}
        noValidate
        className="grid grid-cols-1 gap-4 pt-2"
        onSubmit={form.handleSubmit((values) => {
          if (!sending.isPending) sending.mutate(values)
        })}
      >
        {problem && !isAtField && (
          <Notice tone="bad" role="alert">
            {problem.message}
          </Notice>
        )}
        {children}
      </form>
    </Modal>
  )
}
