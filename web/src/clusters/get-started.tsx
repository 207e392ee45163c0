import { Link } from '@tanstack/react-router'
import { ChevronRight, Gauge, Globe, Rocket, Server, SlidersHorizontal } from 'lucide-react'
import type { Phase } from '@/api/model'
import { buttonClass } from '@/ui/button'
import { Card } from '@/ui/card'
import { Command } from '@/ui/command'
import { meaning } from './phases'
import { RegisterButton } from './register-button'

/** What a fresh installation shows in place of a list. */
export function GetStarted() {
  return (
    <section aria-labelledby="get-started" className="mt-8 max-w-5xl">
      <h2 id="get-started" className="font-semibold text-lg tracking-tight">
        Get Started
      </h2>
      <p className="mt-1 max-w-prose text-fg-3">
        KubeOpera has no host cluster yet. Start with the cluster it is already running on, or connect or create
        another.
      </p>
      <div className="mt-5 grid gap-5 lg:grid-cols-[1.6fr_1fr]">
        <Card className="relative flex flex-col overflow-hidden border-accent-line p-6 sm:p-7">
          <div aria-hidden className="absolute inset-x-0 top-0 h-1 bg-accent" />
          <span className="grid size-11 place-items-center rounded-xl bg-accent-soft text-accent-text">
            <Rocket aria-hidden className="size-5" />
          </span>
          <h3 className="mt-4 font-semibold text-base">Register This Cluster</h3>
          <p className="mt-1 max-w-prose text-fg-2">
            The fastest start: one click, nothing to enter. KubeOpera uses its own in-cluster service account, so no
            kubeconfig and no cloud credentials are required.
          </p>
          <Discovered />
          <div className="mt-auto pt-6">
            <RegisterButton />
          </div>
        </Card>
        <Card className="flex flex-col p-6 sm:p-7">
          <span className="grid size-11 place-items-center rounded-xl bg-sunken text-fg-2">
            <SlidersHorizontal aria-hidden className="size-5" />
          </span>
          <h3 className="mt-4 font-semibold text-base">Set Up Manually</h3>
          <p className="mt-1 text-fg-2">
            Open the Cluster Setup Wizard to connect a cluster you already have, or to create one on AWS or GCP.
          </p>
          <div className="mt-auto pt-6">
            <Link to="/clusters/new" className={`${buttonClass('secondary', 'large')} max-sm:w-full`}>
              Set Up Manually
            </Link>
          </div>
        </Card>
      </div>
      <WhatHappensNext />
      <div className="mt-8 max-w-xl">
        <p className="mb-2 text-fg-3 text-ui">Follow along from the command line:</p>
        <Command copyLabel="Copy the command that follows along">
          kubectl get hostcluster -n kubeopera-system -w
        </Command>
      </div>
    </section>
  )
}

const discovered = [
  { icon: Server, name: 'Nodes', text: 'how many there are and how many are ready' },
  { icon: Gauge, name: 'Kubernetes version', text: 'from the API server' },
  { icon: Globe, name: 'Provider and region', text: "from the nodes' cloud provider IDs" },
]

/** What KubeOpera finds out by itself when it registers its own cluster. */
export function Discovered() {
  return (
    <ul aria-label="What KubeOpera discovers" className="mt-4 grid gap-2">
      {discovered.map(({ icon: Icon, name, text }) => (
        <li key={name} className="flex items-start gap-2.5 text-ui">
          <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-fg-3" />
          <span>
            <span className="font-medium">{name}</span> <span className="text-fg-3">{text}</span>
          </span>
        </li>
      ))}
    </ul>
  )
}

const way: Phase[] = ['BootstrappingFlux', 'GeneratingGitOpsTree', 'InstallingKubeOpera', 'Ready']

/** The phases a registered cluster goes through, so that nothing on its card is a surprise. */
export function WhatHappensNext() {
  return (
    <section aria-labelledby="what-happens-next" className="mt-10">
      <h3 id="what-happens-next" className="font-semibold">
        What happens next
      </h3>
      <ol className="mt-4 grid gap-x-6 gap-y-4 sm:grid-cols-2 lg:grid-cols-4">
        {way.map((phase, index) => (
          <li key={phase} className="border-line border-t-2 pt-3">
            <p className="flex items-center gap-1 font-medium text-ui">
              {phase}
              {index < way.length - 1 && <ChevronRight aria-hidden className="size-3.5 text-fg-3 max-lg:hidden" />}
            </p>
            <p className="mt-0.5 text-fg-3 text-xs leading-5">{meaning[phase]}</p>
          </li>
        ))}
      </ol>
    </section>
  )
}
