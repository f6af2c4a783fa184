import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFull, NEWEST_POSTS, nextPollMs, POSTS_A_PAGE, pageOf, pageOfMissed } from './feed.ts'

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

test('whoever reads the newest posts and then the pages that follow misses none and reads no page for nothing', () => {
  const latestAndSince = fc.tuple(fc.nat(500), fc.nat(500))
  fc.assert(
    fc.property(latestAndSince, ([latest, since]) => {
      const numbers = Array.from({ length: Math.min(NEWEST_POSTS, latest) }, (_, i) => latest - i)
      const older = pageOfMissed(
        numbers.map((n) => ({ n })),
        since,
      )
      const oldest = numbers.at(-1) ?? 1
      expect(older === null).toBe(oldest - 1 <= since)
      if (older !== null) expect(pageOf(oldest - 1)).toBe(older)
    }),
  )
  // A removed post leaves its number unused.
  const thirty = Array.from({ length: NEWEST_POSTS }, (_, i) => ({ n: 100 - 2 * i }))
  expect([pageOfMissed(thirty, 0), pageOfMissed(thirty, 41), pageOfMissed(thirty.slice(1), 0)]).toEqual([5, null, null])
})

test('a feed is read more often while it is lively, and seldom after the sale', () => {
  expect(nextPollMs(0, false, 1_000)).toBeLessThan(nextPollMs(0, false, 600_000))
  expect(nextPollMs(null, false, 0)).toBe(nextPollMs(0, false, 600_000))
  expect(nextPollMs(0, true, 1_000)).toBe(nextPollMs(null, false, 0))
})
