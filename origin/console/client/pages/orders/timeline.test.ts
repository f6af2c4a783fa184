import { expect, test } from 'vitest'
import type { Entry } from './order.ts'
import { describe } from './timeline.ts'

const order = { currency: 'EUR', total_minor: 12_900 }
const entry = (one: Partial<Entry>) =>
  describe({ at: '2026-11-23T06:54:45Z', what: '', by: 'ida', detail: {}, ...one } as Entry, order)

const refund = { refund_id: 'a', amount_minor: 2_000, reason: 'a scratch', restock: false }
const after = { refund: 'a', amount_minor: 2_000, reason: 'a_scratch', restock: false }

test.each<[text: string, Partial<Entry>, title?: string]>([
  ['€20.00, by ida, a scratch', { kind: 'refund', what: 'requested', detail: refund }],
  [
    '€20.00, by ida, lines 1, 3, a scratch, units back on sale',
    { kind: 'refund', what: 'requested', detail: { ...refund, restock: true, lines: [1, 3] } },
  ],
  ['line 2', { kind: 'event', what: 'order.lines_cancelled', detail: { lines: [2] } }, 'Lines cancelled'],
  [
    'amount: €20.00, reason: a scratch',
    { kind: 'action', what: 'refund_requested', detail: { before: null, after } },
    'refund requested, by ida',
  ],
  // A known reason is described in words, and an operator's text stays unchanged.
  ['cancelled by the shop', { kind: 'event', what: 'order.cancelled', detail: { reason: 'by_shop' } }, 'Cancelled'],
  ['sent_twice', { kind: 'event', what: 'order.cancelled', detail: { reason: 'sent_twice' } }, 'Cancelled'],
])('describes what happened in words, and nothing else of it: %s', (text, one, title) => {
  expect(entry(one)).toMatchObject({ text, ...(title && { title }) })
})
