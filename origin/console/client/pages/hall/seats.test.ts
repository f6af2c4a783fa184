import { describe, expect, it } from 'vitest'
import type { ChartDocument, ChartSeat } from '../../../../../shared/api/hall.ts'
import { hallOf, type Seat } from '../../../../../shared/hall/hall-model.ts'
import { bySection, countsOf, numbersIn, rowOf, rowsInWords, toggleSeats, within } from './seats.ts'

const seat = (row: string, number: number, y: number): ChartSeat => ({
  ...{ seat_id: `${row}-${number}`, row, number: String(number), place: number, x: 20 * number, y },
  ...{ category: 'first', kind: 'standard' as const, price_minor: 5_000 },
})
const rowFrom = (row: string, y: number) => [1, 2, 3, 4].map((number) => seat(row, number, y))
/** One section has two rows of four seats each, and another section has a row of the same name. */
const chart: ChartDocument = {
  version: 3,
  focal_point: { x: 50, y: -40 },
  categories: [],
  sections: [
    { section_id: 'stalls', name: 'Stalls', type: 'reserved', seats: [...rowFrom('A', 0), ...rowFrom('B', 30)] },
    { section_id: 'floor', name: 'Floor', type: 'general_admission', seats: [] },
    { section_id: 'circle', name: 'Circle', type: 'reserved', seats: rowFrom('A', 100) },
  ],
}
const map = hallOf(chart)

describe('the map of a hall', () => {
  it('counts seats by state, finds a row within its section, and the seats of a rectangle', () => {
    expect(countsOf(Uint8Array.from([0, 1, 2, 3, 2, 0]))).toEqual({ free: 2, held: 1, sold: 2, blocked: 1 })
    expect(rowOf(map.seats[1] as Seat)).toEqual([0, 1, 2, 3])
    expect(rowOf(map.seats[11] as Seat)).toEqual([8, 9, 10, 11])
    expect(within(map, { x0: 35, x1: 65, y0: -5, y1: 35 })).toEqual([1, 2, 5, 6])
  })

  it('adds seats to those chosen, and takes out those that all were', () => {
    expect([...toggleSeats(new Set([1]), [0, 1])]).toEqual([1, 0])
    expect([...toggleSeats(new Set([0, 1, 2]), [0, 1])]).toEqual([2])
  })
})

describe('seats by their names', () => {
  const row = ['1', '2', '3', '4', '4-A']

  it('are read as people write them', () => {
    expect(numbersIn('1-3, 4-A', row)).toEqual(['1', '2', '3', '4-A'])
    expect(numbersIn('3 – 2,2', row)).toEqual(['2', '3'])
    expect(() => numbersIn('2-9', row)).toThrow('This row has no seat 9.')
  })

  it('are told row by row, neighbours as a range', () => {
    expect(rowsInWords(map, new Set([3, 0, 1, 6, 8]))).toEqual([
      'Stalls, row A: 1–2, 4',
      'Stalls, row B: 3',
      'Circle, row A: 1',
    ])
  })

  it('are sent by section', () => {
    expect([...bySection(map, [0, 8, 5])]).toEqual([
      ['stalls', ['A-1', 'B-2']],
      ['circle', ['A-1']],
    ])
  })
})
