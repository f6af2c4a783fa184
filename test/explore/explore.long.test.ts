/** Every promise holds in ten thousand orders of events, others in each run; each named point is reached. */
import { expect, test } from 'vitest'
import { seedOf } from '../lib/seed.ts'
import { describe, explore } from './explorer.ts'
import { Points } from './report.ts'
import { shopPart } from './shop/part.ts'
import { POINTS } from './shop/points.ts'
import { useStores } from './shop/use-stores.ts'

const stores = await useStores()
const seed = seedOf()
const points = new Points()

test.each(['checkout', 'payments'] as const)('every promise of %s holds in 5,000 orders of events', async (name) => {
  const part = shopPart(stores, name)
  const failure = await explore(part, { seed, orders: 5_000 }, (_, { steps }) => points.add(steps))
  expect(failure && describe(failure, part)).toBeNull()
})

test('they reach each point of the code', () => {
  expect(points.missing(POINTS)).toEqual([])
  expect(points.unnamed()).toEqual([])
})
