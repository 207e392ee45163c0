import type { Cluster, Phase } from '@/api/model'
import { by, compareTexts, type Direction } from './order'
import { byAttention, phaseNames, toneOf } from './phases'

/** What can be sorted by, with the way that is the useful one first. */
const sortKeys = {
  name: 'asc',
  phase: 'asc',
  provider: 'asc',
  region: 'asc',
  kubernetes_version: 'desc',
  nodes: 'desc',
  health: 'asc',
  cpu: 'desc',
  memory: 'desc',
  cost: 'desc',
  created_at: 'desc',
} as const

export type SortKey = keyof typeof sortKeys
export type Layout = 'cards' | 'list'

/** Which clusters are shown and how, as the address of the page has it. What is not said is as usual. */
export interface FleetView {
  /** Part of a name. */
  q?: string
  /** Phases, such as `Ready,Failed`. */
  phase?: string
  provider?: string
  /** Labels, such as `env=prod,team`: all of them have to fit, and one without a value fits with any. */
  label?: string
  /** Without it, what needs a person comes first. */
  sort?: SortKey
  direction?: Direction
  view?: Layout
}

/** What of an address is a view; the rest of it is left out. */
export function viewOf(search: Record<string, unknown>): FleetView {
  const text = (value: unknown) =>
    (typeof value === 'string' || typeof value === 'number' ? String(value) : '') || undefined
  const one = <T extends string>(value: unknown, all: readonly T[]) => all.find((known) => known === value)
  return {
    q: text(search.q),
    phase: text(search.phase)?.split(',').some(isPhase) ? text(search.phase) : undefined,
    provider: text(search.provider),
    label: text(search.label),
    sort: one(search.sort, Object.keys(sortKeys) as SortKey[]),
    direction: one(search.direction, ['asc', 'desc']),
    view: one(search.view, ['cards', 'list']),
  }
}

const isPhase = (text: string): text is Phase => (phaseNames as string[]).includes(text)

/** The useful way round comes first. */
export const usualDirection = (sort: SortKey): Direction => sortKeys[sort]

export const settingUp = phaseNames.filter((phase) => toneOf(phase) === 'warn').join(',')

/** The clusters that fit, in their order. */
export function arranged(clusters: Cluster[], view: FleetView): Cluster[] {
  const { sort, direction = sort && usualDirection(sort) } = view
  const fitting = clusters.filter(fits(view))
  return fitting.sort(sort && direction ? by((cluster) => comparable(cluster, sort), direction) : byAttention)
}

function fits({ q, phase, provider, label }: FleetView): (cluster: Cluster) => boolean {
  const part = q?.trim().toLowerCase()
  const phases = phase?.split(',')
  const labels = label
    ?.split(',')
    .map((pair) => pair.trim().split('='))
    .filter(([key]) => key)
  return (cluster) =>
    (!part || cluster.name.toLowerCase().includes(part)) &&
    (!phases || phases.includes(cluster.phase)) &&
    (!provider || cluster.provider === provider) &&
    (labels ?? []).every(([key = '', value]) => {
      const has = cluster.labels[key]
      return has !== undefined && (value === undefined || has === value)
    })
}

function comparable(cluster: Cluster, sort: SortKey): string | number | null {
  switch (sort) {
    case 'phase':
      return phaseNames.indexOf(cluster.phase)
    case 'provider':
    case 'region':
      return cluster[sort] === 'unknown' ? null : cluster[sort]
    case 'nodes':
      return cluster.nodes?.total ?? null
    case 'health':
      return cluster.health?.score ?? null
    case 'cpu':
    case 'memory':
      return cluster[sort]?.percent ?? null
    case 'cost':
      return cluster.cost?.monthly ?? null
    case 'created_at':
      return Date.parse(cluster.created_at)
    default:
      return cluster[sort]
  }
}

/** Each label that clusters have, such as `env=prod`. */
export function labelsOf(clusters: Cluster[]): string[] {
  const all = clusters.flatMap(({ labels }) => Object.entries(labels).map(([key, value]) => `${key}=${value}`))
  return [...new Set(all)].sort(compareTexts.compare)
}

const LAYOUT = 'clusters-layout'
/** More of them are easier to compare in a list. */
const MOST_CARDS = 60

/** The layout somebody chose last, or else the one that suits the number of clusters. */
export function usualLayout(count: number): Layout {
  try {
    const chosen = localStorage.getItem(LAYOUT)
    if (chosen === 'cards' || chosen === 'list') return chosen
  } catch {
    // A browser that stores nothing has no choice of before.
  }
  return count > MOST_CARDS ? 'list' : 'cards'
}

export function rememberLayout(layout: Layout) {
  try {
    localStorage.setItem(LAYOUT, layout)
  } catch {
    // The choice lasts as long as the address has it.
  }
}
