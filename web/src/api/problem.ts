import type { ProblemBody } from './model'

/** Why a request failed, in sentences a person can act on. Thrown by every call in `client.ts`. */
export class Problem extends Error {
  override name = 'Problem'

  constructor(
    /** HTTP status; 0 when no answer came at all. */
    readonly status: number,
    readonly code: string,
    readonly title: string,
    /** What happened, to which object. */
    readonly detail: string,
    /** What to do about it. */
    readonly hint: string | null = null,
    /** The name of the field that was refused. */
    readonly field: string | null = null,
    /** Finds the request in the server's log. */
    readonly requestId: string | null = null,
    /** Seconds the server asked us to wait before the next try. */
    readonly retryAfter: number | null = null,
  ) {
    super(hint ? `${detail} ${hint}` : detail)
  }

  static unreachable(): Problem {
    return new Problem(
      0,
      'unreachable',
      'KubeOpera is not answering',
      'The KubeOpera server did not answer.',
      'Check that it is running and that this machine can reach it.',
    )
  }

  /** Reads an RFC 9457 problem document; an answer of another shape comes from something in front of the server. */
  static from(body: unknown, response: Response): Problem {
    const wait = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
    const retryAfter = Number.isFinite(wait) ? wait : null
    if (!isProblemBody(body)) {
      return new Problem(
        response.status,
        'not_a_problem_document',
        'Unexpected answer',
        `The server answered ${response.status} without saying why.`,
        'A proxy in front of KubeOpera may have answered instead of it.',
        null,
        response.headers.get('x-request-id'),
        retryAfter,
      )
    }
    const { status, code, title, detail, hint = null, field = null, request_id } = body
    return new Problem(status, code, title, detail, hint, field, request_id, retryAfter)
  }

  /** Any error, as a problem; one that is not ours is a defect of this page and says so. */
  static of(error: unknown): Problem {
    if (error instanceof Problem) return error
    const detail = error instanceof Error ? error.message : String(error)
    return new Problem(0, 'page_defect', 'This page failed', `The dashboard failed to show this page: ${detail}.`)
  }
}

function isProblemBody(body: unknown): body is ProblemBody {
  return typeof body === 'object' && body !== null && 'detail' in body && 'code' in body
}
