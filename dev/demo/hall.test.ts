import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Chart } from '../../origin/seats/chart.ts'
import { SIZES } from './aurora.ts'
import { hallOf, unitsOf } from './hall.ts'

test('a hall has exactly as many seats as were asked for, each with a name and a bit of its own', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), (count) => {
      const { seats, sections, focalPoint, outlines } = hallOf(count)
      // The chart refuses two seats with the same name or index.
      expect(new Chart(seats, focalPoint).seats).toHaveLength(count)
      expect(seats.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, i) => i))
      for (const { section_id, type, total } of sections)
        if (type === 'reserved') {
          expect(seats.filter(({ section }) => section === section_id)).toHaveLength(total)
          expect(outlines[section_id]?.length).toBeGreaterThan(3)
        }
    }),
    { numRuns: 12 },
  )
})

test('an arena has seats of every kind, and places to stand', () => {
  const hall = hallOf(20_000)
  expect(new Set(hall.seats.map(({ kind }) => kind)).size).toBe(4)
  expect(hall.sections.at(-1)).toMatchObject({ type: 'general_admission', total: 1_333 })
  expect(unitsOf(hall)).toBe(20_000 + 1_333 + 1_000)
})

test('the sizes of the demo drop are in the order of their numbers, with halves between', () => {
  const sizes = SIZES.map(({ size }) => Number(size))
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b))
})
