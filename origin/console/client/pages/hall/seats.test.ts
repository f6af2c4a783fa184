import { describe, expect, it } from 'vitest'
import type { Chart, ChartSeat } from './hall-api.ts'
import {
  bySection,
  countsOf,
  neighbourOf,
  numbersIn,
  rowOf,
  rowsInWords,
  seatAt,
  seatMapOf,
  statesOf,
  toggled,
  within,
} from './seats.ts'

const seat = (row: string, number: number, y: number): ChartSeat => ({
  ...{ seat_id: `${row}-${number}`, row, number: String(number), x: 20 * number, y },
  ...{ category: 'first', kind: 'standard' as const, price_minor: 5_000 },
})
const rowFrom = (row: string, y: number) => [1, 2, 3, 4].map((number) => seat(row, number, y))
const OUTLINE: Chart['sections'][number]['outline'] = [
  [0, 40],
  [200, 40],
]
/** One section has two rows of four seats each, and another section has a row of the same name. */
const chart: Chart = {
  version: 3,
  focal_point: { x: 50, y: -40 },
  sections: [
    { section_id: 'stalls', name: 'Stalls', type: 'reserved', seats: [...rowFrom('A', 0), ...rowFrom('B', 30)] },
    { section_id: 'floor', name: 'Floor', type: 'general_admission', outline: OUTLINE, seats: [] },
    { section_id: 'circle', name: 'Circle', type: 'reserved', seats: rowFrom('A', 100) },
  ],
}
const map = seatMapOf(chart)

describe('the map of a hall', () => {
  it('holds all seats in the order of the chart, and reaches around seats, outlines and focal point', () => {
    const seats = map.seats.map(({ section, seat_id }) => `${section.section_id} ${seat_id}`)
    expect(seats.slice(3, 5)).toEqual(['stalls A-4', 'stalls B-1'])
    expect(seats.slice(7, 9)).toEqual(['stalls B-4', 'circle A-1'])
    expect(map.pitch).toBe(20)
    expect(map.box).toEqual({ left: -20, top: -60, right: 220, bottom: 120 })
  })

  it('reads two bits a seat, the first seat in the highest', () => {
    // The seats are free, held, sold and blocked, then sold and free.
    const states = statesOf(btoa(String.fromCharCode(0b00_01_10_11, 0b10_00_00_00)), 12)
    expect([...states]).toEqual([0, 1, 2, 3, 2, 0, 0, 0, 0, 0, 0, 0])
    expect(countsOf(states)).toEqual({ free: 8, held: 1, sold: 2, blocked: 1 })
  })

  it('finds a row within its section, the seats of a rectangle, and the seat near a point', () => {
    expect(rowOf(map, 1)).toEqual([0, 1, 2, 3])
    expect(rowOf(map, 11)).toEqual([8, 9, 10, 11])
    expect(within(map, { left: 35, right: 65, top: -5, bottom: 35 })).toEqual([1, 2, 5, 6])
    expect(seatAt(map, 43, 2, 10)).toBe(1)
    expect(seatAt(map, 43, 15, 10)).toBe(-1)
  })

  it('leads from seat to seat by arrow keys, and stays at the edge', () => {
    expect(neighbourOf(map, -1, 'ArrowRight')).toBe(0)
    expect(neighbourOf(map, 0, 'ArrowRight')).toBe(1)
    expect(neighbourOf(map, 1, 'ArrowDown')).toBe(5)
    expect(neighbourOf(map, 5, 'ArrowDown')).toBe(9)
    expect(neighbourOf(map, 0, 'ArrowLeft')).toBe(0)
  })

  it('adds seats to those chosen, and takes out those that all were', () => {
    expect([...toggled(new Set([1]), [0, 1])]).toEqual([1, 0])
    expect([...toggled(new Set([0, 1, 2]), [0, 1])]).toEqual([2])
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
