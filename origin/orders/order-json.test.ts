import { expect, test } from 'vitest'
import { reservationOf } from '../../test/lib/samples.ts'
import { orderFrom } from '../checkout/outcome.ts'
import type { OrderRow } from '../ledger/order-statements.ts'
import { orderAt, processingOrder } from './order-json.ts'

const now = new Date()
const prices = { one: { name: 'One', unit_price_minor: 1000, currency: 'EUR' } }
const reservation = reservationOf('sale')
const numbers = { [reservation.order]: 1 }
const recorded = { verdict: 'recorded', createdAt: now, reservedUntil: now, prices, numbers } as const
const order = orderFrom(reservation, recorded)
const shown = (status: OrderRow['status'], reason: string | null) =>
  orderAt({ ...order, status, reason }, now.getTime())

test('an issued receipt says product, tax and seller of the moment of payment, whatever the sale is now', () => {
  const receipt = { name: 'One', tax: { name: 'VAT', percent: 20 }, seller: { name: 'Ann Lee' } }
  const now = { product_name: 'Uno', tax: { name: 'Levy', percent: 7 } }
  const at = (receipt: OrderRow['receipt']) => orderAt({ ...order, ...now, status: 'confirmed', receipt }, Date.now())
  const { tax, seller } = receipt
  expect(at(receipt)).toMatchObject({ lines: [{ name: 'One' }], tax_minor: 167, receipt: { tax, seller } })
  expect(at({ ...receipt, tax: null })).toMatchObject({ tax_minor: 0 })
  expect(at(null)).toMatchObject({ lines: [{ name: 'Uno' }], tax_minor: 65 })
  expect(at(null)).not.toHaveProperty('receipt')
})

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

test('an order that is not recorded is not shown at a price of nothing, where its product is unknown', () => {
  expect(() => processingOrder(reservation, undefined)).toThrow('before it is recorded')
})
