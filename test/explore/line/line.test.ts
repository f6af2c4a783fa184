/** Every promise of the line holds in fifty orders of events, the same ones in each run. */
import { expect, test } from 'vitest'
import { describe, explore } from '../explorer.ts'
import { loadEdge } from './machine.ts'
import { linePart } from './part.ts'

const part = linePart(await loadEdge())

test('every promise holds in 50 orders of events', async () => {
  const failure = await explore(part, { seed: 1, orders: 50 })
  expect(failure && describe(failure, part)).toBeNull()
})

test('an order of events is the same each time it is played', async () => {
  for (const seed of [1, 2]) {
    const [once, again] = [await part.play(seed), await part.play(seed)]
    expect(again.steps).toEqual(once.steps)
  }
})
