// Runs before the first paint, as a file of its own because the page allows no inline script. src/theme.ts owns the setting.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem('theme')
  } catch {}
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
})()
