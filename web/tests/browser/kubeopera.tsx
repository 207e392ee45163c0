import { createMemoryHistory } from '@tanstack/react-router'
import { onTestFinished, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { Cluster, ClusterMonitor, ProblemBody } from '@/api/model'
import { createApp } from '@/app'
import { session } from './fixtures'

type Answer = { status: number; body?: unknown; headers?: Record<string, string> } | 'network error' | 'never'
type Handler = (request: Request) => Answer | Promise<Answer>

/** A server at the level of `fetch`, with answers that each test chooses. */
export class Server {
  loggedIn = true
  clusters: Cluster[] = []
  kubernetes = { available: true, reason: null as string | null }
  requests: string[] = []
  #answers = new Map<string, Handler>()
  #streams = new Set<ReadableStreamDefaultController<Uint8Array>>()
  streamAnswer: Answer | null = null
  /** The Last-Event-ID of each connection to the stream. */
  resumedFrom: (string | null)[] = []

  constructor() {
    globalThis.fetch = (input, init) => this.#fetch(new Request(input, init))
  }

  /** Answers `what`, such as "GET /api/v1/clusters", in this way from now on. */
  on(what: string, answer: Answer | Handler) {
    this.#answers.set(what, typeof answer === 'function' ? answer : () => answer)
    return this
  }

  emit(event: string, data: unknown, id = '') {
    this.#send(asText(event, data, id))
  }

  /** Events that come in one piece, as they do when much happens at once. */
  emitTogether(events: { event: string; data: unknown }[]) {
    this.#send(events.map(({ event, data }) => asText(event, data)).join(''))
  }

  /** The comment that tells a page its connection lives. */
  beat() {
    this.#send(':\n\n')
  }

  #send(text: string) {
    for (const stream of this.#streams) stream.enqueue(new TextEncoder().encode(text))
  }

  update(cluster: Cluster) {
    this.clusters = this.clusters.map((known) => (known.id === cluster.id ? cluster : known))
    this.emit('cluster', cluster, String(cluster.revision))
  }

  dropStreams() {
    for (const stream of this.#streams) stream.error(new TypeError('network error'))
    this.#streams.clear()
  }

  get openStreams() {
    return this.#streams.size
  }

  async #fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const what = `${request.method} ${pathname}`
    this.requests.push(what)
    if (what === 'GET /api/v1/events') return this.#stream(request)
    const chosen = this.#answers.get(what)
    const answer = chosen ? await chosen(request) : this.#usual(what)
    if (answer === 'network error') throw new TypeError('Failed to fetch')
    if (answer === 'never') return new Promise((_, reject) => request.signal.addEventListener('abort', reject))
    return respond(answer)
  }

  #usual(what: string): Answer {
    switch (what) {
      case 'GET /api/v1/session':
        return this.loggedIn ? { status: 200, body: session } : refusal(401, 'not_logged_in', 'Nobody is logged in.')
      case 'POST /api/v1/session':
        this.loggedIn = true
        return { status: 200, body: session }
      case 'DELETE /api/v1/session':
        this.loggedIn = false
        return { status: 204 }
      case 'GET /api/v1/session/ways':
        return { status: 200, body: { password: true, oidc: null } }
      case 'GET /api/v1/clusters':
        return { status: 200, body: { items: this.clusters, next_cursor: null, kubernetes: this.kubernetes } }
      default: {
        const one = this.clusters.find(({ id }) => what === `GET /api/v1/clusters/${id}`)
        if (one) return { status: 200, body: one }
        const monitored = this.clusters.find(({ id }) => what === `GET /api/v1/clusters/${id}/monitor`)
        if (monitored) return { status: 200, body: unread(monitored.id) }
        return refusal(404, 'not_found', `Nothing answers ${what}.`)
      }
    }
  }

  #stream(request: Request): Promise<Response> {
    const answer = this.streamAnswer
    if (answer === 'network error') return Promise.reject(new TypeError('Failed to fetch'))
    if (answer === 'never') return new Promise(() => {})
    if (answer) return Promise.resolve(respond(answer))
    this.resumedFrom.push(request.headers.get('last-event-id'))
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#streams.add(controller)
        request.signal.addEventListener('abort', () => {
          if (this.#streams.delete(controller)) controller.error(new DOMException('aborted', 'AbortError'))
        })
        controller.enqueue(new TextEncoder().encode(': hello\n\n'))
      },
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }
}

const asText = (event: string, data: unknown, id = '') =>
  `event: ${event}\n${id && `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

/** What is known of a cluster that k8s-monitor has not read. */
const unread = (cluster: string): ClusterMonitor => ({
  cluster,
  revision: 0,
  freshness: { as_of: null, unreachable: null },
  health: null,
  nodes: null,
  usage: null,
  cost: null,
  events: { items: [], more: 0, not_readable: null },
})

function respond({ status, body, headers }: Exclude<Answer, string>): Response {
  const type = status >= 400 ? 'application/problem+json' : 'application/json'
  return new Response(body === undefined ? null : JSON.stringify(body), {
    status,
    headers: { 'content-type': type, ...headers },
  })
}

function refusal(status: number, code: string, detail: string): Answer {
  const body: ProblemBody = { type: 'about:blank', title: 'Refused', status, code, detail, request_id: 'req-1' }
  return { status, body }
}

/** The whole dashboard at `path`. */
export async function open(path: string) {
  const { app, router, queryClient } = createApp(createMemoryHistory({ initialEntries: [path] }))
  const screen = await render(app)
  return { screen, router, queryClient }
}

/**
 * Takes the page's clock and timers into the hands of the test, which does so before the page opens. They go on as ever, and
 * what this returns lets some ms of theirs pass at once.
 */
export function steerTime() {
  vi.useFakeTimers({
    shouldAdvanceTime: true,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
  })
  onTestFinished(() => void vi.useRealTimers())
  return async (ms: number) => void (await vi.advanceTimersByTimeAsync(ms))
}
