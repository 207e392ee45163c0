import createClient from 'openapi-fetch'
import { Problem } from './problem'
import type { paths } from './schema'

/** A request that has not been answered by then has failed: the server itself gives up after 30 s, and says so. */
const ANSWER_WITHIN_MS = 35_000

export const api = createClient<paths>({
  fetch: (request) =>
    fetch(new Request(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]) })),
})

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/** The answer with its response, or a {@link Problem} thrown. */
export async function answerOf<T>(call: Promise<Answer<T>>): Promise<{ data: T; response: Response }> {
  let answer: Answer<T>
  try {
    answer = await call
  } catch (error) {
    // Query cancels what is no longer wanted; that is no trouble to report.
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw Problem.unreachable()
  }
  if (!answer.response.ok) throw Problem.from(answer.error, answer.response)
  return { data: answer.data as T, response: answer.response }
}

/** What was seen, with the mark that a change of it has to carry, so that nobody's change is lost. */
export type Seen<T> = T & { etag: string }

export async function seenOf<T extends object>(call: Promise<Answer<T>>): Promise<Seen<T>> {
  const { data, response } = await answerOf(call)
  return { ...data, etag: response.headers.get('etag') ?? '' }
}

/** That a change is of what was seen. */
export const ifStill = ({ etag }: { etag: string }) => ({ header: { 'If-Match': etag } })

export async function dataOf<T>(call: Promise<Answer<T>>): Promise<T> {
  return (await answerOf(call)).data
}

/** The answer, or null where there is no such thing. */
export async function dataOrNull<T>(call: Promise<Answer<T>>): Promise<T | null> {
  try {
    return await dataOf(call)
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null
    throw error
  }
}
