import { expect, test } from 'vitest'
import type { ChartSeat } from '../../../../../shared/api/hall.ts'
import { hallOf } from '../../../../../shared/hall/hall-model.ts'
import { bestLine, goodsLine, linesOf, sumOf } from './basket.ts'

const seat = (number: number, price_minor: number, kind: ChartSeat['kind'] = 'standard'): ChartSeat => ({
  ...{ seat_id: `A-${number}`, row: 'A', number: String(number), place: number, x: number, y: 0 },
  ...{ category: 'first', kind, price_minor },
})
const seats = [seat(1, 4_000), seat(2, 5_000), seat(3, 6_000), seat(4, 7_000), seat(5, 100, 'accessible')]
const map = hallOf({
  version: 1,
  focal_point: { x: 0, y: 0 },
  categories: [],
  sections: [{ section_id: 'stalls', name: 'Stalls', type: 'reserved', seats }],
})
/** The most expensive seat is sold. */
const states = Uint8Array.from([0, 0, 0, 2, 0])
const wish = { quantity: 2, together: true, accessible: false }

test('the best seats cost what the cheapest and the dearest free ones of their kind cost together', () => {
  expect(bestLine(map, states, wish)).toEqual({
    line: { quantity: 2, together: true },
    text: '2 × best seats, together',
    from_minor: 9_000,
    to_minor: 11_000,
  })
  expect(() => bestLine(map, states, { ...wish, quantity: 4 })).toThrow('Only 3 such seats are free.')
  expect(() => bestLine(map, states, { ...wish, category: 'second' })).toThrow('Only 0 such seats are free.')
})

test('a basket is one order: chosen seats by section, then the rest, with a sum of all', () => {
  const standing = goodsLine({ name: 'Floor', price_minor: 3_000, line: { section_id: 'floor' } }, 3)
  const others = [standing, bestLine(map, states, wish)]
  expect(linesOf(map, [0, 1], others)).toEqual([
    { section_id: 'stalls', seats: ['A-1', 'A-2'] },
    { section_id: 'floor', quantity: 3 },
    { quantity: 2, together: true },
  ])
  expect(sumOf(map, [0, 1], others)).toEqual({ from_minor: 27_000, to_minor: 29_000 })
})
