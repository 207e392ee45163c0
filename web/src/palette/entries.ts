import type { NavigateOptions } from '@tanstack/react-router'
import type { LucideIcon } from 'lucide-react'
import {
  Boxes,
  Cloud,
  FileKey2,
  GitBranch,
  Grid2x2,
  KeyRound,
  LayoutDashboard,
  Monitor,
  Moon,
  Rocket,
  ScrollText,
  Sun,
  UserRound,
  Users,
} from 'lucide-react'
import type { Cluster, Role } from '@/api/model'
import { isAdministrator, mayManage } from '@/clusters/rights'
import { providerName } from '@/format/provider'
import { chooseTheme } from '@/theme'

export interface Entry {
  id: string
  group: 'Pages' | 'Actions' | 'Clusters'
  name: string
  /** What else is said of it, and found by. */
  about?: string
  icon: LucideIcon
  go: NavigateOptions | (() => void)
}

/** Of each group, so many are shown. */
const MOST = 8

function pages(role: Role): Entry[] {
  const page = (name: string, icon: LucideIcon, to: NavigateOptions['to']): Entry => ({
    id: `page-${to}`,
    group: 'Pages',
    name,
    icon,
    go: { to } as NavigateOptions,
  })
  return [
    page('Overview', LayoutDashboard, '/'),
    page('Clusters', Boxes, '/clusters'),
    page('Multi-Cluster', Grid2x2, '/clusters/multi'),
    page('Your account', UserRound, '/settings/account'),
    ...(isAdministrator(role)
      ? [
          page('People', Users, '/settings/people'),
          page('Cloud credentials', KeyRound, '/settings/credentials'),
          page('Git and registry', GitBranch, '/settings/git'),
          page('Audit log', ScrollText, '/settings/audit'),
        ]
      : []),
  ]
}

function actions(role: Role): Entry[] {
  const action = (name: string, icon: LucideIcon, go: Entry['go']): Entry => ({
    id: `action-${name}`,
    group: 'Actions',
    name,
    icon,
    go,
  })
  const way = (name: string, icon: LucideIcon, way: 'register' | 'connect' | 'create') =>
    action(name, icon, { to: '/clusters/new', search: { way } })
  return [
    ...(mayManage(role)
      ? [way('Register This Cluster', Rocket, 'register'), way('Connect an existing cluster', FileKey2, 'connect')]
      : []),
    ...(isAdministrator(role) ? [way('Create a new cluster', Cloud, 'create')] : []),
    action('Theme: system', Monitor, () => chooseTheme('system')),
    action('Theme: light', Sun, () => chooseTheme('light')),
    action('Theme: dark', Moon, () => chooseTheme('dark')),
  ]
}

function ofCluster({ id, name, phase, provider, region }: Cluster): Entry {
  return {
    id: `cluster-${id}`,
    group: 'Clusters',
    name,
    about: [phase, provider !== 'unknown' && providerName(provider), region !== 'unknown' && region]
      .filter(Boolean)
      .join(' · '),
    icon: Boxes,
    go: { to: '/clusters/$id', params: { id } },
  }
}

/** What fits the words, those first whose name begins with them. */
export function entriesFor(words: string, role: Role, clusters: Cluster[]): Entry[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const rank = ({ name, about = '' }: Entry) => {
    const [own, all] = [name.toLowerCase(), `${name} ${about}`.toLowerCase()]
    if (!wanted.every((word) => all.includes(word))) return null
    return wanted.length === 0 || own.startsWith(wanted[0] ?? '') ? 0 : 1
  }
  const found = (entries: Entry[]) =>
    entries
      .flatMap((entry) => {
        const place = rank(entry)
        return place === null ? [] : [{ entry, place }]
      })
      .sort((a, b) => a.place - b.place)
      .slice(0, MOST)
      .map(({ entry }) => entry)
  return [...found(pages(role)), ...found(clusters.map(ofCluster)), ...found(actions(role))]
}
