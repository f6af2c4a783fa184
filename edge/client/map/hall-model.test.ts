import { describe, expect, it } from 'vitest'
import { fits, stillFree, toggled, unitsIn } from './choice.ts'
import { type Chart, decodeStates, hallOf, isInside, neighbourOf, type Seat, SeatGrid } from './hall-model.ts'

const seat = (row: number, place: number, changes: object = {}) => ({
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

const CHART: Chart = {
  version: 3,
  focal_point: { x: 45, y: -30 },
  categories: [
    { category: 'back', price_minor: 4_000 },
    { category: 'front', price_minor: 9_000 },
  ],
  sections: [
    { section_id: 'stalls', name: 'Stalls', seats: rows(4, 10) },
    { section_id: 'side', name: 'Side', seats: [seat(0, 12, { kind: 'accessible' })] },
    {
      section_id: 'pit',
      name: 'Pit',
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

describe('the states of a section', () => {
  it('are two bits a seat, the first in the highest bits', () => {
    // 00 01 10 11, 01 00 ..
    expect([...decodeStates(btoa(String.fromCharCode(0b00011011, 0b01000000)), 6)]).toEqual([0, 1, 2, 3, 1, 0])
  })

  it('count a seat as taken that the answer does not have', () => {
    expect([...decodeStates(btoa(String.fromCharCode(0)), 6)]).toEqual([0, 0, 0, 0, 1, 1])
  })
})

describe('a hall', () => {
  it('numbers seats through its sections, and knows their distance', () => {
    expect(hall.seats.map(({ index }) => index)).toEqual(hall.seats.map((_, i) => i))
    expect(hall.sections.map(({ first }) => first)).toEqual([0, 40, 41])
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
    expect(hall.bounds.y0).toBe(-40)
  })

  it('without seats and outlines is still one', () => {
    expect(hallOf({ ...CHART, sections: [] }).seats).toEqual([])
  })
})

describe('a press', () => {
  const grid = new SeatGrid(hall)

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
  const go = (from: string, ...way: Parameters<typeof neighbourOf>[2][]) =>
    way.reduce<Seat | null>((at, direction) => at && neighbourOf(hall, at, direction), named(from))?.seat_id

  it('leads to the next seat of the row, to the row before and behind, and on into the next section', () => {
    expect([go('1-4', 'left'), go('1-4', 'right'), go('1-4', 'up')]).toEqual(['1-3', '1-5', '0-4'])
    expect([go('1-4', 'down'), go('0-9', 'right'), go('0-12', 'left')]).toEqual(['2-4', '0-12', '0-9'])
  })

  it('leads nowhere at the end of the hall', () => {
    expect(go('0-0', 'left')).toBeUndefined()
    expect(go('3-5', 'down')).toBeUndefined()
  })
})

describe('a choice', () => {
  it('grows and shrinks by presses, up to what one person may have', () => {
    const one = toggled([], named('0-1'), 2)
    expect(one?.map(({ seat_id }) => seat_id)).toEqual(['0-1'])
    expect(toggled(one ?? [], named('0-2'), 0)).toBeNull()
    expect(toggled(one ?? [], named('0-1'), 0)).toEqual([])
  })

  it('loses what somebody else has now, and says what', () => {
    const states = new Uint8Array(hall.seats.length)
    states[named('0-2').index] = 1
    const { chosen, gone } = stillFree([named('0-1'), named('0-2')], states)
    expect([chosen, gone].map((seats) => seats.map(({ seat_id }) => seat_id))).toEqual([['0-1'], ['0-2']])
  })

  it('counts places and products by their number', () => {
    const units = [
      { quantity: 3, price_minor: 500 },
      { quantity: 0, price_minor: 9 },
    ]
    expect(unitsIn(units)).toBe(3)
  })

  it('filters by price and by wheelchair places', () => {
    const all = { category: null, accessible: false }
    expect(fits(named('3-1'), { ...all, category: 'front' })).toBe(false)
    expect(fits(named('0-1'), { ...all, category: 'front' })).toBe(true)
    expect(fits(named('0-1'), { ...all, accessible: true })).toBe(false)
    expect(fits(named('0-12'), { ...all, accessible: true })).toBe(true)
  })
})
