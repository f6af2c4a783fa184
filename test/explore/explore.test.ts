/** Every promise holds in 40 orders of events, the same ones in each run; others are in the long tier. */
import { expect, test } from 'vitest'
import { describe, explore } from './explorer.ts'
import { shopPart } from './shop/part.ts'
import { useStores } from './shop/use-stores.ts'

const stores = await useStores()

test.each([
  ['checkout', 15],
  ['payments', 25],
] as const)('every promise of %s holds in %i orders of events', async (name, orders) => {
  const part = shopPart(stores, name)
  const failure = await explore(part, { seed: 1, orders })
  expect(failure && describe(failure, part)).toBeNull()
})

test('an order of events is the same each time it is played', async () => {
  const part = shopPart(stores, 'payments')
  for (const seed of [1, 2]) {
    const [once, again] = [await part.play(seed), await part.play(seed)]
    expect(again.steps).toEqual(once.steps)
  }
})
