import { expect, test } from 'vitest'
import { addTime, bucketsOf, lately, type Timed, timesOf } from './provider-times.ts'

const timed = (...times: number[]) => times.reduce<readonly Timed[]>((all, ms) => addTime(all, ms, 0), [])

test('half and 95 of 100 answers of all workers came within these times, to a class', () => {
  const quick = bucketsOf(timed(...Array.from({ length: 90 }, () => 100)))
  const slow = bucketsOf(timed(...Array.from({ length: 10 }, () => 4_000)))
  const times = timesOf([quick, slow, []])
  expect(times?.calls).toBe(100)
  expect(times?.half).toBeGreaterThanOrEqual(100)
  expect(times?.half).toBeLessThan(141)
  expect(times?.most).toBeGreaterThanOrEqual(4_000)
  expect(times?.most).toBeLessThan(5_600)
  expect(timesOf([])).toBeNull()
  expect(timesOf([bucketsOf(timed(10 ** 7))])?.calls).toBe(1)
})

test('an answer counts for a minute, and a worker remembers its last ones', () => {
  const times = addTime(addTime([], 5, 0), 6, 50_000)
  expect(lately(times, 60_000)).toEqual([{ ms: 6, atMs: 50_000 }])
  expect(timed(...Array.from({ length: 600 }, (_, i) => i))).toHaveLength(500)
})
