import type { Cluster, Phase, PhaseStep } from '@/api/model'

export type Tone = 'ok' | 'warn' | 'bad'

/** All phases, in the order in which a cluster goes through them. */
export const phaseNames: Phase[] = [
  'Pending',
  'ValidatingAccess',
  'Provisioning',
  'BootstrappingFlux',
  'GeneratingGitOpsTree',
  'InstallingKubeOpera',
  'Ready',
  'Failed',
]

/** Green when Ready, red when Failed, amber while a cluster is being set up. */
export function toneOf(phase: Phase): Tone {
  if (phase === 'Ready') return 'ok'
  return phase === 'Failed' ? 'bad' : 'warn'
}

/** What happens in each phase, in one line. */
export const meaning: Record<Phase, string> = {
  Pending: 'Waiting for the controller to pick the cluster up.',
  ValidatingAccess: 'Confirming that the API server responds.',
  Provisioning: 'Creating the cloud infrastructure with Terraform.',
  BootstrappingFlux: 'Installing Flux and giving it access to the GitOps repository.',
  GeneratingGitOpsTree: 'Generating the complete environment of this cluster and committing it to Git.',
  InstallingKubeOpera: 'Pointing Flux at the new tree, which it reconciles.',
  Ready: 'Managed by KubeOpera and kept in sync with Git.',
  Failed: 'Something went wrong. The message explains what.',
}

/** The condition that is True once the work of a phase is done. */
const milestone: Partial<Record<Phase, string>> = {
  ValidatingAccess: 'AccessValidated',
  Provisioning: 'InfrastructureReady',
  BootstrappingFlux: 'FluxBootstrapped',
  GeneratingGitOpsTree: 'TreeGenerated',
  InstallingKubeOpera: 'PlatformInstalled',
  Ready: 'Ready',
}

/** Since when the work of a phase is done; null while it is not. */
export function doneSince({ conditions }: Pick<Cluster, 'conditions'>, phase: Phase): string | null {
  const met = conditions.find(({ type, status }) => type === milestone[phase] && status === 'True')
  return met?.last_transition_time ?? null
}

/** A phase with when it began and ended, as far as that is known. */
export interface Period extends PhaseStep {
  began: string | null
  ended: string | null
}

/** The phases of a cluster's way and Ready itself: each begins where the one before it ended. */
export function periods(cluster: Cluster): Period[] {
  const isReady = cluster.phase === 'Ready'
  const steps: PhaseStep[] = [...cluster.phases, { phase: 'Ready', state: isReady ? 'done' : 'waiting' }]
  let before: string | null = cluster.created_at
  return steps.map((step) => {
    const ended = step.state === 'done' && step.phase !== 'Ready' ? doneSince(cluster, step.phase) : null
    const began = step.phase === cluster.phase ? (cluster.phase_started_at ?? before) : before
    // A milestone that was reached anew has a later time than what came after it.
    const isInOrder = began && (!ended || began <= ended)
    before = step.state === 'done' ? ended : null
    return { ...step, began: step.state !== 'waiting' && isInOrder ? began : null, ended }
  })
}

/** What went wrong last in a phase. */
export function troubleOf({ conditions, message }: Cluster, phase: Phase): string {
  const unmet = conditions.find(({ type, status }) => type === milestone[phase] && status !== 'True')
  return unmet?.message || message
}

/** How far a cluster has come: the number of the phase under way, counted from 1, among the phases of its way. */
export function progress(cluster: Pick<Cluster, 'phases'>): { step: number; of: number } {
  const of = cluster.phases.length
  const underWay = cluster.phases.findIndex((step) => step.state === 'current' || step.state === 'failed')
  if (underWay >= 0) return { step: underWay + 1, of }
  const done = cluster.phases.filter((step) => step.state === 'done').length
  return { step: Math.min(done, of), of }
}

/** The host cluster first, then what needs a person, what is being set up, and the rest by name. */
export function byAttention(a: Cluster, b: Cluster): number {
  const rank = (cluster: Cluster) => ({ bad: 0, warn: 1, ok: 2 })[toneOf(cluster.phase)]
  return Number(b.is_host) - Number(a.is_host) || rank(a) - rank(b) || a.name.localeCompare(b.name)
}
