import { expect, test } from 'vitest'
import { changesOf } from './diff.ts'

test('names each field that differs, however deep, and what is on one side only', () => {
  const before = { name: 'A', products: { red: { total: 5, buffer: 0 } }, reason: null }
  const after = { name: 'A', products: { red: { total: 7, buffer: 0 }, blue: { total: 1 } }, reason: { en: 'Soon' } }
  expect(changesOf(before, after)).toEqual([
    { field: 'products.red.total', before: '5', after: '7' },
    { field: 'products.blue.total', after: '1' },
    { field: 'reason.en', after: 'Soon' },
  ])
})

test('shows an entry that has one side, or none', () => {
  expect(changesOf(null, { quantity: 2 })).toEqual([{ field: 'quantity', after: '2' }])
  expect(changesOf({ role: 'viewer' }, undefined)).toEqual([{ field: 'role', before: 'viewer' }])
  expect(changesOf(null, null)).toEqual([])
  expect(changesOf({}, { name: 'A', note: '' })).toEqual([{ field: 'name', after: 'A' }])
})
