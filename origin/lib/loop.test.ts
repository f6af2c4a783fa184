import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createMetrics } from '../base/metrics.ts'
import { loop } from './loop.ts'

const log = pino({ level: 'silent' })

test('counts failed rounds and notes the time of the last success', async () => {
  const metrics = createMetrics()
  const seen = async (name: string) => {
    const text = await metrics.registry.metrics()
    return Number(new RegExp(`^${name}\\{actor="test"\\} (.+)$`, 'm').exec(text)?.[1])
  }
  let fails = true
  const began = Date.now() / 1000
  const actor = loop('test', 20, { log, metrics }, async () => {
    if (fails) throw new Error('no')
  })
  actor.start()
  const started = await seen('actor_last_success_timestamp_seconds')
  expect(started).toBeGreaterThanOrEqual(began)
  await expect.poll(() => seen('actor_failures_total')).toBeGreaterThanOrEqual(2)
  expect(await seen('actor_last_success_timestamp_seconds')).toBe(started)
  fails = false
  await expect.poll(() => seen('actor_last_success_timestamp_seconds')).toBeGreaterThan(started)
  await actor.stop()
})

test('starts another round at once when woken during a round', async () => {
  let rounds = 0
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { promise: round, resolve: endRound } = Promise.withResolvers<void>()
  const actor = loop('test', 60_000, { log, metrics: createMetrics() }, async () => {
    rounds++
    begin()
    await round
    return undefined
  })
  actor.start()
  await begun
  actor.wake()
  endRound()
  await expect.poll(() => rounds).toBe(2)
  // The actor ran only once more: a third round would have begun at once.
  for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate)
  expect(rounds).toBe(2)
  await actor.stop()
})

test('rests between two rounds, however often it is woken', async () => {
  let rounds = 0
  let again = true
  const round = async () => {
    rounds++
    actor.wake()
    return again
  }
  const actor = loop('test', 60_000, { log, metrics: createMetrics() }, round, 1_000)
  actor.start()
  for (let turns = 0; turns < 10; turns++) {
    await new Promise(setImmediate)
    actor.wake()
  }
  expect(rounds).toBe(1)
  await expect.poll(() => rounds).toBe(2)
  again = false
  await actor.stop()
})
