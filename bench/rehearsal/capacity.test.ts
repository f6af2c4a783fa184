/** How many may come each second: which step is next, what limits it, and the command with two tiny steps. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { limitOf, nextArrivals } from './capacity.ts'
import { rehearse } from './testing/rehearse.ts'

const out = mkdtempSync(join(tmpdir(), 'flash-sale-capacity-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

/** The steps on a system that can serve so many. */
function stepsUpTo(capacity: number, range: { from: number; most: number }) {
  const steps: { arrivals: number; good: boolean }[] = []
  for (;;) {
    const arrivals = nextArrivals(steps, range)
    if (arrivals === null) return steps
    steps.push({ arrivals, good: arrivals <= capacity })
  }
}

test('arrivals double until they are too many, and then close in on the highest that are not', () => {
  const steps = stepsUpTo(230, { from: 50, most: 5_000 })
  expect(steps.map(({ arrivals }) => arrivals)).toEqual([50, 100, 200, 400, 283, 238, 218])
})

test('arrivals halve while the first are too many, and end at the most that may come', () => {
  expect(stepsUpTo(1, { from: 8, most: 9 }).map(({ arrivals }) => arrivals)).toEqual([8, 4, 2, 1])
  expect(stepsUpTo(0, { from: 3, most: 9 }).at(-1)).toEqual({ arrivals: 1, good: false })
  expect(stepsUpTo(99, { from: 5, most: 12 }).map(({ arrivals }) => arrivals)).toEqual([5, 10, 12])
})

test('whatever the capacity, few steps find it to a tenth', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 500 }), (capacity, from) => {
      const steps = stepsUpTo(capacity, { from, most: 5_000 })
      const good = Math.max(...steps.flatMap((step) => (step.good ? step.arrivals : [])))
      expect(steps.length).toBeLessThanOrEqual(18)
      expect(good).toBeLessThanOrEqual(capacity)
      // Between whole numbers there may be nothing left to try.
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

test('the command raises arrivals on a system of its own, and says how many may come', async () => {
  // As slow as it may be: what is measured is no matter here.
  const args = '--capacity --from 5 --most 10 --step 2 --target 60000 --think 0.1 --timeouts 0 --seed 7'
  const { status, output } = await rehearse(out, args)
  expect(status, output).toBe(0)
  expect(output).toContain('At least 10 arrivals a second with p99 of joins, turns and checkouts below 1 min.')
  const { steps } = JSON.parse(readFileSync(join(out, 'capacity.json'), 'utf8'))
  const step = {
    good: true,
    unserved: 0,
    use: { edge: expect.any(Number), origin: expect.any(Number), Postgres: expect.any(Number) },
  }
  expect(steps).toMatchObject([
    { ...step, arrivals: 5 },
    { ...step, arrivals: 10 },
  ])
  for (const { p99Ms, bought } of steps) {
    expect(Math.min(p99Ms.joins, p99Ms.turns, p99Ms.checkouts)).toBeGreaterThan(0)
    expect(bought).toBeGreaterThan(0)
  }
})
