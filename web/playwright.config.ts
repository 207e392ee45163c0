import { defineConfig } from '@playwright/test'
import { chromium } from './chromium.ts'

/** Chapters of the product's description. Each goes on with what those before left on the stack. */
const chapters = ['register', 'connect', 'settings', 'create', 'clusters', 'multi', 'disconnect']

/** The stack under test is started by whoever runs this and named by BASE_URL; see README.md. */
export default defineConfig({
  testDir: 'tests/e2e',
  // The pictures that the tests take are beside it, as a run of Playwright empties its folder first.
  outputDir: 'test-results/failures',
  workers: 1,
  maxFailures: 1,
  forbidOnly: true,
  reporter: [['list']],
  timeout: 180_000,
  expect: { timeout: 10_000 },
  projects: process.env.PICTURES_TO
    ? [{ name: 'pictures', testMatch: 'pictures.ts' }]
    : process.env.SWEEP_TO
      ? [{ name: 'sweep', testMatch: 'sweep.ts' }]
      : chapters.map((name) => ({ name, testMatch: `${name}.spec.ts` })),
  use: {
    baseURL: process.env.BASE_URL,
    browserName: 'chromium',
    launchOptions: chromium,
    actionTimeout: 30_000,
    viewport: { width: 1280, height: 800 },
    trace: 'retain-on-failure',
  },
})
