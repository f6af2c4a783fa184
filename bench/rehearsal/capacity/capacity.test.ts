/** The search for the capacity chooses the next step and names the limiting factor. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { limitOf, nextArrivals } from './capacity-search.ts'

/** The steps on a system that can serve this many. */
function stepsUpTo(capacity: number, range: { from: number; most: number }) {
  const steps: { arrivals: number; good: boolean }[] = []
  for (;;) {
    const arrivals = nextArrivals(steps, range)
    if (arrivals === null) return steps
    steps.push({ arrivals, good: arrivals <= capacity })
  }
}

test.each([
  ['double until they are too many, and then close in', 230, 50, 5_000, [50, 100, 200, 400, 283, 238, 218]],
  ['halve while the first are too many', 1, 8, 9, [8, 4, 2, 1]],
  ['end with one, if that is too many', 0, 3, 9, [3, 1]],
  ['end at the most that may come', 99, 5, 12, [5, 10, 12]],
])('arrivals %s', (_, capacity, from, most, steps) => {
  expect(stepsUpTo(capacity, { from, most }).map(({ arrivals }) => arrivals)).toEqual(steps)
})

test('whatever the capacity, few steps find it to a tenth', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 500 }), (capacity, from) => {
      const steps = stepsUpTo(capacity, { from, most: 5_000 })
      const good = Math.max(...steps.flatMap((step) => (step.good ? step.arrivals : [])))
      expect(steps.length).toBeLessThanOrEqual(18)
      expect(good).toBeLessThanOrEqual(capacity)
      // The next step is a whole number, so there may be none left between two steps.
      expect(capacity).toBeLessThan(Math.max(good * 1.1, good + 1))
    }),
  )
})

test('the limit is what uses most of a busy core or machine, the crowd itself included', () => {
  const idle = { edge: 0.2, origin: 0.3, Postgres: 0.1, Redis: 0, provider: 0.1, 'the crowd': 0.2 }
  expect(limitOf(idle, 2)).toBeNull()
  expect(limitOf({ ...idle, origin: 0.9 }, 8)).toBe('origin')
  expect(limitOf({ ...idle, edge: 0.7, origin: 0.6 }, 2)).toBe('edge')
  expect(limitOf({ ...idle, 'the crowd': 1 }, 2)).toBe('the crowd')
})
