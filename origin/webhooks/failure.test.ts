import { expect, test } from 'vitest'
import { reasonOf } from './failure.ts'

test.each([
  ['308 redirect to https://new.example/hook moved', 'It has moved to https://new.example/hook: change its address'],
  ['503 upstream: no healthy host', 'It answers 503: its server fails'],
  ['418 teapot', 'It answers 418'],
  ['429', 'It asks for a rest (429)'],
  ['no answer within 15 s', 'It does not answer within 15 s'],
  ['getaddrinfo ENOTFOUND hooks.example', 'The name in its address is not known'],
  ['connect ECONNREFUSED 10.0.0.1:443', 'It refuses connections'],
  ['unable to verify the first certificate', 'Its certificate is not valid'],
  ['something else', 'It fails: something else'],
])('the error %j is said as %j', (error, reason) => {
  expect(reasonOf(error)).toBe(reason)
})
