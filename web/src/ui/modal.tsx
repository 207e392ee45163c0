import type { Dialog } from '@base-ui/react/dialog'
import { type ComponentProps, lazy, type ReactNode, Suspense } from 'react'

export interface ModalProps {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
  /** The buttons, the one that does it last. */
  footer?: ReactNode
  /** Asks for a decision: a click beside it does not close it. */
  alert?: boolean
  initialFocus?: ComponentProps<typeof Dialog.Popup>['initialFocus']
}

const ModalWindow = lazy(() => import('./modal-window'))

/** A dialog in front of the page, loaded when there is one to show. */
export function Modal(props: ModalProps) {
  return (
    <Suspense>
      <ModalWindow {...props} />
    </Suspense>
  )
}
