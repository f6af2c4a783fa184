import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFull, nextPollMs, POSTS_A_PAGE, pageOf } from './feed.ts'

test('each post has its page, of as many numbers as all others, which is full once the last is given', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (n) => {
      const page = pageOf(n)
      expect(n).toBeGreaterThan((page - 1) * POSTS_A_PAGE)
      expect(n).toBeLessThanOrEqual(page * POSTS_A_PAGE)
      expect(isFull(page, n)).toBe(n % POSTS_A_PAGE === 0)
      expect(isFull(page - 1, n)).toBe(true)
    }),
  )
  expect(pageOf(0)).toBe(0)
})

test('a feed is read more often while it is lively, and seldom after the sale', () => {
  expect(nextPollMs(0, false, 1_000)).toBeLessThan(nextPollMs(0, false, 600_000))
  expect(nextPollMs(null, false, 0)).toBe(nextPollMs(0, false, 600_000))
  expect(nextPollMs(0, true, 1_000)).toBe(nextPollMs(null, false, 0))
})
