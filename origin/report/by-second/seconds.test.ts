import { expect, test } from 'vitest'
import { type SecondRow, secondsOf } from './seconds.ts'

const START = Date.parse('2026-11-29T12:00:00Z')
const at = (second: number, gauges = {}, counts = {}): SecondRow => ({
  second: new Date(START + 1000 * second),
  counts,
  gauges,
})
const between = (rows: readonly SecondRow[], from: number, to: number) =>
  secondsOf(rows, START + 1000 * from, START + 1000 * to)

test('rates are the growth of a figure, spread over the seconds since the row before', () => {
  const rows = [at(0, { called: 100, arrived: 10 }), at(1, { called: 145, arrived: 20 }), at(3, { called: 205 })]
  expect(between(rows, 0, 3).map(({ called }) => called)).toEqual([null, 45, 30, 30])
  expect(between(rows, 1, 1)).toMatchObject([{ at: '2026-11-29T12:00:01.000Z', called: 45, arrived: 10 }])
})

test('growth after a pause of the rows is that of its last second, and nothing grows while no row is written', () => {
  const rows = [at(0, { called: 10 }), at(5, { called: 25 })]
  expect(between(rows, 0, 8).map(({ called }) => called)).toEqual([null, 0, 0, 0, 0, 15, 0, 0, 0])
})

test('a row that only orders wrote leaves no gap in what grows', () => {
  const rows = [at(0, { called: 10 }), at(1, {}, { reserved: 2 }), at(2, { called: 16 })]
  expect(between(rows, 1, 2)).toMatchObject([
    { called: 3, reserved: 2 },
    { called: 3, reserved: 0 },
  ])
})

test('values last until the next row, and orders count in their own second', () => {
  const rows = [at(0, { waiting: 40, rate_target: 30 }), at(2, { waiting: 12 }, { confirmed: 3, paid_minor: 900 })]
  expect(between(rows, 0, 2)).toMatchObject([
    { waiting: 40, asked: 30, paid: 0 },
    { waiting: 40, asked: 30, paid: 0 },
    { waiting: 12, asked: 30, paid: 3, paid_minor: 900, reserved: 0 },
  ])
})

test('what nobody counted is unknown, never zero', () => {
  const rows = [at(0, { called: 5, waiting: 9 }), at(20, { called: 500, waiting: 1 }), at(21, { called: 510 })]
  const seconds = between(rows, 0, 21)
  expect(seconds[5]).toMatchObject({ called: null, waiting: null, paid: null, asked: null })
  // The growth during the silence is not that of the first second after it.
  expect(seconds.slice(-2)).toMatchObject([
    { called: null, waiting: 1 },
    { called: 10, waiting: 1 },
  ])
  // The latest seconds are known for a while after the last row, since nothing changes then.
  expect(between(rows, 22, 40).map(({ waiting }) => waiting !== null)).toEqual([
    ...Array(8).fill(true),
    ...Array(11).fill(false),
  ])
})

test('a sale without rows is unknown', () => {
  expect(between([], 0, 1).map(({ waiting }) => waiting)).toEqual([null, null])
})
