import { useRef } from 'react'
import { newId } from './new-id'

/**
 * Names a request so that the server does it once. What is sent again as it was, because the answer got lost, has the same
 * key; anything else is another request.
 */
export function useIdempotencyKey(): (request: unknown) => string {
  const last = useRef({ request: '', key: '' })
  return (request) => {
    const text = JSON.stringify(request)
    if (last.current.request !== text) last.current = { request: text, key: newId().replaceAll('-', '') }
    return last.current.key
  }
}
