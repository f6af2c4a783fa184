import { expect, test } from 'vitest'
import { LoadShedder } from './load-shedder.ts'

/** From so many calls under way the edge is told to slow down, and from so many more are turned away. */
const [SLOW, FULL] = [400, 2_000]

/** Lets in as many as there is room for, of those who come; returns how many that were. */
function come(loadShedder: LoadShedder, sale: string | undefined, callers: number): number {
  let entered = 0
  for (let i = 0; i < callers; i++) if (loadShedder.enter(sale)) entered++
  return entered
}

test('a sale that is alone has all the room', () => {
  const loadShedder = new LoadShedder()
  expect(come(loadShedder, 'hot', SLOW - 1)).toBe(SLOW - 1)
  expect(loadShedder.isSlow('hot')).toBe(false)
  expect(come(loadShedder, 'hot', FULL)).toBe(FULL - SLOW + 1)
  expect(loadShedder.isSlow('hot')).toBe(true)
  loadShedder.leave('hot')
  expect(come(loadShedder, 'hot', 2)).toBe(1)
})

test('a hammered sale takes neither the room of another nor its good name', () => {
  const loadShedder = new LoadShedder()
  come(loadShedder, 'hot', FULL)
  expect(loadShedder.isSlow('other')).toBe(false)
  expect(come(loadShedder, 'other', SLOW / 2 - 1)).toBe(SLOW / 2 - 1)
  expect([loadShedder.isSlow('other'), loadShedder.isSlow('hot')]).toEqual([false, true])
  expect(loadShedder.enter('hot')).toBe(false)
  expect(come(loadShedder, 'other', FULL)).toBe(FULL / 2 - SLOW / 2 + 1)
  expect(loadShedder.isSlow('other')).toBe(true)
})

test('a share is of the sales that have calls under way, and comes back when they end', () => {
  const loadShedder = new LoadShedder()
  for (const sale of ['a', 'b', 'c']) loadShedder.enter(sale)
  come(loadShedder, 'hot', FULL)
  expect(come(loadShedder, 'a', FULL)).toBe(FULL / 4 - 1)
  for (const sale of ['b', 'c']) loadShedder.leave(sale)
  expect(come(loadShedder, 'a', FULL)).toBe(FULL / 2 - FULL / 4)
})

test('sales that there are not fill up what is left, and take no share from those that there are', () => {
  const loadShedder = new LoadShedder()
  expect(come(loadShedder, undefined, FULL + 1)).toBe(FULL)
  expect(loadShedder.isSlow('one')).toBe(false)
  expect(come(loadShedder, 'one', FULL + 1)).toBe(FULL)
  loadShedder.leave(undefined)
  expect(loadShedder.enter(undefined)).toBe(false)
})
