import { expect, test } from 'vitest'
import { isValidAt, requirePayable } from './promo-code.ts'
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
test('a code holds from its first moment, and until before its last', () => {
  const [from, until] = [1_000, 2_000]
  const limited = row({ valid_from: new Date(from), valid_until: new Date(until) })
  expect([from - 1, from, until - 1, until].map((ms) => isValidAt(limited, ms))).toEqual([false, true, true, false])
  expect(isValidAt(row(), 0)).toBe(true)
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
