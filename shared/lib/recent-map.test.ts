import { array, assert, constantFrom, integer, property, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RecentMap } from './recent-map.ts'

const MAX = 8

describe('a recent map', () => {
  const call = tuple(constantFrom('set', 'get', 'delete'), integer({ min: 0, max: 15 }))

  test('keeps the last value of each of the half of `max` keys used last', () => {
    assert(
      property(array(call, { maxLength: 100, size: 'max' }), (calls) => {
        const recent = new RecentMap<number, number>(MAX)
        const all = new Map<number, number>()
        /** The keys in the order of their last use, including those that were deleted since. */
        let used: number[] = []
        calls.forEach(([what, key], at) => {
          if (what === 'delete') {
            recent.delete(key)
            all.delete(key)
            return
          }
          if (what === 'set') {
            recent.set(key, at)
            all.set(key, at)
          } else {
            const got = recent.get(key)
            if (got === undefined) return
            expect(got).toBe(all.get(key))
          }
          used = [...used.filter((one) => one !== key), key]
        })
        for (const key of used.slice(-MAX / 2)) expect(recent.get(key)).toBe(all.get(key))
      }),
      { numRuns: 250 },
    )
  })

  test('never holds more than `max` entries', () => {
    const recent = new RecentMap<number, true>(MAX)
    for (let key = 0; key < 100; key++) recent.set(key, true)
    const there = Array.from({ length: 100 }, (_, key) => key).filter((key) => recent.get(key))
    expect(there.length).toBeLessThanOrEqual(MAX)
    expect(there).toContain(99)
  })
})
