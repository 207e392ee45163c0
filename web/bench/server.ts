import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/**
 * The built dashboard on loopback, compressed beforehand and under the policy of the KubeOpera binary, with answers of the
 * API that take no time: what is measured is the dashboard alone.
 */
export async function serve(dist: string, answers: Record<string, unknown>) {
  const prepared = new Map(Object.entries(answers).map(([path, body]) => [path, gzipSync(JSON.stringify(body))]))
  const files = new Map<string, Buffer>()
  const file = (path: string) => {
    const known = files.get(path) ?? gzipSync(readFileSync(join(dist, path)))
    files.set(path, known)
    return known
  }
  const send = (response: ServerResponse, type: string, body: Buffer) => {
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip', 'content-length': body.length })
    response.end(body)
  }
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://bench')
    const answer = prepared.get(pathname)
    if (answer) return send(response, 'application/json', answer)
    if (pathname === '/api/v1/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: hello\nid: 1\ndata: {}\n\n')
      return
    }
    if (pathname.startsWith('/api/')) {
      response.writeHead(404, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ title: 'Not found', status: 404, code: 'not_found', detail: `No ${pathname}.` }))
      return
    }
    const path = extname(pathname) ? pathname : '/index.html'
    response.setHeader(
      'content-security-policy',
      "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'none'; img-src 'self' data:; font-src 'self'; connect-src 'self'",
    )
    send(response, types[extname(path)] ?? 'application/octet-stream', file(path))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}
