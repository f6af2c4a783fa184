/** The limiter allows no key more than its rate, whatever other keys are used. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Limiter } from './limiter.ts'

it('allows in any period no more than a burst and what the rate adds', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200, size: 'max' }),
      (calls, seconds, gaps) => {
        const limiter = new Limiter()
        let nowMs = 1_000_000
        const passed: number[] = []
        for (const gap of gaps) {
          nowMs += gap
          if (limiter.take('one', { calls, seconds }, nowMs) === 0) passed.push(nowMs)
        }
        for (const [i, from] of passed.entries()) {
          const within = passed.filter((at) => at >= from && at <= from + seconds * 1000).length
          expect(within).toBeLessThanOrEqual(2 * calls + 1)
          if (i < calls) expect(passed.length).toBeGreaterThanOrEqual(Math.min(calls, gaps.length))
        }
      },
    ),
  )
})

it('allows no key more among many than alone, though they share slots', () => {
  const call = fc.record({ key: fc.integer({ min: 0, max: 30 }), gap: fc.integer({ min: 0, max: 2_000 }) })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(call, { maxLength: 300, size: 'max' }), (calls, all) => {
      const rate = { calls, seconds: 10 }
      const shared = new Limiter(8)
      const usedUntilMs = new Map<number, number>()
      let nowMs = 1_000_000
      for (const { key, gap } of all) {
        nowMs += gap
        if (shared.take(String(key), rate, nowMs) > 0) continue
        // The check treats the key as the only one, with the calls that were allowed so far.
        const alone = Math.max(nowMs, usedUntilMs.get(key) ?? 0) + 10_000 / calls
        expect(alone).toBeLessThanOrEqual(nowMs + 10_000)
        usedUntilMs.set(key, alone)
      }
    }),
  )
})

it('does not forget a busy key for fifty thousand others, nor refuse the others', () => {
  const limiter = new Limiter()
  const rate = { calls: 5, seconds: 60 }
  const take = (key: string) => limiter.take(key, rate, 1_000_000)
  for (let i = 0; i < 5; i++) expect(take('busy')).toBe(0)
  expect(take('busy')).toBeGreaterThan(0)
  const refused = Array.from({ length: 50_001 }, (_, i) => take(`other-${i}`)).filter((waitMs) => waitMs > 0)
  expect(take('busy')).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(10)
})

it('locks nobody out when the clock is put back', () => {
  const limiter = new Limiter()
  const rate = { calls: 1, seconds: 60 }
  expect([limiter.take('one', rate, 10_000_000), limiter.take('one', rate, 1_000_000)]).toEqual([0, 0])
  expect(limiter.take('one', rate, 1_000_000)).toBe(60_000)
})
