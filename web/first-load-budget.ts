import { gzipSync } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'

/**
 * Fails the build when a first visit to any page would load more than `limit` kB of script and style (gzip).
 * A first visit loads the entry, the page's chunk and the chunks of the layouts around it, each with what it imports.
 */
export function firstLoadBudget(limit: number): Plugin {
  return {
    name: 'first-load-budget',
    apply: 'build',
    generateBundle(_, bundle) {
      const size = (name: string) => {
        const file = bundle[name]
        return file ? gzipSync(file.type === 'chunk' ? file.code : file.source).length : 0
      }
      const chunks = Object.values(bundle).filter((file): file is Rolldown.OutputChunk => file.type === 'chunk')
      const reach = (names: string[], seen = new Set<string>()): Set<string> => {
        for (const name of names) {
          const file = bundle[name]
          if (seen.has(name) || file?.type !== 'chunk') continue
          seen.add(name)
          reach(file.imports, seen)
        }
        return seen
      }
      const styles = Object.keys(bundle).filter((name) => name.endsWith('.css'))
      // A layout is the file route.tsx of the folder whose pages it surrounds.
      const folderOf = (chunk: Rolldown.OutputChunk) => /^(.*\/)route\.tsx/.exec(chunk.facadeModuleId ?? '')?.[1]
      // Everything else that is loaded by itself is loaded when somebody asks for it.
      const isPage = (chunk: Rolldown.OutputChunk) => chunk.facadeModuleId?.includes('/src/routes/') && !folderOf(chunk)
      for (const page of chunks.filter((chunk) => chunk.isDynamicEntry && isPage(chunk))) {
        const surrounds = (chunk: Rolldown.OutputChunk) => {
          const folder = folderOf(chunk)
          return folder !== undefined && page.facadeModuleId?.startsWith(folder)
        }
        const base = reach(chunks.filter((chunk) => chunk.isEntry || surrounds(chunk)).map((chunk) => chunk.fileName))
        const loaded = [...reach([page.fileName], new Set(base)), ...styles]
        const kilobytes = Math.round(loaded.reduce((sum, name) => sum + size(name), 0) / 1000)
        if (kilobytes > limit)
          this.error(`The first load of ${page.name} is ${kilobytes} kB gzip; the limit is ${limit} kB.`)
        this.info(`first load of ${page.name}: ${kilobytes} kB gzip`)
      }
    },
  }
}
