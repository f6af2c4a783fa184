import { expect, test } from 'vitest'
import { UnderWay } from './load-shedder.ts'

/** From so many calls under way the edge is told to slow down, and from so many more are turned away. */
const [SLOW, FULL] = [400, 2_000]

/** Lets in as many as there is room for, of those who come; returns how many that were. */
function come(underWay: UnderWay, sale: string | undefined, callers: number): number {
  let entered = 0
  for (let i = 0; i < callers; i++) if (underWay.enter(sale)) entered++
  return entered
}

test('a sale that is alone has all the room', () => {
  const underWay = new UnderWay()
  expect(come(underWay, 'hot', SLOW - 1)).toBe(SLOW - 1)
  expect(underWay.isSlow('hot')).toBe(false)
  expect(come(underWay, 'hot', FULL)).toBe(FULL - SLOW + 1)
  expect(underWay.isSlow('hot')).toBe(true)
  underWay.leave('hot')
  expect(come(underWay, 'hot', 2)).toBe(1)
})

test('a hammered sale takes neither the room of another nor its good name', () => {
  const underWay = new UnderWay()
  come(underWay, 'hot', FULL)
  expect(underWay.isSlow('other')).toBe(false)
  expect(come(underWay, 'other', SLOW / 2 - 1)).toBe(SLOW / 2 - 1)
  expect([underWay.isSlow('other'), underWay.isSlow('hot')]).toEqual([false, true])
  expect(underWay.enter('hot')).toBe(false)
  expect(come(underWay, 'other', FULL)).toBe(FULL / 2 - SLOW / 2 + 1)
  expect(underWay.isSlow('other')).toBe(true)
})

test('a share is of the sales that have calls under way, and comes back when they end', () => {
  const underWay = new UnderWay()
  for (const sale of ['a', 'b', 'c']) underWay.enter(sale)
  come(underWay, 'hot', FULL)
  expect(come(underWay, 'a', FULL)).toBe(FULL / 4 - 1)
  for (const sale of ['b', 'c']) underWay.leave(sale)
  expect(come(underWay, 'a', FULL)).toBe(FULL / 2 - FULL / 4)
})

test('sales that there are not fill up what is left, and take no share from those that there are', () => {
  const underWay = new UnderWay()
  expect(come(underWay, undefined, FULL + 1)).toBe(FULL)
  expect(underWay.isSlow('one')).toBe(false)
  expect(come(underWay, 'one', FULL + 1)).toBe(FULL)
  underWay.leave(undefined)
  expect(underWay.enter(undefined)).toBe(false)
})
