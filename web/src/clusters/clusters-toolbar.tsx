import clsx from 'clsx'
import { ArrowDownNarrowWide, ArrowUpNarrowWide, LayoutGrid, List, Search, X } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import type { Cluster } from '@/api/model'
import { grouped } from '@/format/numbers'
import { providerName } from '@/format/provider'
import { buttonClass } from '@/ui/button'
import {
  type FleetView,
  type Layout,
  labelsOf,
  rememberLayout,
  type SortKey,
  settingUp,
  usualDirection,
} from './fleet-view'
import { toneOf } from './phases'

export const sortNames: Record<SortKey, string> = {
  name: 'Name',
  phase: 'Phase',
  provider: 'Provider',
  region: 'Region',
  kubernetes_version: 'Kubernetes version',
  nodes: 'Nodes',
  health: 'Health',
  cpu: 'CPU',
  memory: 'Memory',
  cost: 'Cost',
  created_at: 'Age',
}

interface ClustersToolbarProps {
  /** All of them: counts do not change with the filters. */
  clusters: Cluster[]
  view: FleetView
  layout: Layout
  onChange: (change: FleetView) => void
}

/** Finds, filters, sorts and lays out clusters. */
export function ClustersToolbar({ clusters, view, layout, onChange }: ClustersToolbarProps) {
  const providers = useMemo(() => [...new Set(clusters.map(({ provider }) => provider))].sort(), [clusters])
  const labels = useMemo(() => labelsOf(clusters), [clusters])
  return (
    <div className="mt-6 flex flex-wrap items-center gap-2.5">
      <SearchBox value={view.q ?? ''} onChange={(q) => onChange({ q: q || undefined })} />
      <Phases clusters={clusters} phase={view.phase} onChange={(phase) => onChange({ phase })} />
      {(providers.length > 1 || view.provider) && (
        <Picker
          label="Provider"
          value={view.provider ?? ''}
          onChange={(provider) => onChange({ provider: provider || undefined })}
        >
          <option value="">Any provider</option>
          {providers.map((provider) => (
            <option key={provider} value={provider}>
              {provider === 'unknown' ? 'Unknown' : providerName(provider)}
            </option>
          ))}
        </Picker>
      )}
      {(labels.length > 0 || view.label) && (
        <Picker label="Label" value={view.label ?? ''} onChange={(label) => onChange({ label: label || undefined })}>
          <option value="">Any label</option>
          {(view.label && !labels.includes(view.label) ? [view.label, ...labels] : labels).map((label) => (
            <option key={label} value={label}>
              {label}
            </option>
          ))}
        </Picker>
      )}
      <div className="flex items-center gap-1.5 sm:ml-auto">
        <Picker
          label="Sort by"
          value={view.sort ?? ''}
          onChange={(sort) => onChange({ sort: (sort as SortKey) || undefined, direction: undefined })}
        >
          <option value="">Attention first</option>
          {Object.entries(sortNames).map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </Picker>
        {view.sort && <DirectionButton view={view} sort={view.sort} onChange={onChange} />}
        <Layouts layout={layout} onChange={onChange} />
      </div>
    </div>
  )
}

function SearchBox({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const inText = event.target instanceof HTMLElement && event.target.closest('input, textarea, select')
      if (event.key !== '/' || inText || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <div className="relative min-w-0 flex-1 basis-48 sm:max-w-72">
      <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-3 my-auto size-4 text-fg-3" />
      <input
        ref={input}
        type="search"
        aria-label="Find a cluster by name"
        aria-keyshortcuts="/"
        placeholder="Find by name"
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="h-9 w-full rounded-lg border border-control bg-surface pr-9 pl-9 text-ui max-sm:h-11 max-sm:text-base [&::-webkit-search-cancel-button]:hidden"
      />
      {value ? (
        <button
          type="button"
          aria-label="Clear the name"
          onClick={() => {
            onChange('')
            input.current?.focus()
          }}
          className="absolute inset-y-0 right-0 grid w-9 place-items-center text-fg-3 hover:text-fg"
        >
          <X aria-hidden className="size-4" />
        </button>
      ) : (
        <kbd
          aria-hidden
          className="pointer-events-none absolute inset-y-0 right-2.5 my-auto h-5 rounded border border-line-strong px-1.5 text-2xs text-fg-3 max-sm:hidden"
        >
          /
        </kbd>
      )}
    </div>
  )
}

interface PhasesProps {
  clusters: Cluster[]
  phase: string | undefined
  onChange: (phase: string | undefined) => void
}

function Phases({ clusters, phase, onChange }: PhasesProps) {
  const count = (tone: ReturnType<typeof toneOf>) => clusters.filter((cluster) => toneOf(cluster.phase) === tone).length
  const segments = [
    { name: 'All', phase: undefined, count: clusters.length },
    { name: 'Ready', phase: 'Ready', count: count('ok') },
    { name: 'Setting up', phase: settingUp, count: count('warn') },
    { name: 'Failed', phase: 'Failed', count: count('bad') },
  ]
  return (
    <fieldset className="flex max-w-full items-center overflow-x-auto rounded-lg border border-line-strong bg-sunken p-0.5">
      <legend className="sr-only">Phase</legend>
      {segments.map((segment) => {
        const isPressed = segment.phase === phase
        return (
          <button
            key={segment.name}
            type="button"
            aria-pressed={isPressed}
            onClick={() => onChange(segment.phase)}
            className={clsx(
              'h-7.5 whitespace-nowrap rounded-md px-2.5 font-medium text-ui max-sm:h-10 forced-colors:aria-pressed:outline',
              isPressed ? 'bg-surface text-fg shadow-card ring-1 ring-line dark:bg-hover' : 'text-fg-2 hover:text-fg',
            )}
          >
            {segment.name} <span className="text-fg-3 tabular-nums">{grouped(segment.count)}</span>
          </button>
        )
      })}
    </fieldset>
  )
}

interface PickerProps {
  label: string
  value: string
  onChange: (value: string) => void
  children: ReactNode
}

function Picker({ label, value, onChange, children }: PickerProps) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className="h-9 max-w-48 truncate rounded-lg border border-control bg-surface px-2 text-ui max-sm:h-11"
    >
      {children}
    </select>
  )
}

interface DirectionButtonProps extends Pick<ClustersToolbarProps, 'view' | 'onChange'> {
  sort: SortKey
}

function DirectionButton({ view, sort, onChange }: DirectionButtonProps) {
  const direction = view.direction ?? usualDirection(sort)
  const other = direction === 'asc' ? 'desc' : 'asc'
  const Icon = direction === 'asc' ? ArrowUpNarrowWide : ArrowDownNarrowWide
  const words = direction === 'asc' ? 'Smallest first' : 'Largest first'
  return (
    <button
      type="button"
      aria-label={`${words}. Turn the order round`}
      title={words}
      onClick={() => onChange({ direction: other === usualDirection(sort) ? undefined : other })}
      className={buttonClass('ghost', 'icon')}
    >
      <Icon aria-hidden />
    </button>
  )
}

const layouts = [
  { layout: 'cards', name: 'Cards', icon: LayoutGrid },
  { layout: 'list', name: 'List', icon: List },
] as const

function Layouts({ layout, onChange }: Pick<ClustersToolbarProps, 'layout' | 'onChange'>) {
  return (
    <fieldset className="flex rounded-lg border border-line-strong bg-sunken p-0.5">
      <legend className="sr-only">Layout</legend>
      {layouts.map(({ layout: value, name, icon: Icon }) => (
        <button
          key={value}
          type="button"
          aria-label={name}
          title={name}
          aria-pressed={layout === value}
          onClick={() => {
            rememberLayout(value)
            onChange({ view: value })
          }}
          className={clsx(
            'grid size-7.5 place-items-center rounded-md max-sm:size-10 forced-colors:aria-pressed:outline',
            layout === value
              ? 'bg-surface text-fg shadow-card ring-1 ring-line dark:bg-hover'
              : 'text-fg-3 hover:text-fg',
          )}
        >
          <Icon aria-hidden className="size-4" />
        </button>
      ))}
    </fieldset>
  )
}
