import { expect, test } from 'vitest'
import { SeatTable } from './seat-table.ts'

const seat = (changes: Readonly<Record<string, unknown>> = {}) => ({
  ...{ seat_id: 'A-1', row: 'A', number: '1', place: '1', x: '0.5', y: '-2' },
  ...{ category: 'front', kind: 'standard', price_minor: '4500' },
  ...changes,
})

test('reads a seat of text or of numbers', () => {
  const table = new SeatTable()
  table.add('line 2', seat())
  table.add('line 3', seat({ seat_id: 'A-2', number: 2, place: 2, x: 1.5, y: -2, price_minor: 4500 }))
  expect(table.errors).toEqual([])
  expect(table.seats[0]).toEqual({ ...seat(), place: 1, x: 0.5, y: -2, price_minor: 4500 })
  expect(table.seats[1]).toMatchObject({ number: '2', place: 2, x: 1.5 })
})

test.each<[column: string, ...values: unknown[]]>([
  ['seat_id', 'A 1', ''],
  ['row', '', 'A'.repeat(65)],
  ['number', '1\u0007', '\ud800'],
  ['place', '1.5', ''],
  ['x', 'left', '0x10'],
  ['y', '1e300', 'NaN'],
  ['category', undefined, null],
  ['kind', 'sofa', ''],
  ['price_minor', '-1', '12.50', '1000000001', true],
])('names the line and the column of a wrong %s', (column, ...values) => {
  for (const value of values) {
    const table = new SeatTable()
    table.add('line 17', seat({ [column]: value }))
    expect(
      table.errors.map(({ field }) => field),
      String(value),
    ).toEqual([`line 17: ${column}`])
    expect(table.seats).toEqual([])
  }
})

test('refuses a seat that is named twice, and a place or a number of a row that two have', () => {
  const table = new SeatTable()
  table.add('line 2', seat())
  table.add('line 3', seat({ place: '2' }))
  table.add('line 4', seat({ seat_id: 'A-9' }))
  table.add('line 5', seat({ seat_id: 'B-1', row: 'B' }))
  table.add('line 6', seat({ seat_id: 'B-2', row: 'B', place: '2' }))
  expect(table.errors).toEqual([
    { field: 'line 3: seat_id', detail: 'A-1 is line 2 already' },
    { field: 'line 4: place', detail: 'place 1 of row A is line 2 already' },
    { field: 'line 6: number', detail: 'number 1 of row B is line 5 already' },
  ])
  expect(table.seats.map(({ seat_id }) => seat_id)).toEqual(['A-1', 'B-1'])
})

test('names a hundred errors, and counts the others', () => {
  const table = new SeatTable()
  for (let i = 0; i < 150; i++) table.add(`line ${i}`, seat({ seat_id: `A-${i}`, kind: 'sofa' }))
  expect([table.errors.length, table.errorCount]).toEqual([100, 150])
})
