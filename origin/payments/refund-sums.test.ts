import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OrderRow } from '../ledger/order-statements.ts'
import type { ProviderRefund, Returns } from '../providers/provider.ts'
import { countReturns, OUTSIDE, type RefundRow, refundMove } from './refund-sums.ts'

const rowOf = (refund_id: string, amount_minor: number | null, more: Partial<RefundRow> = {}): RefundRow => ({
  ...{ refund_id, amount_minor, charge_id: 'pi', order_id: 'order', restock: false, lines: null, reason: 'torn' },
  ...{ operator: null, idempotency_key: null, asked_at: new Date(0), refunded_at: null, returned: {}, ...more },
})
const made = (id: string, amountMinor: number, key: string | null = null): ProviderRefund => ({
  ...{ id, key, amountMinor, isMade: true },
})
const failed = (id: string, amountMinor: number, key: string | null = null) => ({
  ...made(id, amountMinor, key),
  isMade: false,
})
const TAKEN = 10_000

/** The rows once the ledger has noted what is counted. */
function noted(rows: readonly RefundRow[], returns: Returns): RefundRow[] {
  const { rows: changed, outside, undone } = countReturns(rows, returns)
  const kept = rows
    .filter(({ refund_id }) => !undone.includes(refund_id))
    .map((row): RefundRow => {
      const change = changed.find(({ refund_id }) => refund_id === row.refund_id)
      return change ? { ...row, returned: change.returned, refunded_at: change.isMade ? new Date(0) : null } : row
    })
  const more = outside.map(({ id, amountMinor }) =>
    rowOf(`outside ${id}`, amountMinor, { reason: OUTSIDE, refunded_at: new Date(0), returned: { [id]: amountMinor } }),
  )
  return [...kept, ...more]
}
/** What each row gave back, by its id; those still owed are not there. */
const after = (rows: readonly RefundRow[], ...reports: readonly ProviderRefund[][]) =>
  Object.fromEntries(
    reports
      .reduce((all, refunds) => noted(all, { takenMinor: TAKEN, refunds }), [...rows])
      .flatMap(({ refund_id, amount_minor, refunded_at }) => (refunded_at ? [[refund_id, amount_minor]] : [])),
  )

describe("the provider's refunds", () => {
  const [A, B, ALL] = [rowOf('a', 300), rowOf('b', 4_200), rowOf('all', null)]
  test.each<[string, RefundRow[], ProviderRefund[][], object]>([
    ['made for a row are its own', [A, B], [[made('1', 300, 'a')]], { a: 300 }],
    ['made by hand are others, where nothing is owed', [], [[made('1', 250)], [made('1', 250)]], { 'outside 1': 250 }],
    ['made by hand count for what is owed', [A], [[failed('1', 300, 'a'), made('2', 300)]], { a: 300 }],
    ['made by hand in part leave the rest owed', [A], [[made('1', 200)]], {}],
    ['made by hand beyond it are others', [A], [[made('1', 500)]], { a: 300, 'outside 1': 200 }],
    ['made by hand count for parts before the rest', [ALL, A], [[made('1', 300)]], { a: 300 }],
    [
      'of all that is left are made with the last of it',
      [ALL],
      [[made('1', 400), made('2', 9_600, 'all')]],
      { all: null },
    ],
    [
      'that fail reopen their own row',
      [A, B],
      [
        [made('1', 300, 'a'), made('2', 4_200, 'b')],
        [failed('1', 300, 'a'), made('2', 4_200, 'b')],
      ],
      { b: 4_200 },
    ],
    [
      'made by hand that fail reopen none of ours',
      [B],
      [
        [made('1', 4_200, 'b'), made('2', 500)],
        [made('1', 4_200, 'b'), failed('2', 500)],
      ],
      { b: 4_200 },
    ],
    [
      'that fail are told late, after the row was made again',
      [A],
      [
        [made('1', 300, 'a')],
        [failed('1', 300, 'a')],
        [failed('1', 300, 'a'), made('2', 300, 'a')],
        [failed('1', 300, 'a')],
      ],
      { a: 300 },
    ],
    ['that fail are told before they were known', [{ ...A, refunded_at: new Date(0) }], [[failed('1', 300, 'a')]], {}],
    ['of what was never taken change nothing', [{ ...ALL, refunded_at: new Date(0) }], [[]], { all: null }],
  ])('%s', (_, rows, reports, expected) => {
    expect(after(rows, ...reports)).toEqual(expected)
  })

  test('add up to what was returned, in whatever order and however often they are told', () => {
    const refund = fc.record({
      key: fc.constantFrom('a', 'b', null),
      amountMinor: fc.integer({ min: 1, max: 500 }),
      fails: fc.boolean(),
    })
    const owed = fc.array(fc.integer({ min: 1, max: 600 }), { maxLength: 2 })
    fc.assert(
      fc.property(
        owed,
        fc.array(refund, { maxLength: 6 }),
        fc.array(fc.nat(11), { maxLength: 12 }),
        (parts, all, told) => {
          let rows = parts.map((minor, i) => rowOf('ab'.charAt(i), minor))
          /** Each refund is made, and later some of them fail; reports show a moment of it, and may be old. */
          const at = (moment: number): ProviderRefund[] =>
            all.slice(0, moment + 1).map(({ key, amountMinor, fails }, i) => ({
              ...made(String(i), amountMinor, key),
              isMade: !(fails && moment >= all.length),
            }))
          for (const moment of [...told, 11, 11]) rows = noted(rows, { takenMinor: TAKEN, refunds: at(moment) })
          const returned = rows.flatMap((row) => Object.values(row.returned)).reduce((sum, minor) => sum + minor, 0)
          const given = all.reduce((sum, { amountMinor, fails }) => sum + (fails ? 0 : amountMinor), 0)
          expect(returned).toBe(given)
          for (const row of rows)
            if (row.reason !== OUTSIDE)
              expect(row.refunded_at !== null).toBe(
                Object.values(row.returned).reduce((sum, minor) => sum + minor, 0) >= (row.amount_minor ?? 0),
              )
        },
      ),
    )
  })
})

test('an order shows a refund, and its units are for sale again, once it is made and not when it is asked for', () => {
  const preset = {
    status: 'confirmed',
    quantity: 1,
    unit_price_minor: TAKEN,
    refunded_minor: 0,
    cart: null,
    bill: null,
  }
  const order = preset as OrderRow
  const asked = rowOf('all', null, { restock: true })
  expect(refundMove(order, [asked])).toMatchObject({ refundedMinor: 0, move: { type: 'order.refunded' }, returned: [] })
  const isMade = { ...asked, refunded_at: new Date(0), returned: { 1: TAKEN } }
  expect(refundMove(order, [isMade])).toMatchObject({ refundedMinor: TAKEN, move: { to: 'returned' }, returned: [] })
})
