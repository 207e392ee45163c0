import { useRouteContext } from '@tanstack/react-router'
import { fleetQuery } from '@/clusters/clusters'
import { Command } from '@/ui/command'

interface EquivalentProps {
  /** What has to be so before. */
  children: string
  copyLabel: string
  /** The commands, for a Git repository of this address. */
  commands: (gitUrl: string) => string
}

/** The same as a form does, for people who like a terminal better. */
export function Equivalent({ children, copyLabel, commands }: EquivalentProps) {
  const { queryClient } = useRouteContext({ from: '__root__' })
  const tree = queryClient.getQueryData(fleetQuery.queryKey)?.items.find(({ git_ops }) => git_ops)?.git_ops
  return (
    <details className="mt-6">
      <summary className="w-fit cursor-pointer rounded font-medium text-fg-2 text-ui hover:text-fg">
        The same as a HostCluster resource
      </summary>
      <p className="mt-2 mb-3 max-w-prose text-fg-3 text-ui">{children}</p>
      <Command copyLabel={copyLabel}>{commands(tree?.url ?? 'https://github.com/acme/gitops-iac.git')}</Command>
    </details>
  )
}
