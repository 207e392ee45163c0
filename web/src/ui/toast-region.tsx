import { Toast } from '@base-ui/react/toast'
import clsx from 'clsx'
import { CircleCheck, CircleX, Info, X } from 'lucide-react'
import { useEffect } from 'react'
import { showOn, type ToastTone } from './toasts'

const manager = Toast.createToastManager()

const icon = { success: CircleCheck, info: Info, error: CircleX }
const tint = { success: 'text-ok-fg', info: 'text-accent-text', error: 'text-bad-fg' }

/** Where toasts appear. */
export default function ToastRegion() {
  useEffect(
    () =>
      showOn(({ tone, title, description, action, stays }) => {
        const actionProps = action && { children: action.label, onClick: action.run }
        manager.add({ type: tone, title, description, actionProps, timeout: stays ? 0 : 10_000, priority: 'low' })
      }),
    [],
  )
  return (
    <Toast.Provider toastManager={manager} limit={3}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-[calc(100vw-2rem)] flex-col gap-3 outline-none sm:right-6 sm:bottom-6 sm:w-96">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => {
    const tone = (toast.type ?? 'info') as ToastTone
    const Icon = icon[tone]
    return (
      <Toast.Root
        key={toast.id}
        toast={toast}
        className="rounded-xl border border-line bg-raised shadow-pop transition-opacity duration-200 data-limited:hidden data-ending-style:opacity-0 data-starting-style:opacity-0"
      >
        <Toast.Content className="flex items-start gap-3 p-4">
          <Icon aria-hidden className={clsx('mt-0.5 size-4 shrink-0', tint[tone])} />
          <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            <Toast.Title className="font-semibold" />
            <Toast.Description className="mt-0.5 text-fg-2 text-ui" />
            <Toast.Action className="mt-2 font-medium text-accent-text text-ui underline-offset-4 hover:underline" />
          </div>
          <Toast.Close
            aria-label="Dismiss"
            className="-m-1.5 grid size-8 shrink-0 place-items-center rounded-lg text-fg-3 hover:bg-hover hover:text-fg"
          >
            <X aria-hidden className="size-4" />
          </Toast.Close>
        </Toast.Content>
      </Toast.Root>
    )
  })
}
