/**
 * Every promise of the line holds in ten thousand orders of events, others in each run; and the explorer finds each
 * break of its protocol.
 */
import { expect, test } from 'vitest'
import { seedOf } from '../../lib/seed.ts'
import { describe, explore, stepsOf } from '../explorer.ts'
import { Points } from '../report.ts'
import { BREAKS } from './breaks.ts'
import { loadEdge } from './machine.ts'
import { linePart } from './part.ts'

test('every promise holds in 10,000 orders of events, and they reach each point', async () => {
  const part = linePart(await loadEdge())
  const points = new Points()
  const failure = await explore(part, { seed: seedOf(), orders: 10_000 }, (_, { steps }) => points.add(steps))
  expect(failure && describe(failure, part)).toBeNull()
  expect(points.missing(part.points)).toEqual([])
})

test.each(Object.entries(BREAKS))('finds within 1,000 orders that %s', async (_, change) => {
  const part = linePart(await loadEdge([change]))
  const failure = await explore(part, { seed: 1, orders: 1_000 })
  expect(failure).not.toBeNull()
  if (failure) console.log(`Order ${failure.seed}, ${stepsOf(failure.short)} steps: ${failure.short.broken}`)
})
