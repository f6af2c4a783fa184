/** Every promise of the line holds in ten thousand orders of events, others in each run. */
import { expect, test } from 'vitest'
import { seedOf } from '../../lib/seed.ts'
import { describe, explore } from '../explorer.ts'
import { Points } from '../report.ts'
import { loadEdge } from './machine.ts'
import { linePart } from './part.ts'

test('every promise holds in 10,000 orders of events, and they reach each point', async () => {
  const part = linePart(await loadEdge())
  const points = new Points()
  const failure = await explore(part, { seed: seedOf(), orders: 10_000 }, (_, { steps }) => points.add(steps))
  expect(failure && describe(failure, part)).toBeNull()
  expect(points.missing(part.points)).toEqual([])
})
