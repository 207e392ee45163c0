import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** The server sends a heartbeat every 15 s; three missed ones mean that the connection is dead. */
const SILENCE_MS = 45_000
/** A tab nobody looks at gives its connection back: browsers allow six to one origin over HTTP/1.1. */
const HIDDEN_MS = 30_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

export interface StreamStatus {
  state: 'connecting' | 'live' | 'reconnecting' | 'offline'
  /** When the server was last heard, in ms since the epoch; null before the first connection. */
  heardAt: number | null
}

export interface StreamHandlers {
  onEvent: (event: EventSourceMessage) => void
  /** The stream starts without a place to resume from: whatever was read before may be old. */
  onFreshStart: () => void
  /** The server no longer knows the session. The stream stops for good. */
  onLoggedOut: () => void
}

/**
 * One connection to the server's event stream, kept up for as long as the page is open and looked at.
 *
 * It is read with `fetch`, not `EventSource`, because only `fetch` tells a refused session from a lost network,
 * sees heartbeats, and can resume from the last event after a pause of our own.
 */
export class EventStream {
  #status: StreamStatus = { state: 'connecting', heardAt: null }
  #listeners = new Set<() => void>()
  #lastEventId = ''
  #stop: AbortController | null = null
  #hidden: ReturnType<typeof setTimeout> | undefined
  #wake: () => void = () => {}

  constructor(
    private readonly url: string,
    private readonly handlers: StreamHandlers,
  ) {}

  readonly status = () => this.#status

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Starts the stream and returns what stops it. */
  open(): () => void {
    this.#connect()
    document.addEventListener('visibilitychange', this.#followVisibility)
    return () => {
      document.removeEventListener('visibilitychange', this.#followVisibility)
      this.#disconnect()
    }
  }

  /** Ends the pause before the next try to connect. */
  readonly retryNow = () => this.#wake()

  readonly #followVisibility = () => {
    clearTimeout(this.#hidden)
    if (document.hidden) this.#hidden = setTimeout(() => this.#disconnect(), HIDDEN_MS)
    else this.#connect()
  }

  #connect() {
    if (this.#stop) return
    this.#stop = new AbortController()
    void this.#keepReading(this.#stop.signal)
  }

  #disconnect() {
    clearTimeout(this.#hidden)
    this.#stop?.abort()
    this.#stop = null
  }

  async #keepReading(stopped: AbortSignal) {
    let failures = 0
    while (!stopped.aborted) {
      try {
        const response = await this.#read(stopped, () => {
          failures = 0
        })
        if (response === 'logged out') {
          this.#disconnect()
          this.handlers.onLoggedOut()
          return
        }
      } catch {
        // Why a connection broke is of no use to anybody here: the answer is always to come back.
      }
      if (stopped.aborted) return
      this.#set({ state: navigator.onLine ? 'reconnecting' : 'offline' })
      await this.#pause(retryDelay(failures++), stopped)
    }
  }

  async #read(stopped: AbortSignal, connected: () => void): Promise<'ended' | 'logged out'> {
    const silence = new AbortController()
    let watchdog: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      clearTimeout(watchdog)
      watchdog = setTimeout(() => silence.abort(), SILENCE_MS)
      this.#set({ state: 'live', heardAt: Date.now() })
    }
    try {
      watchdog = setTimeout(() => silence.abort(), SILENCE_MS)
      const headers: Record<string, string> = { accept: 'text/event-stream' }
      if (this.#lastEventId) headers['last-event-id'] = this.#lastEventId
      const signal = AbortSignal.any([stopped, silence.signal])
      const response = await fetch(this.url, { headers, signal, cache: 'no-store' })
      if (response.status === 401) return 'logged out'
      if (!response.ok || !response.body) throw new Error(`the event stream answered ${response.status}`)
      connected()
      heard()
      if (!this.#lastEventId) this.handlers.onFreshStart()
      const parser = createParser({
        onEvent: (event) => {
          if (event.id) this.#lastEventId = event.id
          this.handlers.onEvent(event)
        },
      })
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        heard()
        parser.feed(chunk.value)
      }
      return 'ended'
    } finally {
      clearTimeout(watchdog)
    }
  }

  /** Ends early when the network comes back, somebody asks for it, or the stream is stopped. */
  #pause(ms: number, stopped: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        removeEventListener('online', done)
        stopped.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      addEventListener('online', done)
      stopped.addEventListener('abort', done)
      this.#wake = done
    })
  }

  #set(change: Partial<StreamStatus>) {
    this.#status = { ...this.#status, ...change }
    for (const listener of this.#listeners) listener()
  }
}

/** Doubles from one second to thirty; the random half keeps many tabs from coming back in step. */
export function retryDelay(failures: number, random = Math.random()): number {
  const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures)
  return longest / 2 + (longest / 2) * random
}
