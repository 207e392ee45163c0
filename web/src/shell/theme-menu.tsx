import { Menu } from '@base-ui/react/menu'
import clsx from 'clsx'
import { Check, Monitor, Moon, Sun } from 'lucide-react'
import { chooseTheme, type Theme, useTheme } from '@/theme'
import { buttonClass } from '@/ui/button'
import { menuItemClass, popupClass } from '@/ui/menu'

const themes = [
  { value: 'system', label: 'System', icon: Monitor },
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
] as const

export function ThemeMenu() {
  const theme = useTheme()
  const Icon = themes.find(({ value }) => value === theme)?.icon ?? Monitor
  return (
    <Menu.Root>
      <Menu.Trigger aria-label={`Theme: ${theme}`} className={buttonClass('ghost', 'icon')}>
        <Icon aria-hidden />
      </Menu.Trigger>
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
