import { Menu } from '@base-ui/react/menu'
import clsx from 'clsx'
import { Check } from 'lucide-react'
import { chooseTheme, type Theme, useTheme } from '@/theme'
import { menuItemClass, popupClass } from '@/ui/menu'
import type { Opened } from '@/ui/on-demand'
import { themes } from './themes'

/** The themes, as a menu that is open. */
export default function ThemeChoice({ trigger }: Opened) {
  const theme = useTheme()
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger render={trigger} />
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={6} className="z-40">
          <Menu.Popup className={clsx(popupClass, 'min-w-40')}>
            <Menu.RadioGroup value={theme} onValueChange={(value: Theme) => chooseTheme(value)}>
              {themes.map(({ value, label, icon: ItemIcon }) => (
                <Menu.RadioItem key={value} value={value} closeOnClick className={menuItemClass}>
                  <ItemIcon aria-hidden />
                  <span className="flex-1">{label}</span>
                  <Menu.RadioItemIndicator>
                    <Check aria-hidden />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
