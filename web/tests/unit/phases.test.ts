import { expect, test } from 'vitest'
import type { Cluster, Phase } from '@/api/model'
import { byAttention, progress, toneOf } from '@/clusters/phases'

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
