import { defineConfig } from '@playwright/test'
import { chromium } from './chromium.ts'

/** The stack under test is started by whoever runs this and named by BASE_URL; see README.md. */
export default defineConfig({
  testDir: 'tests/e2e',
  testMatch: process.env.PICTURES_TO ? 'pictures.ts' : '*.spec.ts',
  outputDir: 'test-results',
  workers: 1,
  forbidOnly: true,
  reporter: [['list']],
  timeout: 60_000,
  use: {
    baseURL: process.env.BASE_URL,
    browserName: 'chromium',
    launchOptions: chromium,
    viewport: { width: 1440, height: 900 },
    trace: 'retain-on-failure',
  },
})
