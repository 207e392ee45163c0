import { Link } from '@tanstack/react-router'
import clsx from 'clsx'
import { Cloud, FileKey2, type LucideIcon, Rocket } from 'lucide-react'
import { type ComponentType, lazy, Suspense } from 'react'
import { cardClass } from '@/ui/card'
import { PageHeader } from '@/ui/page-header'
import { RegisterWay } from './register-way'
import type { Way } from './way'

const ways = {
  register: {
    icon: Rocket,
    name: 'Register This Cluster',
    when: 'You want KubeOpera to manage the cluster it is already running on. One click, nothing to enter.',
    how: 'Nothing to enter',
  },
  connect: {
    icon: FileKey2,
    name: 'Connect Existing',
    when: 'You already have a cluster, from any provider, and a kubeconfig for it.',
    how: 'With a kubeconfig',
  },
  create: {
    icon: Cloud,
    name: 'Create New',
    when: 'You want KubeOpera to provision a brand-new cluster on AWS or GCP for you.',
    how: 'With a cloud credential',
  },
} satisfies Record<Way, { icon: LucideIcon; name: string; when: string; how: string }>

const panels: Record<Way, ComponentType> = {
  register: RegisterWay,
  connect: lazy(() => import('./connect/connect-way')),
  create: lazy(() => import('./create/create-way')),
}

/** The Cluster Setup Wizard: the three ways to add a cluster, one of them open. */
export function WizardPage({ way }: { way: Way }) {
  const Panel = panels[way]
  return (
    <div className="max-w-5xl">
      <PageHeader title="Cluster Setup Wizard">
        There are three ways to add a cluster. Each ends in the same place: running Flux, reconciling its own GitOps
        tree, and managed from this dashboard.
      </PageHeader>
      <nav aria-label="Ways to add a cluster" className="mt-6">
        <ul className="grid gap-4 md:grid-cols-3">
          {Object.entries(ways).map(([key, { icon: Icon, name, when, how }]) => {
            const chosen = key === way
            return (
              <li key={key} className="flex">
                <Link
                  to="/clusters/new"
                  search={{ way: key as Way }}
                  replace
                  resetScroll={false}
                  aria-current={chosen ? 'true' : undefined}
                  className={clsx(
                    cardClass,
                    'flex w-full flex-col p-5 transition-colors duration-150',
                    chosen ? 'border-accent ring-1 ring-accent' : 'hover:border-line-strong',
                  )}
                >
                  <span
                    className={clsx(
                      'grid size-10 place-items-center rounded-xl',
                      chosen ? 'bg-accent text-accent-fg' : 'bg-accent-soft text-accent-text',
                    )}
                  >
                    <Icon aria-hidden className="size-5" />
                  </span>
                  <span className="mt-4 font-semibold">{name}</span>
                  <span className="mt-1 flex-1 text-fg-3">{when}</span>
                  <span className="mt-4 font-medium text-fg-2 text-xs">{how}</span>
                </Link>
              </li>
            )
          })}
        </ul>
      </nav>
      <section aria-label={ways[way].name} className={clsx(cardClass, 'mt-5 p-6 sm:p-7')}>
        <Suspense fallback={<p className="text-fg-3">Loading…</p>}>
          <Panel />
        </Suspense>
      </section>
    </div>
  )
}
