import type { ReactNode } from 'react'
import { Command } from '@/ui/command'
import { Notice } from '@/ui/notice'
import { createCommands } from './manifests'

export function CreateWay() {
  return (
    <TerminalWay
      title="Create New"
      limit="This version cannot create clusters: cluster-provisioner, which builds them on AWS and GCP, is not part of it yet."
      copyLabel="Copy the commands that check a cluster to create"
      commands={createCommands}
    >
      The resource it will work from is settled. This has the API server check yours, and stores nothing:
    </TerminalWay>
  )
}

interface TerminalWayProps {
  title: string
  /** What cannot be done on this page. */
  limit: string
  children: ReactNode
  commands: string
  copyLabel: string
}

function TerminalWay({ title, limit, children, commands, copyLabel }: TerminalWayProps) {
  return (
    <>
      <h2 className="font-semibold text-base">{title}</h2>
      <Notice tone="info" className="mt-4">
        {limit}
      </Notice>
      <p className="mt-4 mb-3 max-w-prose text-fg-2">{children}</p>
      <Command copyLabel={copyLabel}>{commands}</Command>
      <p className="mt-5 mb-2 text-fg-3 text-ui">What each field means, and how far the cluster is:</p>
      <Command copyLabel="Copy the commands that explain and follow">
        {'kubectl explain hostcluster.spec\nkubectl get hostcluster -n kubeopera-system -w'}
      </Command>
    </>
  )
}
