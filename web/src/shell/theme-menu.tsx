import { Monitor } from 'lucide-react'
import { useTheme } from '@/theme'
import { buttonClass } from '@/ui/button'
import { OnDemand, popup } from '@/ui/on-demand'
import { themes } from './themes'

const themeChoice = popup('menu', () => import('./theme-choice'))

export function ThemeMenu() {
  const theme = useTheme()
  const Icon = themes.find(({ value }) => value === theme)?.icon ?? Monitor
  return (
    <OnDemand popup={themeChoice} with={{}}>
      <button type="button" aria-label={`Theme: ${theme}`} className={buttonClass('ghost', 'icon')}>
        <Icon aria-hidden />
      </button>
    </OnDemand>
  )
}
