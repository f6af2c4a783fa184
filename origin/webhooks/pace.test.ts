import { expect, test } from 'vitest'
import { afterAttempt, HEALTHY, isFailing, isLasting, roomFor, shareOf } from './pace.ts'

test('messages that fail together make an endpoint fail, and not be left alone for longer', () => {
  let health = HEALTHY
  const failed = { succeeded: false, isProbe: false, retryAfterMs: 0 }
  for (let i = 0; i < 40; i++) health = afterAttempt(health, failed, 0, 0.5)
  expect(isFailing(health)).toBe(true)
  expect(roomFor(health, 0, 128, 900)).toBe(0)
  expect(roomFor(health, 0, 128, 1_000)).toBe(1)
  for (let i = 0; i < 40; i++) health = afterAttempt(health, { ...failed, isProbe: true }, 0, 0.5)
  expect(health.probeAtMs).toBe(60_000)
  expect(roomFor(health, 1, 128, 60_000)).toBe(0)
  expect(roomFor(afterAttempt(health, { ...failed, succeeded: true }, 0), 0, 128, 0)).toBe(128)
})

test('an endpoint gets nothing while it asks for a rest, whatever it accepts meanwhile, and for two hours at most', () => {
  const failed = { succeeded: false, isProbe: false, retryAfterMs: 300_000 }
  const resting = afterAttempt(HEALTHY, failed, 1_000)
  const accepted = afterAttempt(resting, { ...failed, succeeded: true }, 2_000)
  for (const health of [resting, afterAttempt(resting, { ...failed, retryAfterMs: 0 }, 2_000), accepted]) {
    expect(roomFor(health, 0, 128, 300_999)).toBe(0)
    expect(roomFor(health, 0, 128, 301_000)).toBe(128)
  }
  expect(afterAttempt(accepted, { ...failed, succeeded: true }, 301_000)).toBe(HEALTHY)
  const tooLong = afterAttempt(HEALTHY, { ...failed, retryAfterMs: 10 ** 9 }, 0)
  expect(roomFor(tooLong, 0, 128, 2 * 3_600_000)).toBe(128)
})

test('an operator is informed of an endpoint after a minute, and of a message after eight attempts', () => {
  const failed = { succeeded: false, isProbe: false, retryAfterMs: 0 }
  const failing = afterAttempt(afterAttempt(HEALTHY, failed, 1_000), failed, 2_000)
  const isLastingAt = (nowMs: number, attempt = 2) => isLasting(failing, attempt, nowMs)
  expect([isLastingAt(60_999), isLastingAt(61_000), isLastingAt(2_000, 7), isLastingAt(2_000, 8)]).toEqual([
    false,
    true,
    false,
    true,
  ])
  expect(isLasting(HEALTHY, 1, 10 ** 9)).toBe(false)
})

test('beside buyers a backlog is sent by 600 messages a second, shared by its endpoints', () => {
  expect(shareOf('light', 150, 20, 128)).toBe(128)
  expect(shareOf('busy', 150, 1, 128)).toBe(90)
  expect(shareOf('busy', 150, 3, 128)).toBe(30)
  // A late round takes as many more messages, up to the limit, and each endpoint gets at least one.
  expect(shareOf('busy', 60_000, 1, 128)).toBe(128)
  expect(shareOf('busy', 5, 20, 128)).toBe(1)
})

test('where buyers need all there is, it waits for them: 50 messages a second', () => {
  expect(shareOf('full', 150, 1, 128)).toBe(8)
  expect(shareOf('full', 150, 20, 128)).toBe(1)
})
