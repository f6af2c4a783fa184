import { expect, it } from 'vitest'
import { type ProblemType, problem, problemResponse } from './problem.ts'

it('a problem is sent as problem+json, uncached, with Retry-After in whole seconds, and has a default detail', () => {
  const sent = problemResponse(problem('try-again', { detail: 'Please wait.', retry_after_seconds: 0.2 }))
  expect(sent.status).toBe(503)
  expect(sent.headers).toEqual({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'retry-after': '1',
  })
  expect(JSON.parse(sent.body)).toMatchObject({
    type: '/problems/try-again',
    status: 503,
    detail: 'Please wait.',
    retry_after_seconds: 1,
  })
  expect(problem('sold-out').detail).toBe('All units are sold.')
})

it('a response of 401 names the way to authenticate', () => {
  const challenge = (type: ProblemType) => problemResponse(problem(type)).headers['www-authenticate']
  expect(challenge('unauthorized')).toBe('Bearer realm="flash-sale"')
  expect(challenge('invalid-token')).toBe('Bearer realm="flash-sale", error="invalid_token"')
  expect(challenge('forbidden')).toBeUndefined()
})
