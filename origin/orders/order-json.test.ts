import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { OrderRow } from '../ledger/order-statements.ts'
import { orderAt } from './order-json.ts'

const now = new Date()
const order = {
  order_id: randomUUID(),
  sale_id: 'sale',
  product_id: 'one',
  visitor: 'v',
  line: 'public',
  ticket_number: 1,
  quantity: 1,
  unit_price_minor: 1000,
  currency: 'EUR',
  idempotency_key: 'k',
  request_hash: 'h',
  reserved_until: now,
  created_at: now,
  updated_at: now,
  payment_method: null,
  charge_id: null,
  attempts: 0,
  decline_code: null,
  action: null,
  action_until: null,
  refunded_minor: 0,
}
const shown = (status: OrderRow['status'], reason: string | null) =>
  orderAt({ ...order, status, reason }, now.getTime())

test('shows a buyer why an order was cancelled, without details', () => {
  for (const reason of ['given_back', 'declined', 'payment_timeout', 'oversold', 'no_stock', 'too_many'])
    expect(shown('cancelled', reason)).toMatchObject({ status: 'cancelled', reason })
  expect(shown('cancelled', 'declined: card_expired')).toMatchObject({ reason: 'declined' })
})

test('shows no reason that the API does not know, and none of an order that is not cancelled', () => {
  expect(shown('cancelled', 'by hand')).not.toHaveProperty('reason')
  expect(shown('cancelled', null)).not.toHaveProperty('reason')
  expect(shown('expired', 'not_paid_in_time')).not.toHaveProperty('reason')
})

test('tells of a cancelled order whose money was given back that it was, once all of it is', () => {
  const cancelled = (refunded_minor: number) =>
    orderAt({ ...order, status: 'cancelled', reason: 'by_shop', refunded_minor }, now.getTime()).payment
  expect(cancelled(1000)).toEqual({ status: 'refunded' })
  // The rest is on its way.
  expect(cancelled(900)).toEqual({ status: 'succeeded' })
  // It was cancelled before anything was taken.
  expect(cancelled(0)).toBeNull()
})
