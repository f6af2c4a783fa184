import { describe, expect, it } from 'vitest'
import type { ChartSeat } from '../../../shared/api/hall.ts'
import { hallOf, type Point } from '../../../shared/hall/hall-model.ts'
import { type Line, linesThatFit, roomIn, rowMarks, stageMark } from './marks.ts'

/** Each letter is as wide as half of its height. */
const widthOf = ({ text, px }: Line) => (text.length * px) / 2
const inBox = (width: number, most: number) => (height: number) => (height <= most ? width : 0)
const TEXTS = ['Stalls', 'from €74', '71 free']

describe('the texts of a section', () => {
  it.each<[width: number, height: number, ...shown: string[]]>([
    [80, 60, 'Stalls 14', 'from €74 12', '71 free 12'],
    [80, 40, 'Stalls 14', 'from €74 12'],
    [52, 60, 'Stalls 14'],
    [80, 20, 'Stalls 14'],
    [42, 60, 'Stalls 11'],
    [30, 60],
    [80, 8],
  ])('in a box of %i to %i pixels go before they would be written over others', (width, height, ...shown) => {
    const lines = linesThatFit(TEXTS, widthOf, inBox(width, height))
    expect(lines.map(({ text, px }) => `${text} ${px}`)).toEqual(shown)
  })

  it('have the room of their outline, also where its box is larger', () => {
    const trapezoid: Point[] = [[0, 0], [100, 0], [80, 40], [20, 40]] // biome-ignore format: points
    expect(roomIn(trapezoid, [50, 20], 0)).toBe(80)
    expect(roomIn(trapezoid, [50, 20], 38)).toBeCloseTo(61)
    expect(roomIn(trapezoid, [50, 20], 60)).toBe(0)
    expect(roomIn(trapezoid, [-5, 20], 0)).toBe(0)
  })
})

const seat = (row: string, y: number, place: number): ChartSeat => ({
  ...{ seat_id: `${row}-${place}`, row, number: String(place), place, x: place, y },
  ...{ category: 'front', kind: 'standard', price_minor: 4_000 },
})
const hall = hallOf({
  version: 1,
  focal_point: { x: 5, y: -3 },
  categories: [],
  sections: [
    {
      section_id: 'stalls',
      name: 'Stalls',
      type: 'reserved',
      seats: ['A', 'B'].flatMap((row, y) => Array.from({ length: 11 }, (_, place) => seat(row, y, place))),
    },
  ],
})
const screen = (x: number, y: number) => ({ view: { k: 40, x, y }, width: 200, height: 300 })

it('writes the name of a row at both of its ends, and at the edges where it continues', () => {
  const marks = rowMarks(hall, screen(-100, 150))
  expect(marks).toHaveLength(4)
  expect(marks.slice(0, 2)).toEqual([
    { text: 'A', x: 12, y: 150, isStuck: true },
    { text: 'A', x: 188, y: 150, isStuck: true },
  ])
  const [first] = rowMarks(hall, screen(60, 150))
  expect(first).toEqual({ text: 'A', x: 60 - 41, y: 150, isStuck: false })
  expect(rowMarks(hall, screen(-1_000, 150))).toEqual([])
})

it.each([
  ['at its place', screen(-100, 200), { text: 'Stage', x: 100, y: 80, isStuck: false }],
  ['by an arrow up', screen(-100, 20), { text: '↑ Stage', y: 30, isStuck: true }],
  ['by an arrow to the side', screen(-600, 200), { text: '← Stage', isStuck: true }],
] as const)('names the stage %s', (_, at, mark) => {
  expect(stageMark(hall, 'Stage', at)).toMatchObject(mark)
})

it('names the stage above the seats where the focal point is among them', () => {
  const among = { ...hall, focalPoint: { x: 5, y: 0 } }
  const { y, isStuck } = stageMark(among, 'Stage', screen(-100, 200))
  // The outline of the section begins 0.8 seats above the first row.
  expect([y, isStuck]).toEqual([200 - 0.8 * 40 - 13, false])
})
