import { expect, test } from 'vitest'
import { afterAttempt, HEALTHY, isFailing, roomFor, shareOf } from './pace.ts'

test('messages that fail together make an endpoint fail, and not be left alone for longer', () => {
  let health = HEALTHY
  const failed = { succeeded: false, isProbe: false }
  for (let i = 0; i < 40; i++) health = afterAttempt(health, failed, 0, 0.5)
  expect(isFailing(health)).toBe(true)
  expect(roomFor(health, 0, 128, 900)).toBe(0)
  expect(roomFor(health, 0, 128, 1_000)).toBe(1)
  for (let i = 0; i < 40; i++) health = afterAttempt(health, { ...failed, isProbe: true }, 0, 0.5)
  expect(health.probeAtMs).toBe(60_000)
  expect(roomFor(health, 1, 128, 60_000)).toBe(0)
  expect(roomFor(afterAttempt(health, { succeeded: true, isProbe: true }, 0), 0, 128, 0)).toBe(128)
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
