import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventStream } from '@/api/event-stream'
import { Server } from './kubeopera'

let server: Server
let stop = () => {}
const handlers = { onEvent: vi.fn(), onFreshStart: vi.fn(), onLoggedOut: vi.fn() }

beforeEach(() => {
  vi.clearAllMocks()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  server = new Server()
})

afterEach(() => {
  stop()
  look(true)
  vi.useRealTimers()
})

function openStream() {
  const stream = new EventStream('/api/v1/events', handlers)
  stop = stream.open()
  return stream
}

/** Somebody looks at the tab, or at another one. */
function look(here: boolean) {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => !here })
  document.dispatchEvent(new Event('visibilitychange'))
}

const live = (stream: EventStream) => vi.waitFor(() => expect(stream.status().state).toBe('live'))

test('a tab that nobody looks at gives its connection back, and resumes after the last event', async () => {
  const stream = openStream()
  await live(stream)
  server.emit('cluster', {}, '41')
  await vi.waitFor(() => expect(handlers.onEvent).toHaveBeenCalledTimes(1))
  look(false)
  await vi.advanceTimersByTimeAsync(29_000)
  expect(server.openStreams).toBe(1)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(server.openStreams).toBe(0)
  look(true)
  await vi.waitFor(() => expect(server.resumedFrom).toEqual([null, '41']))
  expect(handlers.onFreshStart).toHaveBeenCalledTimes(1)
})

test('a short look at another tab keeps the connection', async () => {
  const stream = openStream()
  await live(stream)
  look(false)
  await vi.advanceTimersByTimeAsync(20_000)
  look(true)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(server.resumedFrom).toHaveLength(1)
  expect(server.openStreams).toBe(1)
})

test('a connection that has gone silent is taken for dead and made anew', async () => {
  const stream = openStream()
  await live(stream)
  await vi.advanceTimersByTimeAsync(44_000)
  expect(server.resumedFrom).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(3_000)
  await vi.waitFor(() => expect(server.resumedFrom).toHaveLength(2))
  await live(stream)
})

test('a heartbeat keeps a quiet connection', async () => {
  const stream = openStream()
  await live(stream)
  for (let beats = 0; beats < 6; beats++) {
    await vi.advanceTimersByTimeAsync(15_000)
    const before = stream.status().heardAt ?? 0
    server.beat()
    await vi.waitFor(() => expect(stream.status().heardAt).toBeGreaterThan(before))
  }
  expect(server.resumedFrom).toHaveLength(1)
})

test('somebody who does not want to wait for the next try gets it at once', async () => {
  server.streamAnswer = 'network error'
  const stream = openStream()
  await vi.waitFor(() => expect(stream.status().state).toBe('reconnecting'))
  server.streamAnswer = null
  stream.retryNow()
  await live(stream)
})
