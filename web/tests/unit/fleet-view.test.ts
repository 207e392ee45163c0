import { expect, test } from 'vitest'
import type { Cluster } from '@/api/model'
import { arranged, type FleetView, labelsOf, viewOf } from '@/clusters/fleet-view'

const cluster = (name: string, change: object = {}) =>
  ({
    id: name,
    name,
    phase: 'Ready',
    provider: 'aws',
    region: 'eu-north-1',
    labels: {},
    nodes: null,
    health: null,
    cpu: null,
    memory: null,
    cost: null,
    kubernetes_version: null,
    created_at: '2026-11-30T10:00:00Z',
    ...change,
  }) as unknown as Cluster

const names = (clusters: Cluster[], view: FleetView) => arranged(clusters, view).map(({ name }) => name)

test('numbers are sorted as numbers, and what is not known comes last in both directions', () => {
  const fleet = [
    cluster('none'),
    cluster('ten', { nodes: { total: 10, ready: 3 } }),
    cluster('nine', { nodes: { total: 9, ready: 9 } }),
    cluster('hundred', { nodes: { total: 100, ready: 1 } }),
  ]
  expect(names(fleet, { sort: 'nodes' })).toEqual(['hundred', 'ten', 'nine', 'none'])
  expect(names(fleet, { sort: 'nodes', direction: 'asc' })).toEqual(['nine', 'ten', 'hundred', 'none'])
})

test('money and percentages are sorted by their amount', () => {
  const fleet = [
    cluster('dear', { cost: { monthly: 1_000 }, cpu: { percent: 2 } }),
    cluster('cheap', { cost: { monthly: 9 }, cpu: { percent: 90 } }),
    cluster('unpriced', { cost: { monthly: null }, cpu: { percent: null } }),
  ]
  expect(names(fleet, { sort: 'cost' })).toEqual(['dear', 'cheap', 'unpriced'])
  expect(names(fleet, { sort: 'cpu' })).toEqual(['cheap', 'dear', 'unpriced'])
})

test('versions are sorted part by part, and what is alike goes by name', () => {
  const fleet = [
    cluster('b', { kubernetes_version: '1.9.1' }),
    cluster('c', { kubernetes_version: '1.34.0' }),
    cluster('a', { kubernetes_version: '1.9.1' }),
  ]
  expect(names(fleet, { sort: 'kubernetes_version' })).toEqual(['c', 'a', 'b'])
  expect(names(fleet, { sort: 'kubernetes_version', direction: 'asc' })).toEqual(['a', 'b', 'c'])
})

test('filters by name, phase, provider and labels have to fit all at once', () => {
  const fleet = [
    cluster('prod-a', { labels: { env: 'prod', team: 'x' } }),
    cluster('prod-b', { labels: { env: 'prod' }, provider: 'gcp' }),
    cluster('dev', { labels: { env: 'dev', team: 'y' }, phase: 'Failed' }),
  ]
  expect(names(fleet, { q: ' PROD' })).toEqual(['prod-a', 'prod-b'])
  expect(names(fleet, { phase: 'Failed,Pending' })).toEqual(['dev'])
  expect(names(fleet, { provider: 'gcp' })).toEqual(['prod-b'])
  expect(names(fleet, { label: 'env=prod,team' })).toEqual(['prod-a'])
  expect(names(fleet, { label: 'env=prod', provider: 'gcp', q: 'a' })).toEqual([])
  expect(labelsOf(fleet)).toEqual(['env=dev', 'env=prod', 'team=x', 'team=y'])
})

test('an address with nonsense in it shows what is usual', () => {
  expect(viewOf({ q: 7, phase: 'Nonsense', sort: '__proto__', direction: 'up', view: 'x', label: ['a'] })).toEqual({
    q: '7',
  })
})
