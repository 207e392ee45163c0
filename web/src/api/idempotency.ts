import { useRef } from 'react'

/**
 * Names a request so that the server does it once. What is sent again as it was, because the answer got lost, has the same
 * key; anything else is another request.
 */
export function useIdempotencyKey(): (request: unknown) => string {
  const last = useRef({ request: '', key: '' })
  return (request) => {
    const text = JSON.stringify(request)
    if (last.current.request !== text) last.current = { request: text, key: randomKey() }
    return last.current.key
  }
}

/** Not `crypto.randomUUID`, which browsers give to pages over HTTPS or on localhost only. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
