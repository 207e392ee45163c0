import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'theme'
const systemDark = matchMedia('(prefers-color-scheme: dark)')
const watchers = new Set<() => void>()

let chosen = stored()

function stored(): Theme {
  try {
    const theme = localStorage.getItem(KEY)
    return theme === 'light' || theme === 'dark' ? theme : 'system'
  } catch {
    return 'system'
  }
}

export function chooseTheme(theme: Theme) {
  chosen = theme
  try {
    if (theme === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // A browser that stores nothing keeps the choice until the page closes.
  }
  paint()
  for (const watcher of watchers) watcher()
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    () => chosen,
  )
}

function paint() {
  const dark = chosen === 'dark' || (chosen === 'system' && systemDark.matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
}

systemDark.addEventListener('change', paint)
