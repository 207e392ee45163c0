import { defineConfig } from '@playwright/test'
import { chromium } from '../chromium.ts'

/** The figures of the built dashboard, beside their goals: `npm run bench`. */
export default defineConfig({
  testDir: '.',
  testMatch: '*.bench.ts',
  outputDir: '../test-results/bench',
  workers: 1,
  // The figures are all there is to read.
  reporter: [['./figures.ts']],
  timeout: 180_000,
  use: { browserName: 'chromium', launchOptions: chromium, viewport: { width: 1440, height: 900 } },
})
