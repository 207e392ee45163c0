import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { auditEntry } from './fixtures'
import { open, Server } from './kubeopera'

/** A log of `length` rows, and the queries it was asked with. */
function logging(length: number) {
  const server = new Server()
  const queries: Record<string, string>[] = []
  server.on('GET /api/v1/audit', (request) => {
    const query = Object.fromEntries(new URL(request.url).searchParams)
    queries.push(query)
    const begin = Number(query.cursor ?? 0)
    const items = Array.from({ length: Math.min(100, length - begin) }, (_, index) =>
      auditEntry({ position: length - begin - index, object_name: `cluster-${begin + index}` }),
    )
    return {
      status: 200,
      body: { items, next_cursor: begin + 100 < length ? String(begin + 100) : null },
    }
  })
  return queries
}

test('rows tell who did what to which object, with what came of it if it was not simply done', async () => {
  const server = new Server()
  server.on('GET /api/v1/audit', {
    status: 200,
    body: {
      items: [
        auditEntry({ position: 2, object_name: 'prod', changed: ['name', 'labels'], action: 'change_cluster' }),
        auditEntry({
          position: 1,
          action: 'log_in',
          outcome: 'denied',
          actor: { kind: 'stranger', id: null, name: null, role: null },
        }),
      ],
      next_cursor: null,
    },
  })
  await open('/settings/audit')
  const rows = page.getByRole('list', { name: 'Audit log' }).getByRole('listitem')
  await expect
    .element(rows.nth(0))
    .toHaveTextContent(/^Change clusterprod.*admin from 10\.0\.0\.7.*changed name, labels/)
  await expect.element(rows.nth(1)).toHaveTextContent(/^Log inDenied.*Somebody who was not logged in/)
})

test('filters are in the address, and the export has the same', async () => {
  const queries = logging(3)
  const { router } = await open('/settings/audit?action=connect_cluster&who=admin&nonsense=1')
  await expect.element(page.getByText('3 rows')).toBeVisible()
  expect(queries[0]).toMatchObject({ action: 'connect_cluster', who: 'admin', limit: '100' })
  await page.getByLabelText('What came of it').selectOptions('denied')
  await page.getByLabelText('From').fill('2026-11-01')
  await expect
    .poll(() => router.state.location.search)
    .toMatchObject({ action: 'connect_cluster', who: 'admin', outcome: 'denied', from: '2026-11-01' })
  await expect.poll(() => queries.at(-1)).toMatchObject({ from: new Date('2026-11-01T00:00').toISOString() })
  const href = page.getByRole('link', { name: 'Export' }).element().getAttribute('href') ?? ''
  expect(href).toMatch(/^\/api\/v1\/audit\/export\?/)
  expect(Object.fromEntries(new URLSearchParams(href.split('?')[1]))).toMatchObject({ who: 'admin', outcome: 'denied' })
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect.element(page.getByLabelText('Who')).toHaveValue('')
  await page.getByLabelText('Who').fill('olga')
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => router.state.location.search).toMatchObject({ who: 'olga' })
})

test('a long log is read on as far as somebody wants', async () => {
  logging(250)
  await open('/settings/audit')
  await expect.element(page.getByText('100 rows so far')).toBeVisible()
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.element(page.getByText('200 rows so far')).toBeVisible()
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.element(page.getByText('250 rows', { exact: true })).toBeVisible()
  await expect.element(page.getByRole('button', { name: 'Show more' })).not.toBeInTheDocument()
})

test('a log without rows that fit says so', async () => {
  logging(0)
  await open('/settings/audit?who=nobody')
  await expect.element(page.getByText('Nothing in the log fits these filters.')).toBeVisible()
})
