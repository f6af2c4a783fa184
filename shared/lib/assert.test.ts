import { expect, test } from 'vitest'
import { AssertionError, assert, assertExists, watchAssertions } from './assert.ts'

test('an assertion fails with its sentence, and informs those who watch', () => {
  const seen: string[] = []
  const stop = watchAssertions(({ message }) => void seen.push(message))
  assert(1 + 1 === 2, 'Numbers add up.')
  expect(assertExists(0, 'Zero exists.')).toBe(0)
  expect(assertExists('', 'An empty text exists.')).toBe('')
  expect(() => assert(false, 'A cat is no dog.')).toThrow(new AssertionError('A cat is no dog.'))
  expect(() => assertExists(null, 'The order exists.')).toThrow(AssertionError)
  stop()
  expect(() => assertExists(undefined, 'Nobody watches.')).toThrow(AssertionError)
  expect(seen).toEqual(['A cat is no dog.', 'The order exists.'])
})
