import { expect, test } from 'vitest'
import type { Entry } from './order.ts'
import { type About, describe, storyOf } from './timeline.ts'

const order: About = {
  ...{ currency: 'EUR', total_minor: 12_900, product_name: 'Cap', lines: [], is_parcel: true },
  card: { brand: 'visa', last4: '4242' },
  payment_method: 'pm_ok',
  contact: null,
}
const at = '2026-11-23T06:54:45.000Z'
const entry = (one: Partial<Entry>) =>
  describe({ at, what: '', by: 'ida', detail: {}, ...one } as Entry, order, () => '06:55:15')

const refund = { refund_id: 'a', amount_minor: 2_000, reason: 'a scratch', restock: false }
const hook = { type: 'order.fulfilled', endpoint: 'Warehouse' }
const again = { attempts: 2, error: 'no answer', next_at: at }
const minute = { reserved_until: '2026-11-23T06:56:15Z', ticket_number: 7 }

test.each<[title: string, text: string, level: string, Partial<Entry>]>([
  ['Reserved Cap, for 90 seconds', 'ticket number 7', '', { kind: 'event', what: 'order.reserved', detail: minute }],
  [
    'Paid',
    'with Visa •• 4242, at the second attempt',
    'good',
    { kind: 'event', what: 'order.confirmed', detail: { attempts: 2 } },
  ],
  ['Sent', '', 'good', { kind: 'event', what: 'order.fulfilled' }],
  [
    '€20.00 is on its way back to the buyer',
    'by ida, lines 1, 3, a scratch, units back on sale',
    '',
    { kind: 'refund', what: 'requested', detail: { ...refund, restock: true, lines: [1, 3] } },
  ],
  ['Lines cancelled', 'line 2', '', { kind: 'event', what: 'order.lines_cancelled', detail: { lines: [2] } }],
  // The audit log says it in the same words.
  ['ida marked the order as sent', '', 'info', { kind: 'action', what: 'fulfilled' }],
  [
    'ida refunded €20.00 of the order: a scratch',
    '',
    'info',
    { kind: 'action', what: 'refund requested', detail: { before: null, after: refund } },
  ],
  ['Warehouse was told that the order is sent', '', 'good', { kind: 'delivery', what: 'delivered', detail: hook }],
  [
    'Warehouse is not told yet that the order is sent',
    'no answer, attempt 2, tried again at 06:55:15',
    'watch',
    { kind: 'delivery', what: 'pending', detail: { ...hook, ...again } },
  ],
  [
    'A mail that says that the order is paid was given up',
    'no answer, attempt 2, tried again at 06:55:15',
    'bad',
    { kind: 'mail', what: 'dead', detail: { type: 'order.confirmed', ...again } },
  ],
  // A known reason is described in words, and an operator's text stays unchanged.
  ['Cancelled', 'cancelled by the shop', '', { kind: 'event', what: 'order.cancelled', detail: { reason: 'by_shop' } }],
  ['Cancelled', 'sent_twice', '', { kind: 'event', what: 'order.cancelled', detail: { reason: 'sent_twice' } }],
])('tells what happened in a sentence: %s, %s', (title, text, level, one) => {
  expect(entry(one)).toMatchObject({ title, text, level })
})

test('what is handed over is not called sent', () => {
  const sent = { at, kind: 'event', what: 'order.fulfilled', by: null, detail: {} } as const
  expect(describe(sent, { ...order, is_parcel: false }, () => '').title).toBe('Handed over')
})

test('an event that an action tells of is told once, the newest entry is first, and all are there on demand', () => {
  const one = (kind: Entry['kind'], what: string, later = 0): Entry => ({
    ...{ kind, what, by: null, detail: {} },
    at: new Date(Date.parse(at) + later).toISOString(),
  })
  const history = [
    one('event', 'order.confirmed'),
    one('event', 'order.fulfilled', 5_000),
    one('action', 'fulfilled', 5_000),
    one('note', 'sent late', 9_000),
  ]
  expect(storyOf(history, false).map(({ what }) => what)).toEqual(['sent late', 'fulfilled', 'order.confirmed'])
  expect(storyOf(history, true)).toHaveLength(4)
})
