/**
 * Numbers when the platform evicts the objects in mid-crowd: unique, never moved back, and in order within a lease's
 * life.
 */
import { abortAllDurableObjects } from 'cloudflare:test'
import { expect, it, vi } from 'vitest'
import { WITHIN_MS } from '../../testing/clocks.ts'
import { knownCookie, TestSale } from '../../testing/visitors.ts'
import { LEASE_MS } from './lease.ts'

it('never gives a number twice, however often the objects are evicted in mid-crowd', async () => {
  const sale = await new TestSale().publish()
  const numbers: number[] = []
  let crowdIsHere = true
  const crowd = Array.from({ length: 12 }, async (_, visitor) => {
    for (let i = 0; i < 15; i++) {
      // One in three is known by a cookie of their own.
      numbers.push((await sale.joined(i % 3 ? {} : { cookie: knownCookie(`visitor-number-${visitor}-${i}`) })).number)
    }
  })
  // Each time some have got through: on a busy machine nobody would get through within a fixed time.
  const evict = (async () => {
    while (crowdIsHere) {
      await abortAllDurableObjects()
      const wanted = numbers.length + 16
      await vi.waitUntil(() => !crowdIsHere || numbers.length >= wanted, { timeout: WITHIN_MS, interval: 5 })
    }
  })()
  await Promise.all(crowd).finally(() => {
    crowdIsHere = false
  })
  await evict
  expect(new Set(numbers).size).toBe(numbers.length)
  expect(numbers.length).toBe(12 * 15)
})

it('never moves the line back when the waiting room restarts', async () => {
  const sale = await new TestSale().publish({ admission: { rate_per_second: 50, max_inside: null } })
  for (let i = 0; i < 40; i++) await sale.joined()
  await sale.until((schedule) => schedule.phase === 'open')
  let before = 0
  for (let i = 0; i < 15; i++) {
    if (i % 3 === 1) await abortAllDurableObjects()
    const { now_serving } = await sale.statusOf((await sale.joined()).queue_token)
    expect(now_serving).toBeGreaterThanOrEqual(before)
    before = now_serving
  }
})

it('keeps the order of arrival within the life of a lease', async () => {
  const sale = await new TestSale().publish()
  const arrivals: { atMs: number; number: number }[] = []
  let roundTripMs = 0
  const untilMs = performance.now() + 2 * LEASE_MS
  const visitors = Array.from({ length: 20 }, async (_, visitor) => {
    for (let [i, atMs] = [0, 0]; atMs < untilMs; i++) {
      atMs = performance.now()
      const cookie: Record<string, string> =
        visitor % 2 ? { cookie: knownCookie(`one-of-a-crowd-${visitor}-${i}`) } : {}
      const { number } = await sale.joined(cookie)
      arrivals.push({ atMs, number })
      roundTripMs = Math.max(roundTripMs, performance.now() - atMs)
    }
  })
  await Promise.all(visitors)
  arrivals.sort((a, b) => a.number - b.number)
  let latest = 0
  let worst = 0
  for (const { atMs } of arrivals) {
    worst = Math.max(worst, latest - atMs)
    latest = Math.max(latest, atMs)
  }
  expect(worst).toBeLessThan(LEASE_MS + roundTripMs)
})
