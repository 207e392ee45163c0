import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog } from '@base-ui/react/dialog'
import clsx from 'clsx'
import { X } from 'lucide-react'
import { buttonClass } from './button'
import type { ModalProps } from './modal'

/** A dialog in front of the page. On a phone it sits at the bottom, where the thumb is. */
export default function ModalWindow({
  open,
  onClose,
  title,
  children,
  footer,
  alert = false,
  initialFocus,
}: ModalProps) {
  const Parts = alert ? AlertDialog : Dialog
  return (
    <Parts.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Parts.Portal>
        <Parts.Backdrop className="fixed inset-0 z-40 bg-black/45 transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Parts.Popup
          initialFocus={initialFocus}
          className={clsx(
            'fixed z-50 flex max-h-[calc(100dvh-2rem)] flex-col border border-line bg-raised shadow-pop outline-none',
            'transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0',
            'inset-x-0 bottom-0 rounded-t-2xl sm:inset-x-auto sm:top-1/2 sm:bottom-auto sm:left-1/2 sm:w-[34rem] sm:max-w-[calc(100vw-2rem)]',
            'sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-2xl',
          )}
        >
          <div className="flex items-start gap-3 px-5 pt-5 sm:px-6">
            <Parts.Title className="min-w-0 flex-1 font-semibold text-base leading-6 [overflow-wrap:anywhere]">
              {title}
            </Parts.Title>
            {!alert && (
              <Parts.Close aria-label="Close" className={clsx(buttonClass('ghost', 'icon'), '-mt-1.5 -mr-2')}>
                <X aria-hidden />
              </Parts.Close>
            )}
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pt-2 pb-5 sm:px-6">{children}</div>
          {footer && (
            <div className="flex flex-wrap justify-end gap-2 border-line border-t px-5 py-4 max-sm:flex-col-reverse sm:px-6">
              {footer}
            </div>
          )}
        </Parts.Popup>
      </Parts.Portal>
    </Parts.Root>
  )
}
