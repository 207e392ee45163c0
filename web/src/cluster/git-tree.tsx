import clsx from 'clsx'
import { CircleCheck, CircleHelp, CircleX, ExternalLink } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Cluster } from '@/api/model'
import { commitOf, webAddresses } from '@/format/git'
import { CopyButton } from '@/ui/copy-button'
import { Fact, Facts } from '@/ui/facts'
import { Section } from '@/ui/section'

/** Where in Git the cluster's tree is, which commit of it, and whether Flux keeps the cluster in sync with it. */
export function GitTree({ cluster }: { cluster: Cluster }) {
  const { git_ops: tree } = cluster
  return (
    <Section title="Git and Flux">
      <FluxState cluster={cluster} />
      <div className="mt-4">
        <Facts>
          <Fact name="Flux on the cluster">
            <Installed flux={cluster.flux} />
          </Fact>
          {tree ? <Tree {...tree} /> : <Fact name="Tree">Not in Git yet. GeneratingGitOpsTree puts it there.</Fact>}
        </Facts>
      </div>
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

function Installed({ flux }: Pick<Cluster, 'flux'>) {
  if (!flux) return 'Not known yet'
  const { version, managed_by: owner } = flux
  const of = owner === 'kubeopera' ? 'installed by KubeOpera' : owner && `installed by ${owner}`
  return [version ?? 'Version not known', of].filter(Boolean).join(', ')
}

function Tree(tree: NonNullable<Cluster['git_ops']>) {
  const { url, branch, path, commit, applied_revision: applied } = tree
  const web = webAddresses(tree)
  return (
    <>
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
        {commit ? <Commit hash={commit} href={web?.commit} what="commit" /> : 'Not made yet'}
      </Fact>
      <Fact name="Applied by Flux last">
        <Applied revision={applied} tree={tree} />
      </Fact>
    </>
  )
}

/** A repository has other commits than those of one tree: Flux may well have applied a later one. */
function Applied({ revision, tree }: { revision: string | null; tree: NonNullable<Cluster['git_ops']> }) {
  if (!revision) return 'Nothing yet'
  const hash = commitOf(revision)
  if (!hash) return <span className="font-mono text-xs">{revision}</span>
  if (hash === tree.commit) return 'This commit'
  return <Commit hash={hash} href={webAddresses({ ...tree, commit: hash })?.commit} what="applied commit" />
}

function Commit({ hash, href, what }: { hash: string; href: string | undefined; what: string }) {
  return (
    <span className="flex items-center gap-1">
      <Place href={href}>{hash.slice(0, 12)}</Place>
      <CopyButton text={hash} label={`Copy the whole ${what}`} className="-my-1.5" />
    </span>
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
