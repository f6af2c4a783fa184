import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pauseAfter, QUEUES } from './queues.ts'

test('a webhook has some twenty attempts within 24 hours, the last at the end of them', () => {
  let [ageMs, attempt] = [0, 1]
  for (let pauseMs: number | null = 0; pauseMs !== null; attempt++) {
    ageMs += pauseMs
    pauseMs = pauseAfter({ queue: 'webhook', attempt, ageMs }, {}, 0.5)
  }
  expect(ageMs).toBe(24 * 3_600_000)
  expect(attempt).toBeGreaterThan(18)
  expect(attempt).toBeLessThan(30)
})

test('a job waits as long as its refusal says, up to the longest pause, and dies if that is too late', () => {
  const [duration, chance] = [fc.nat(3 * 3_600_000), fc.double({ min: 0, max: 1, noNaN: true })]
  const { maxPauseMs, attempts } = QUEUES.mail
  fc.assert(
    fc.property(
      duration,
      duration,
      fc.integer({ min: 1, max: attempts - 1 }),
      chance,
      (afterMs, withinMs, attempt, random) => {
        const job = { queue: 'mail', attempt, ageMs: 0 } as const
        const [ownMs, pauseMs] = [pauseAfter(job, {}, random) ?? 0, pauseAfter(job, { afterMs }, random) ?? 0]
        expect(pauseMs).toBeGreaterThanOrEqual(Math.max(ownMs, Math.min(afterMs, maxPauseMs)))
        expect(pauseMs).toBeLessThanOrEqual(1.25 * maxPauseMs)
        expect(pauseAfter(job, { afterMs, withinMs }, random)).toBe(pauseMs > withinMs ? null : pauseMs)
      },
    ),
  )
})
