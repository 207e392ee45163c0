import { expect, test } from 'vitest'
import type { Cluster, Phase } from '@/api/model'
import { byAttention, periods, progress, toneOf, troubleOf } from '@/clusters/phases'

test('the badge is amber while a cluster is being set up, green when Ready, red when Failed', () => {
  const amber: Phase[] = [
    'Pending',
    'ValidatingAccess',
    'Provisioning',
    'BootstrappingFlux',
    'GeneratingGitOpsTree',
    'InstallingKubeOpera',
  ]
  expect(amber.map(toneOf)).toEqual(amber.map(() => 'warn'))
  expect(toneOf('Ready')).toBe('ok')
  expect(toneOf('Failed')).toBe('bad')
})

const way = (...states: Cluster['phases'][number]['state'][]): Pick<Cluster, 'phases'> => ({
  phases: states.map((state) => ({ phase: 'BootstrappingFlux', state })),
})

test('progress counts the phase under way, a failed one too', () => {
  expect(progress(way('waiting', 'waiting', 'waiting'))).toEqual({ step: 0, of: 3 })
  expect(progress(way('done', 'current', 'waiting'))).toEqual({ step: 2, of: 3 })
  expect(progress(way('failed', 'waiting', 'waiting'))).toEqual({ step: 1, of: 3 })
  expect(progress(way('done', 'done', 'done'))).toEqual({ step: 3, of: 3 })
})

test('the host comes first, then failed clusters, then those being set up, then the rest by name', () => {
  const make = (name: string, phase: Phase, is_host = false) => ({ name, phase, is_host }) as Cluster
  const order = [
    make('zeta', 'Ready'),
    make('alpha', 'Ready'),
    make('setting-up', 'BootstrappingFlux'),
    make('broken', 'Failed'),
    make('the-host', 'Ready', true),
  ]
    .toSorted(byAttention)
    .map(({ name }) => name)
  expect(order).toEqual(['the-host', 'broken', 'setting-up', 'alpha', 'zeta'])
})

const at = (minute: number) => `2026-11-30T10:${String(minute).padStart(2, '0')}:00Z`
const condition = (type: string, status: string, minute: number, message = '') => ({
  type,
  status,
  reason: 'Because',
  message,
  last_transition_time: at(minute),
})

test('a phase begins where the one before it ended, and the present one when the controller says', () => {
  const cluster = {
    phase: 'GeneratingGitOpsTree',
    created_at: at(0),
    phase_started_at: at(8),
    phases: [
      { phase: 'ValidatingAccess', state: 'done' },
      { phase: 'BootstrappingFlux', state: 'done' },
      { phase: 'GeneratingGitOpsTree', state: 'current' },
      { phase: 'InstallingKubeOpera', state: 'waiting' },
    ],
    conditions: [condition('AccessValidated', 'True', 1), condition('FluxBootstrapped', 'True', 7)],
  } as Cluster
  expect(periods(cluster).map(({ began, ended }) => [began, ended])).toEqual([
    [at(0), at(1)],
    [at(1), at(7)],
    [at(8), null],
    [null, null],
    [null, null],
  ])
})

test('a milestone that was reached anew does not make a phase end before it began', () => {
  const cluster = {
    phase: 'Ready',
    created_at: at(0),
    phase_started_at: at(9),
    phases: [
      { phase: 'BootstrappingFlux', state: 'done' },
      { phase: 'GeneratingGitOpsTree', state: 'done' },
    ],
    conditions: [condition('FluxBootstrapped', 'True', 30), condition('TreeGenerated', 'True', 5)],
  } as Cluster
  expect(periods(cluster).map(({ began, ended }) => [began, ended])).toEqual([
    [at(0), at(30)],
    [null, at(5)],
    [at(9), null],
  ])
})

test('the trouble of a phase is what its condition says, or else the message', () => {
  const cluster = { message: 'Waiting.', conditions: [condition('TreeGenerated', 'False', 3, 'The push was refused.')] }
  expect(troubleOf(cluster as Cluster, 'GeneratingGitOpsTree')).toBe('The push was refused.')
  expect(troubleOf(cluster as Cluster, 'BootstrappingFlux')).toBe('Waiting.')
})
