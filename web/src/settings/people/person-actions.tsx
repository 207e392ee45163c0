import { Menu } from '@base-ui/react/menu'
import { Ban, KeyRound, UserCheck } from 'lucide-react'
import { menuItemClass } from '@/ui/menu'
import type { Opened } from '@/ui/on-demand'
import { OpenMenu } from '@/ui/open-menu'

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
    <OpenMenu trigger={trigger} className="w-60">
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
    </OpenMenu>
  )
}
