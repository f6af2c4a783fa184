import { expect, test } from 'vitest'
import { clashOf, isFor, isUsable, isValidAt, requirePayable } from './promo-code.ts'
import type { PromoCodeRow } from './promo-code-queries.ts'

const row = (changes: Partial<PromoCodeRow> = {}): PromoCodeRow => ({
  code: 'NOON',
  percent: 10,
  amount_minor: null,
  price_minor: null,
  valid_from: null,
  valid_until: null,
  products: null,
  units_per_use: null,
  combined: false,
  uses_per_visitor: null,
  ...changes,
})
const shirt = { product_id: 'shirt-m', variant_of: 'shirt' }
const print = { product_id: 'print', variant_of: null }

test('a code holds from its first moment, and until before its last', () => {
  const [from, until] = [1_000, 2_000]
  const limited = row({ valid_from: new Date(from), valid_until: new Date(until) })
  expect([from - 1, from, until - 1, until].map((ms) => isValidAt(limited, ms))).toEqual([false, true, true, false])
  expect(isValidAt(row(), 0)).toBe(true)
})

test('a code holds for all products, or those that it names, and their variants', () => {
  expect(isFor(row(), [print])).toBe(true)
  expect(isFor(row({ products: ['shirt'] }), [print])).toBe(false)
  expect(isFor(row({ products: ['shirt'] }), [print, shirt])).toBe(true)
  expect(isFor(row({ products: ['shirt-m'] }), [shirt])).toBe(true)
  expect(isUsable({ code: 'NONE', row: null }, [shirt], 0)).toBe(false)
})

test('a code holds beside others only where all may be combined, and once', () => {
  const asked = (code: string, combined: boolean) => row({ code, combined })
  expect(clashOf([asked('A', false)])).toBeUndefined()
  expect(clashOf([asked('A', true), asked('B', true)])).toBeUndefined()
  expect(clashOf([asked('A', true), asked('B', false)])).toMatchObject({ status: 422 })
  expect(clashOf([asked('A', true), asked('A', true)])).toMatchObject({ status: 422 })
})

test('that takes off or leaves what could not be charged is refused', () => {
  const [euro, dinar] = [{ currency: 'EUR' }, { currency: 'KWD' }]
  const naming = (...fields: string[]) =>
    expect.objectContaining({
      problem: expect.objectContaining({ errors: fields.map((field) => expect.objectContaining({ field })) }),
    })
  expect(() =>
    requirePayable(
      [
        { code: 'A', amount_minor: 5 },
        { code: 'B', price_minor: 1_005 },
      ],
      [dinar],
    ),
  ).toThrow(naming('A.amount_minor', 'B.price_minor'))
  expect(() => requirePayable([{ code: 'C', price_minor: 40 }], [euro, euro])).toThrow(naming('C.price_minor'))
  expect(() =>
    requirePayable(
      [
        { code: 'D', amount_minor: 5 },
        { code: 'E', price_minor: 0 },
      ],
      [euro],
    ),
  ).not.toThrow()
})
