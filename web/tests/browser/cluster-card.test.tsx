import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import type { Cluster } from '@/api/model'
import { cluster, stepsTo } from './fixtures'
import { open, Server, steerTime } from './kubeopera'

async function cardOf(change: Partial<Cluster>) {
  const server = new Server()
  server.clusters = [cluster(change)]
  await open('/clusters')
  const card = page.getByRole('article')
  await expect.element(card).toBeVisible()
  return card
}

test('a card shows name, host mark, provider, region, version and nodes', async () => {
  const card = await cardOf({ nodes: { total: 3, ready: 2 } })
  await expect.element(card.getByRole('heading', { name: 'kubeopera-host' })).toBeVisible()
  for (const fact of ['Host', 'AWS', 'eu-north-1', 'v1.34.4', '2/3 ready'])
    await expect.element(card.getByText(fact, { exact: true })).toBeVisible()
})

test('a cluster without a cloud integration shows as unknown', async () => {
  const card = await cardOf({ provider: 'unknown', region: 'unknown' })
  await expect.element(card.getByText('unknown', { exact: true }).nth(1)).toBeVisible()
})

test('what is not known yet is a dash with words, never nought', async () => {
  const card = await cardOf({ nodes: null, kubernetes_version: null })
  await expect.element(card.getByText('not known yet').nth(1)).toBeInTheDocument()
  await expect.element(card.getByText(/0\/0/)).not.toBeInTheDocument()
})

test('a failed cluster names the phase that failed, the reason and the next attempt', async () => {
  const card = await cardOf({
    phase: 'Failed',
    phases: stepsTo('BootstrappingFlux', true),
    message: 'The registry refused the image.',
    retry: { attempt: 3, since: null, next_attempt_at: new Date(Date.now() + 95_000).toISOString() },
  })
  await expect.element(card.getByText('Failed', { exact: true })).toHaveAttribute('data-tone', 'bad')
  await expect.element(card).toHaveTextContent('BootstrappingFlux failed. The registry refused the image.')
  await expect.element(card).toHaveTextContent(/Attempt 3 failed, next in 1.min/)
})

test('the time in the phase counts on', async () => {
  const pass = steerTime()
  const card = await cardOf({
    phase: 'BootstrappingFlux',
    phase_started_at: new Date(Date.now() - 20_000).toISOString(),
  })
  await expect.element(card).toHaveTextContent(/for [2-5]\d.s/)
  await pass(60_000)
  await expect.element(card).toHaveTextContent(/for 1.min/)
})

test('markup in a name or a message is text and nothing else', async () => {
  const evil = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>'
  const card = await cardOf({ name: evil, message: evil })
  await expect.element(card.getByRole('heading')).toHaveTextContent(evil)
  expect(card.element().querySelector('img, script')).toBeNull()
  expect(document.title).not.toBe('owned')
})

test('the phases can be looked at one by one, with what each does and since when it is done', async () => {
  const card = await cardOf({ phase: 'InstallingKubeOpera', phases: stepsTo('InstallingKubeOpera') })
  await card.getByRole('button', { name: 'Phases of kubeopera-host' }).click()
  const list = page.getByRole('dialog', { name: 'Phases of kubeopera-host' })
  await expect.element(list.getByRole('listitem').nth(0)).toHaveTextContent(/^BootstrappingFlux, done1.min ago/)
  await expect.element(list.getByRole('listitem').nth(2)).toHaveAttribute('aria-current', 'step')
  await expect.element(list.getByRole('listitem').nth(2)).toHaveTextContent(/^InstallingKubeOpera, under way/)
  await expect.element(list.getByRole('listitem').nth(3)).toHaveTextContent(/^Ready, waiting/)
  await expect.element(list.getByText('main at 3f9c1e7a5b20')).toBeVisible()
})
