import { Menu } from '@base-ui/react/menu'
import { Check } from 'lucide-react'
import { chooseTheme, type Theme, useTheme } from '@/theme'
import { menuItemClass } from '@/ui/menu'
import type { Opened } from '@/ui/on-demand'
import { OpenMenu } from '@/ui/open-menu'
import { themes } from './themes'

/** The themes, as a menu that is open. */
export default function ThemeChoice({ trigger }: Opened) {
  const theme = useTheme()
  return (
    <OpenMenu trigger={trigger} className="min-w-40">
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
    </OpenMenu>
  )
}
