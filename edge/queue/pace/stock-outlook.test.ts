import { describe, expect, it, test } from 'vitest'
import { play, stateOf } from '../../testing/simulation.ts'
import { EMPTY_MEMORY } from './memory.ts'
import { about, lastsForPositions } from './stock-outlook.ts'

const SETTINGS = { claimSeconds: 180, admissionsPerUnit: 1.2, noShowBoost: 2, answerTargetMs: 500 }
const line = { rate: 10, maxInside: null }

it.each([
  [0, 0],
  [7, 7],
  [99, 99],
  [123, 120],
  [9_876, 9_800],
  [1_234_567, 1_200_000],
])('says about %i as %i', (exactly, told) => {
  expect(about(exactly)).toBe(told)
})

describe('how far the stock lasts', () => {
  it('is one unit for each of those who wait, while few have come', () => {
    expect(lastsForPositions(stateOf(line, { available: 14 }), EMPTY_MEMORY, 0, SETTINGS)).toBe(14)
    const some = stateOf(line, { available: 50, held: 10, arrivals: 19 })
    expect(lastsForPositions(some, { ...EMPTY_MEMORY, arrivals: 19 }, 20, SETTINGS)).toBe(49)
  })

  it('is unknown while nobody counts them', () => {
    const memory = { ...EMPTY_MEMORY, arrivals: 100 }
    expect(lastsForPositions(stateOf(line, { available: 50, held: 50 }, 'uncounted'), memory, 100, SETTINGS)).toBeNull()
  })

  it('is as many positions as there are units, where everyone comes and takes one', () => {
    const state = stateOf(line, { available: 500, sold: 100, arrivals: 100 })
    const samples = [{ open_ms: 0, called: 100, arrivals: 100 }]
    const memory = { ...EMPTY_MEMORY, open_ms: 60_000, arrivals: 100, samples }
    expect(lastsForPositions(state, memory, 100, SETTINGS)).toBe(500)
  })
})

test.each([
  ['everyone comes and buys', { showShare: 1, abandoned: 0 }],
  ['three of ten never come', { showShare: 0.7, abandoned: 0 }],
  ['two of ten give back what they took', { showShare: 0.9, abandoned: 0.2 }],
])('is right within a fifth, half way through: %s', (_, people) => {
  const crowd = { crowd: 20_000, stock: 3_000, rate: 20, maxInside: null, seconds: 1_200, seed: 7 }
  const pace = { slowestArrivalMs: 5_000, slowestPaymentMs: 20_000 }
  let foretold: number | undefined
  let last = 0
  for (const { sold, called, available, schedule } of play({ ...crowd, ...pace, ...people })) {
    const lasts = schedule.lasts_for_positions
    if (sold > 1_500 && foretold === undefined && lasts !== null) foretold = called + lasts
    if (available > 0) last = called
  }
  expect(Math.abs((foretold ?? 0) / last - 1)).toBeLessThan(0.2)
})
