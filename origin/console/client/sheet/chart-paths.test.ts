import { expect, test } from 'vitest'
import { areaPath, barsPath, linePath, meansOf, moved, runsOf, scaleOf, timeTicks, zoomed } from './chart-paths.ts'

test('a line is the mean of five seconds, and no mean reaches across a gap', () => {
  expect(meansOf([10, 0, 20, null, 8, 4])).toEqual([10, 5, 10, null, 8, 6])
  expect(meansOf([5, 5, 5, 5, 5, 30])).toEqual([5, 5, 5, 5, 5, 10])
})

test('what nobody counted is a gap in the line and in the area, never zero and never bridged', () => {
  const values = [10, 5, null, null, 10]
  expect(runsOf(values)).toEqual([
    [0, 1],
    [4, 4],
  ])
  expect(runsOf(values, true)).toEqual([[2, 3]])
  expect(linePath(values, 10)).toBe('M0 0L250 50M1000 0h1')
  expect(areaPath(values, 10)).toBe('M0 100L0 0L250 50V100zM1000 100L1000 0V100z')
})

test('what is set is a step', () => expect(linePath([0, 10], 10, true)).toBe('M0 100H1000V0'))

test('a scale begins at zero and has round steps that hold the highest value', () => {
  expect(scaleOf([3, 47, null], 4)).toMatchObject({ ticks: [0, 20, 40] })
  expect(scaleOf([0.7], 3)).toMatchObject({ ticks: [0, 0.5] })
  expect(scaleOf([4.5], 1.9)).toEqual({ top: 5, ticks: [0, 5] })
  expect(scaleOf([0, null], 4)).toEqual({ top: 1, ticks: [0] })
  const { top, ticks } = scaleOf([1_234], 4)
  expect(top).toBeGreaterThan(1_234)
  expect(ticks).toEqual([0, 500, 1_000])
})

test('times of the axis are round', () => {
  const at = Date.parse('2026-11-29T12:00:07Z')
  const shown = timeTicks(at, at + 240_000, 6).map((ms) => new Date(ms).toISOString().slice(14, 19))
  expect(shown).toEqual(['01:00', '02:00', '03:00', '04:00'])
})

test('a window zooms around the cursor and stays within what is known', () => {
  const bounds = { fromMs: 0, toMs: 900_000 }
  expect(zoomed({ fromMs: 600_000, toMs: 900_000 }, 0.5, 900_000, bounds)).toEqual({ fromMs: 750_000, toMs: 900_000 })
  expect(zoomed({ fromMs: 600_000, toMs: 900_000 }, 10, 700_000, bounds)).toEqual(bounds)
  expect(zoomed({ fromMs: 0, toMs: 30_000 }, 0.1, 0, bounds)).toEqual({ fromMs: 0, toMs: 20_000 })
  expect(moved({ fromMs: 600_000, toMs: 900_000 }, 60_000, bounds)).toEqual({ fromMs: 600_000, toMs: 900_000 })
  expect(moved({ fromMs: 600_000, toMs: 900_000 }, -700_000, bounds)).toEqual({ fromMs: 0, toMs: 300_000 })
})

test('bars stand on those below them, and a value of 0 has none', () => {
  expect(barsPath([0, 5], 10)).toBe('M500 100V50h400V100z')
  expect(barsPath([0, 5], 10, [3, 5])).toBe('M500 50V0h400V50z')
})
