import { Dialog } from '@base-ui/react/dialog'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import clsx from 'clsx'
import { CornerDownLeft, Search } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { fleetQuery } from '@/clusters/clusters'
import { useRole } from '@/clusters/rights'
import { type Entry, entriesFor } from './entries'

/** Every page, action and cluster by a few letters of its name. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const { queryClient } = useRouteContext({ from: '__root__' })
  const navigate = useNavigate()
  const role = useRole()
  const [words, setWords] = useState('')
  const [active, setActive] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const entries = entriesFor(words, role, queryClient.getQueryData(fleetQuery.queryKey)?.items ?? [])
  const chosen = Math.min(active, entries.length - 1)
  useEffect(() => {
    list.current?.querySelector(`#palette-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen])

  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    if (typeof entry.go === 'function') entry.go()
    else void navigate(entry.go)
  }
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step && entries.length > 0) setActive((chosen + step + entries.length) % entries.length)
    else if (event.key === 'Home' && event.ctrlKey) setActive(0)
    else if (event.key === 'End' && event.ctrlKey) setActive(entries.length - 1)
    else if (event.key === 'Enter') run(entries[chosen])
    else return
    event.preventDefault()
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Dialog.Popup className="fixed inset-x-3 top-[10vh] z-50 mx-auto flex max-h-[70dvh] max-w-xl flex-col overflow-hidden rounded-2xl border border-line bg-raised shadow-pop outline-none">
          <Dialog.Title className="sr-only">Search or jump to</Dialog.Title>
          <div className="flex items-center gap-3 border-line border-b px-4">
            <Search aria-hidden className="size-4 shrink-0 text-fg-3" />
            <input
              role="combobox"
              aria-label="Search or jump to"
              aria-expanded="true"
              aria-controls="palette-entries"
              aria-activedescendant={entries.length > 0 ? `palette-${chosen}` : undefined}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              placeholder="A page, an action or a cluster"
              value={words}
              onChange={(event) => {
                setWords(event.target.value)
                setActive(0)
              }}
              onKeyDown={keys}
              className="h-13 min-w-0 flex-1 bg-transparent outline-none placeholder:text-fg-3 max-sm:text-base"
            />
          </div>
          <div
            ref={list}
            id="palette-entries"
            role="listbox"
            aria-label="Results"
            className="min-h-0 overflow-y-auto p-2"
          >
            {entries.map((entry, index) => (
              <Option
                key={entry.id}
                entry={entry}
                index={index}
                active={index === chosen}
                isFirst={entries[index - 1]?.group !== entry.group}
                onRun={() => run(entry)}
                onPoint={() => setActive(index)}
              />
            ))}
          </div>
          {entries.length === 0 && (
            <p role="status" className="px-4 pb-6 text-center text-fg-3">
              Nothing fits “{words}”.
            </p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

interface OptionProps {
  entry: Entry
  index: number
  active: boolean
  /** Of its group. */
  isFirst: boolean
  onRun: () => void
  onPoint: () => void
}

function Option({ entry: { group, name, about, icon: Icon }, index, active, isFirst, onRun, onPoint }: OptionProps) {
  return (
    <>
      {isFirst && (
        <p aria-hidden className="px-2.5 pt-2.5 pb-1 font-medium text-2xs text-fg-3">
          {group}
        </p>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the box above has the focus and the keys */}
      <div
        id={`palette-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={active}
        onClick={onRun}
        onMouseMove={onPoint}
        className={clsx(
          'flex min-h-10 cursor-default items-center gap-3 rounded-lg px-2.5 py-1.5 max-sm:min-h-11',
          active && 'bg-hover forced-colors:outline',
        )}
      >
        <Icon aria-hidden className="size-4 shrink-0 text-fg-3" />
        <span className="min-w-0 flex-1">
          <span className="block truncate">{name}</span>
          {about && <span className="block truncate text-fg-3 text-xs">{about}</span>}
        </span>
        {active && <CornerDownLeft aria-hidden className="size-4 shrink-0 text-fg-3" />}
      </div>
    </>
  )
}
