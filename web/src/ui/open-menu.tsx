import { Menu } from '@base-ui/react/menu'
import clsx from 'clsx'
import type { ComponentProps, ReactNode } from 'react'
import { popupClass } from './menu'
import type { Opened } from './on-demand'

interface OpenMenuProps extends Opened, Pick<ComponentProps<typeof Menu.Positioner>, 'collisionPadding'> {
  /** How wide it is. */
  className: string
  children: ReactNode
}

/** A menu that is open from the beginning, below the button it is opened from. It is loaded with its items, on demand. */
export function OpenMenu({ trigger, collisionPadding, className, children }: OpenMenuProps) {
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={trigger} />
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={6} collisionPadding={collisionPadding} className="z-40">
          <Menu.Popup className={clsx(popupClass, className)}>{children}</Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
