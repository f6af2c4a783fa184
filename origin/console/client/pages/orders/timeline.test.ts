import { expect, test } from 'vitest'
import type { Entry } from './order.ts'
import { describe } from './timeline.ts'

const order = { currency: 'EUR', total_minor: 12_900 }
const entry = (one: Partial<Entry>) =>
  describe({ at: '2026-11-23T06:54:45Z', what: '', by: 'ida', detail: {}, ...one } as Entry, order)

test('describes a refund in words, with what is said of it and nothing else', () => {
  const detail = { refund_id: 'a', amount_minor: 2_000, reason: 'a scratch', restock: false }
  expect(entry({ kind: 'refund', what: 'requested', detail }).text).toBe('€20.00, by ida, a scratch')
  expect(entry({ kind: 'refund', what: 'requested', detail: { ...detail, restock: true } }).text).toBe(
    '€20.00, by ida, a scratch, units back on sale',
  )
})

test('names the lines of a refund, and those that were cancelled', () => {
  const detail = { refund_id: 'a', amount_minor: 2_000, reason: 'torn', restock: true, lines: [1, 3] }
  expect(entry({ kind: 'refund', what: 'requested', detail }).text).toBe(
    '€20.00, by ida, lines 1, 3, torn, units back on sale',
  )
  expect(entry({ kind: 'event', what: 'order.lines_cancelled', detail: { lines: [2] } })).toMatchObject({
    title: 'Lines cancelled',
    text: 'line 2',
  })
})

test('describes what an operator did with amounts as people write them', () => {
  const after = { refund: 'a', amount_minor: 2_000, reason: 'a_scratch', restock: false }
  expect(entry({ kind: 'action', what: 'refund_requested', detail: { before: null, after } })).toMatchObject({
    title: 'refund requested, by ida',
    text: 'amount: €20.00, reason: a scratch',
  })
})

test('describes why an order was cancelled: in words, or as the operator wrote it', () => {
  const cancelled = (reason: string) => entry({ kind: 'event', what: 'order.cancelled', detail: { reason } })
  expect(cancelled('by_shop')).toMatchObject({ title: 'Cancelled', text: 'cancelled by the shop' })
  expect(cancelled('sent_twice')).toMatchObject({ title: 'Cancelled', text: 'sent_twice' })
})
