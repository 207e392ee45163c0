import { Menu } from '@base-ui/react/menu'
import clsx from 'clsx'
import { Ban, KeyRound, UserCheck } from 'lucide-react'
import { menuItemClass, popupClass } from '@/ui/menu'
import type { Opened } from '@/ui/on-demand'

interface PersonActionsProps extends Opened {
  isDisabled: boolean
  /** Not for those whose password KubeOpera does not keep, nor for oneself. */
  onReset: (() => void) | undefined
  onDisable: () => void
  onLetIn: () => void
}

/** What can be done about a person, as a menu that is open. */
export default function PersonActions({ isDisabled, onReset, onDisable, onLetIn, trigger }: PersonActionsProps) {
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={trigger} />
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={6} className="z-40">
          <Menu.Popup className={clsx(popupClass, 'w-60')}>
            {onReset && (
              <Menu.Item onClick={onReset} className={menuItemClass}>
                <KeyRound aria-hidden />
                Give another password…
              </Menu.Item>
            )}
            {isDisabled ? (
              <Menu.Item onClick={onLetIn} className={menuItemClass}>
                <UserCheck aria-hidden />
                Let in again
              </Menu.Item>
            ) : (
              <Menu.Item onClick={onDisable} className={menuItemClass}>
                <Ban aria-hidden />
                Disable…
              </Menu.Item>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
