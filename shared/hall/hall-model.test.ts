import { describe, expect, it } from 'vitest'
import { type ChartDocument, type ChartSeat, SEAT_STATES } from '../api/hall.ts'
import { type Arrow, hallOf, isInside, neighbourOf, packStates, type Seat, unpackStates } from './hall-model.ts'

const seat = (row: number, place: number, changes: Partial<ChartSeat> = {}): ChartSeat => ({
  seat_id: `${row}-${place}`,
  row: String(row),
  number: String(2 * place + 1),
  place,
  x: place * 10,
  y: row * 12,
  category: row < 2 ? 'front' : 'back',
  kind: 'standard',
  price_minor: row < 2 ? 9_000 : 4_000,
  ...changes,
})
const rows = (many: number, places: number) =>
  Array.from({ length: many * places }, (_, i) => seat(Math.floor(i / places), i % places))

const CHART: ChartDocument = {
  version: 3,
  focal_point: { x: 45, y: -30 },
  categories: [
    { category: 'back', price_minor: 4_000 },
    { category: 'front', price_minor: 9_000 },
  ],
  sections: [
    { section_id: 'stalls', name: 'Stalls', type: 'reserved', seats: rows(4, 10) },
    { section_id: 'side', name: 'Side', type: 'reserved', seats: [seat(0, 12, { kind: 'accessible' })] },
    {
      section_id: 'pit',
      name: 'Pit',
      type: 'general_admission',
      seats: [],
      outline: [
        [0, -20],
        [90, -20],
        [90, -10],
        [0, -10],
      ],
    },
  ],
}
const hall = hallOf(CHART)
const named = (id: string) => hall.seats.find(({ seat_id }) => seat_id === id) as Seat

it('takes the middle of a section, or a seat of one that bends around its middle', () => {
  expect(hall.sections.map(({ center }) => center)).toEqual([[45, 18], [120, 0], [45, -15]]) // biome-ignore format: points
  const outline: [number, number][] = [[-5, -5], [95, -5], [95, 5], [5, 5], [5, 95], [-5, 95]] // biome-ignore format: points
  const corner = [seat(0, 0), seat(0, 9), seat(0, 0, { seat_id: 'z', y: 90 })]
  const [bent] = hallOf({
    ...CHART,
    sections: [{ section_id: 'bent', name: 'Bent', type: 'reserved', outline, seats: corner }],
  }).sections
  expect(bent?.center).toEqual([0, 0])
})

describe('the states of seats', () => {
  it('are two bits a seat, the first in the highest bits', () => {
    // The bytes are 00 01 10 11 and 01 00 00 00.
    expect(packStates([])).toBe('')
    expect(packStates([0, 1, 2, 3, 1])).toBe('G0A=')
    const states = Array.from({ length: 1_001 }, (_, i) => (i * 7) % SEAT_STATES.length)
    expect([...unpackStates(packStates(states), states.length)]).toEqual(states)
  })

  it('count a seat as held that the answer does not have', () => {
    expect([...unpackStates(packStates([0, 0, 0, 0]), 6)]).toEqual([0, 0, 0, 0, 1, 1])
  })
})

describe('a hall', () => {
  it('numbers seats through its sections, and knows their distance', () => {
    expect(hall.seats.map(({ index }) => index)).toEqual(hall.seats.map((_, i) => i))
    expect(hall.sections.map(({ first }) => first)).toEqual([0, 40, 41])
    for (const section of hall.sections) for (const seat of section.seats) expect(seat.section).toBe(section)
    expect(hall.spacing).toBe(10)
    expect(hall.sections.map(({ priceFrom }) => priceFrom)).toEqual([4_000, 9_000, null])
  })

  it('shows the dearest category strongest, and has four tiers at most', () => {
    expect(hall.tiers).toEqual(
      new Map(
        [
          ['front', 1],
          ['back', 2],
        ].map(([name, tier]) => [name, tier] as const),
      ),
    )
    const many = Array.from({ length: 9 }, (_, i) => ({ category: `c${i}`, price_minor: i * 100 }))
    const tiers = [...hallOf({ ...CHART, categories: many }).tiers.values()]
    expect([Math.min(...tiers), Math.max(...tiers)]).toEqual([1, 4])
  })

  it('outlines a section by its seats where it was given no outline', () => {
    const [stalls, , pit] = hall.sections
    expect(isInside([45, 18], stalls?.outline ?? [])).toBe(true)
    expect(isInside([-20, 18], stalls?.outline ?? [])).toBe(false)
    for (const { x, y } of stalls?.seats ?? []) expect(isInside([x, y], stalls?.outline ?? [])).toBe(true)
    expect(isInside([45, -15], pit?.outline ?? [])).toBe(true)
    // All seats, all outlines and the focal point are within the bounds, with space for a seat.
    expect(hall.bounds).toEqual({ x0: -18, y0: -40, x1: 138, y1: 54 })
  })

  it('without seats and outlines is still one', () => {
    expect(hallOf({ ...CHART, sections: [] }).seats).toEqual([])
  })
})

describe('a press', () => {
  const { grid } = hall

  it('finds the nearest seat within reach, and none beyond', () => {
    expect([grid.nearest([31, 11], 6)?.seat_id, grid.nearest([34.9, 12], 6)?.seat_id]).toEqual(['1-3', '1-3'])
    expect(grid.nearest([35.1, 12], 6)?.seat_id).toBe('1-4')
    expect(grid.nearest([45, -30], 6)).toBeNull()
  })

  it('looks at every seat of a box once, however large the box', () => {
    for (const size of [60, 1e9]) {
      const seen: number[] = []
      grid.inside({ x0: -size, y0: -size, x1: 200 + size, y1: 200 + size }, ({ index }) => seen.push(index))
      expect(seen.toSorted((a, b) => a - b)).toEqual(hall.seats.map(({ index }) => index))
    }
  })
})

describe('an arrow key', () => {
  const go = (from: string, arrow: Arrow) => neighbourOf(hall, named(from), arrow)?.seat_id

  it.each<[from: string, arrow: Arrow, to: string | undefined, where: string]>([
    ['1-4', 'ArrowLeft', '1-3', 'to the next seat of the row'],
    ['1-4', 'ArrowRight', '1-5', 'to the next seat of the row'],
    ['1-4', 'ArrowUp', '0-4', 'to the row in front'],
    ['1-4', 'ArrowDown', '2-4', 'to the row behind'],
    ['0-9', 'ArrowRight', '0-12', 'into the next section'],
    ['0-12', 'ArrowLeft', '0-9', 'into the section before'],
    ['0-0', 'ArrowLeft', undefined, 'nowhere at the end of a row'],
    ['3-5', 'ArrowDown', undefined, 'nowhere at the end of the hall'],
  ])('leads from %s by %s to %s: %s', (from, arrow, to) => {
    expect(go(from, arrow)).toBe(to)
  })

  it('follows a curved row, whose next seat is as far aside as ahead', () => {
    const curved = hallOf({
      ...CHART,
      sections: [{ ...CHART.sections[0], seats: [seat(0, 0), seat(0, 1, { y: 10 })] } as never],
    })
    expect(neighbourOf(curved, curved.seats[0] as Seat, 'ArrowRight')?.seat_id).toBe('0-1')
  })
})
