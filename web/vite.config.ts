import tailwindcss from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { firstLoadBudget } from './first-load-budget.ts'

export default defineConfig({
  plugins: [
    tanstackRouter({ target: 'react', autoCodeSplitting: true, quoteStyle: 'single' }),
    react(),
    tailwindcss(),
    firstLoadBudget(200),
  ],
  resolve: { tsconfigPaths: true },
  // Nothing is inlined and no preload script is written into the page, so that it runs under `script-src 'self'; style-src 'self'`.
  build: {
    target: 'baseline-widely-available',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // What several pages share comes in a few files. Each by itself, an icon or a wrapper, would cost more to fetch than it holds.
        codeSplitting: {
          groups: [
            { name: 'icons', test: /lucide-react/, minShareCount: 2 },
            { name: 'shared', test: /src.(api|format|live|monitor|session)./, minShareCount: 2 },
          ],
        },
      },
    },
  },
  // The server refuses a state-changing request whose Origin is not its own Host, so the proxy keeps the Host of the page.
  server: { proxy: { '/api': { target: process.env.KUBEOPERA_URL ?? 'http://127.0.0.1:7070', changeOrigin: false } } },
})
