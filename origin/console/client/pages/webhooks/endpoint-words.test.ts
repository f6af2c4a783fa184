import { expect, test } from 'vitest'
import { headOf, lineOf, nextText, verdictOf } from './endpoint-words.ts'

const NOW_MS = Date.parse('2026-11-27T12:04:18Z')
const before = (seconds: number) => new Date(NOW_MS - 1000 * seconds).toISOString()
const well = { state: 'active', waiting: 0, dead: 0, reason: null, accepted_at: before(2), sent_day: 26_525 } as const
const failing = {
  ...well,
  waiting: 3_020,
  oldest_seconds: 98,
  reason: 'It answers 503: its server fails',
  fails_since: before(98),
  next_attempt_at: before(-29),
  accepted_at: before(100),
} as const

test('a failing endpoint says why, since when, and when it is asked again', () => {
  const verdict = verdictOf(failing, NOW_MS)
  expect(verdict).toMatchObject({ level: 'watch', short: 'Fails' })
  expect(verdict.text).toMatch(/^It answers 503: its server fails, since \d\d:02:40\.$/)
  expect(verdict.advice).toContain('all 3,020 are sent')
  expect(nextText(verdict)).toBe('asked again in 0:29')
  expect(lineOf(failing)).toBe('3,020 wait, the oldest for 2 minutes')
  expect(headOf([well, failing], NOW_MS)).toBe('2 endpoints; 1 needs you')
})

test('an endpoint that takes other messages does not count as away', () => {
  expect(verdictOf({ ...failing, accepted_at: before(1) }, NOW_MS)).toMatchObject({ short: 'Refuses some' })
})

test('an endpoint that answers, one that is paused, and one with messages given up', () => {
  expect(verdictOf(well, NOW_MS)).toMatchObject({ level: 'good', short: 'Answers', advice: null })
  expect(lineOf({ ...well, median_ms: 141.6 })).toBe('26,525 sent in 24 hours, half within 142 ms')
  expect(verdictOf({ ...well, state: 'paused', waiting: 9 }, NOW_MS)).toMatchObject({ level: 'info', short: 'Paused' })
  expect(verdictOf({ ...well, dead: 2 }, NOW_MS).advice).toContain('2 messages were given up')
  expect(headOf([well], NOW_MS)).toBe('1 endpoint; none needs you')
})
