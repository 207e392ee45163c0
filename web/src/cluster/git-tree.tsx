import clsx from 'clsx'
import { CircleCheck, CircleHelp, CircleX, ExternalLink } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Cluster } from '@/api/model'
import { webAddresses } from '@/format/git'
import { CopyButton } from '@/ui/copy-button'
import { Fact, Facts } from '@/ui/facts'
import { Section } from '@/ui/section'

/** Where in Git the cluster's tree is, which commit of it, and whether Flux keeps the cluster in sync with it. */
export function GitTree({ cluster }: { cluster: Cluster }) {
  const { git_ops: tree } = cluster
  return (
    <Section title="Git and Flux">
      <FluxState cluster={cluster} />
      {tree ? (
        <Tree {...tree} />
      ) : (
        <p className="mt-4 text-fg-3">The tree is not in Git yet. GeneratingGitOpsTree puts it there.</p>
      )}
    </Section>
  )
}

function FluxState({ cluster: { flux_healthy: healthy, conditions } }: { cluster: Cluster }) {
  const said = conditions.find(({ type }) => type === 'FluxHealthy')?.message
  const {
    icon: Icon,
    tint,
    words,
  } = healthy === null
    ? { icon: CircleHelp, tint: 'text-fg-3', words: 'Whether Flux is healthy is not known yet.' }
    : healthy
      ? { icon: CircleCheck, tint: 'text-ok-fg', words: 'Flux is healthy and reconciling the tree.' }
      : { icon: CircleX, tint: 'text-bad-fg', words: said || 'Flux is not healthy.' }
  return (
    <p className="flex gap-2.5">
      <Icon aria-hidden className={clsx('mt-0.5 size-4 shrink-0', tint)} />
      <span className="min-w-0 [overflow-wrap:anywhere]">{words}</span>
    </p>
  )
}

function Tree({ url, branch, path, commit }: NonNullable<Cluster['git_ops']>) {
  const web = webAddresses({ url, branch, path, commit })
  return (
    <div className="mt-4">
      <Facts>
        <Fact name="Repository">
          <Place href={web?.repository}>{url}</Place>
        </Fact>
        <Fact name="Folder">
          <Place href={web?.folder}>{path}</Place>
        </Fact>
        <Fact name="Branch">
          <span className="font-mono text-xs">{branch}</span>
        </Fact>
        <Fact name="Commit of the tree">
          {commit ? (
            <span className="flex items-center gap-1">
              <Place href={web?.commit}>{commit.slice(0, 12)}</Place>
              <CopyButton text={commit} label="Copy the whole commit" className="-my-1.5" />
            </span>
          ) : (
            'Not made yet'
          )}
        </Fact>
      </Facts>
    </div>
  )
}

function Place({ href, children }: { href: string | undefined; children: ReactNode }) {
  const className = 'font-mono text-xs'
  if (!href) return <span className={className}>{children}</span>
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className={clsx(
        className,
        'text-accent-text underline decoration-accent-line underline-offset-2 hover:decoration-current',
      )}
    >
      {children}
      <ExternalLink aria-hidden className="ml-1 inline size-3 align-[-1px]" />
      <span className="sr-only"> (opens in a new tab)</span>
    </a>
  )
}
