import type { Cluster } from '@/api/model'

type Tree = NonNullable<Cluster['git_ops']>

interface WebAddresses {
  repository: string
  /** Of hosts whose addresses we know. */
  folder?: string
  commit?: string
}

/**
 * Where a browser shows a repository, a folder and a commit of it. Undefined for what has no pages for people: SSH, plain
 * HTTP and names inside a cluster, as KubeOpera's own Git server has them.
 */
export function webAddresses({
  url,
  branch,
  path,
  commit,
}: Pick<Tree, 'url' | 'branch' | 'path' | 'commit'>): WebAddresses | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, host, hostname, pathname } = new URL(url)
  if (protocol !== 'https:' || !hostname.includes('.') || /\.(svc|local|internal)(\.|$)/.test(hostname))
    return undefined
  const repository = `https://${host}${pathname.replace(/(\.git)?\/*$/, '')}`
  const part = /(^|\.)gitlab\./.test(hostname) ? '/-' : hostname === 'github.com' ? '' : undefined
  if (part === undefined) return { repository }
  const inPath = (text: string) => text.split('/').map(encodeURIComponent).join('/')
  return {
    repository,
    folder: `${repository}${part}/tree/${inPath(branch)}/${inPath(path)}`,
    commit: commit ? `${repository}${part}/commit/${encodeURIComponent(commit)}` : undefined,
  }
}

/** The commit in a revision as Flux writes it, such as `main@sha1:` and a commit; null if it is of another kind. */
export const commitOf = (revision: string) => /@sha\d+:([0-9a-f]{40,64})$/.exec(revision)?.[1] ?? null
