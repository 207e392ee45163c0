import { expect } from 'vitest'
import { page } from 'vitest/browser'
import { multi } from '../monitor-fixtures'
import { render } from './state'

render([
  {
    name: 'multi',
    path: '/clusters/multi',
    arrange: (s) => s.on('GET /api/v1/clusters/multi', { status: 200, body: multi() }),
    says: 'Average CPU',
  },
  {
    name: 'multi details',
    path: '/clusters/multi',
    arrange: (s) => s.on('GET /api/v1/clusters/multi', { status: 200, body: multi() }),
    says: 'Average CPU',
    act: async () => {
      await page.getByRole('link', { name: /^staging-ledger: unreachable/ }).hover()
      await expect.element(page.getByText('82 of 100', { exact: true })).toBeVisible()
    },
  },
])
