import { expect, test } from 'vitest'
import { Problem } from '@/api/problem'

test('a problem document is told as its detail and its hint, with the id of the request', () => {
  const body = {
    type: 'about:blank',
    title: 'Forbidden',
    status: 403,
    code: 'forbidden',
    detail: 'Your role viewer may not register clusters.',
    hint: 'A platform administrator can change your role.',
    request_id: 'req-7',
  }
  const problem = Problem.from(body, new Response(null, { status: 403 }))
  expect(problem.message).toBe(
    'Your role viewer may not register clusters. A platform administrator can change your role.',
  )
  expect(problem).toMatchObject({ status: 403, code: 'forbidden', requestId: 'req-7', field: null })
})

test('an answer that is no problem document blames what stands in front of the server', () => {
  const problem = Problem.from('<html>502</html>', new Response(null, { status: 502 }))
  expect(problem.message).toBe(
    'The server answered 502 without saying why. A proxy in front of KubeOpera may have answered instead of it.',
  )
})

test('the wait that a throttled answer asks for is kept', () => {
  const response = new Response(null, { status: 429, headers: { 'retry-after': '30' } })
  expect(Problem.from(undefined, response).retryAfter).toBe(30)
})
