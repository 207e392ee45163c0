import { Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'

const load = () => import('./palette')
const Palette = lazy(load)

/** Long enough for the page to be there first, and short enough that nobody has pressed the keys before. */
const LOAD_AFTER_MS = 2_000

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** Opens the palette, as Ctrl K does (⌘ K on a Mac) from anywhere. */
export function PaletteButton() {
  const [open, setOpen] = useState(false)
  // What is typed right after Ctrl K would be lost while the palette is still on its way.
  useEffect(() => {
    const loading = setTimeout(() => void load().catch(() => {}), LOAD_AFTER_MS)
    return () => clearTimeout(loading)
  }, [])
  useEffect(() => {
    const toggle = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(isMac ? event.metaKey : event.ctrlKey) || event.shiftKey || event.altKey)
        return
      event.preventDefault()
      setOpen((known) => !known)
    }
    addEventListener('keydown', toggle)
    return () => removeEventListener('keydown', toggle)
  }, [])
  return (
    <>
      <button
        type="button"
        aria-label="Search or jump to"
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        onClick={() => setOpen(true)}
        className="flex h-9 items-center gap-2 rounded-lg border border-line-strong bg-surface px-3 text-fg-3 text-ui hover:bg-hover max-md:size-9 max-md:justify-center max-md:border-0 max-md:bg-transparent max-md:px-0 max-sm:size-11 md:w-64"
      >
        <Search aria-hidden className="size-4 shrink-0" />
        <span className="flex-1 text-left max-md:hidden">Search or jump to…</span>
        <kbd className="rounded border border-line-strong px-1.5 py-px text-2xs max-md:hidden">
          {isMac ? '⌘ K' : 'Ctrl K'}
        </kbd>
      </button>
      {open && (
        <Suspense>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
