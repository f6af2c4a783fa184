import { describe, expect, it } from 'vitest'
import type { ChartSeat } from '../../../shared/api/hall.ts'
import { hallOf, type Seat } from '../../../shared/hall/hall-model.ts'
import { fits, freeByCategory, mixedSections, stillFree, toggleSeat, unitsIn } from './choice.ts'

const seat = (number: number, category: string, kind: ChartSeat['kind'] = 'standard'): ChartSeat => ({
  ...{ seat_id: `A-${number}`, row: 'A', number: String(number), place: number },
  ...{ x: number, y: 0, category, kind, price_minor: 4_000 },
})
const seats = [seat(0, 'front'), seat(1, 'front'), seat(2, 'back'), seat(3, 'front', 'accessible')]
const hall = hallOf({
  version: 1,
  focal_point: { x: 0, y: -10 },
  categories: [],
  sections: [{ section_id: 'stalls', name: 'Stalls', type: 'reserved', seats }],
})
const [first, second, cheap, wheelchair] = hall.seats as unknown as [Seat, Seat, Seat, Seat]

describe('a choice', () => {
  it('grows and shrinks by presses, up to what one person may have', () => {
    expect(toggleSeat([], first, 2)).toEqual([first])
    expect(toggleSeat([first], second, 0)).toBeNull()
    expect(toggleSeat([first], first, 0)).toEqual([])
  })

  it('loses what somebody else has now, and says what', () => {
    const states = new Uint8Array(hall.seats.length)
    states[second.index] = 1
    expect(stillFree([first, second], states)).toEqual({ chosen: [first], gone: [second] })
  })

  it('counts places and products by their number', () => {
    const units = [
      { quantity: 3, price_minor: 500 },
      { quantity: 0, price_minor: 9 },
    ]
    expect(unitsIn(units)).toBe(3)
  })

  it('counts what is free at each price, by the seats where a section has several', () => {
    const single = { section_id: 'circle', name: 'Circle', type: 'reserved', seats: [seat(9, 'back')] } as const
    const both = hallOf({
      ...{ version: 1, focal_point: { x: 0, y: 0 }, categories: [] },
      sections: [{ section_id: 'stalls', name: 'Stalls', type: 'reserved', seats }, single],
    })
    const [stalls] = both.sections
    const states = Uint8Array.from(both.seats, (_, i) => (i === 1 ? 1 : 0))
    const counted = (counts: [string, number][], known: typeof both.sections) =>
      [...freeByCategory(both, states, new Map(counts), new Set(known))].sort()
    expect(mixedSections(both)).toEqual([stalls])
    expect(counted([['stalls', 3], ['circle', 1]], [])).toEqual([]) // biome-ignore format: pairs
    const all = Object.entries({ back: 2, front: 2 })
    expect(counted([['circle', 1]], both.sections.slice(0, 1))).toEqual(all)
    expect(counted([], both.sections.slice(0, 1))).toEqual([['front', 2]])
  })

  it('filters by price and by wheelchair places', () => {
    const all = { category: null, accessible: false }
    expect(fits(cheap, { ...all, category: 'front' })).toBe(false)
    expect(fits(first, { ...all, category: 'front' })).toBe(true)
    expect(fits(first, { ...all, accessible: true })).toBe(false)
    expect(fits(wheelchair, { ...all, accessible: true })).toBe(true)
  })
})
