import { Dialog } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { useState } from 'react'
import { buttonClass } from '@/ui/button'
import type { Opened } from '@/ui/on-demand'
import { Brand, Navigation } from './navigation'

/** The sidebar of a narrow screen, open. */
export default function DrawerPanel({ trigger }: Opened) {
  const [open, setOpen] = useState(true)
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger render={trigger} />
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/45 transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Dialog.Popup className="fixed inset-y-0 left-0 z-50 flex w-72 max-w-[85vw] flex-col border-line border-r bg-surface outline-none transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0">
          <Dialog.Title className="sr-only">Menu</Dialog.Title>
          <div className="flex items-center justify-between pr-3">
            <Brand />
            <Dialog.Close aria-label="Close menu" className={buttonClass('ghost', 'icon')}>
              <X aria-hidden />
            </Dialog.Close>
          </div>
          <Navigation onLeave={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
