import { describe, expect, test } from 'vitest'
import { reservationOf } from '../../test/origin-process.ts'
import type { OrderRow } from '../ledger/orders.ts'
import { orderAt, orderFrom } from './outcome.ts'

const now = new Date()
const recorded = { verdict: 'recorded', createdAt: now, reservedUntil: now, prices: {} } as const
const told = (status: OrderRow['status'], reason: string | null) =>
  orderAt({ ...orderFrom(reservationOf('sale'), recorded), status, reason }, now.getTime())

describe('a buyer is told why an order was cancelled', () => {
  test.each([
    ['given_back', 'given_back'],
    ['declined', 'declined'],
    ['declined: card_expired', 'declined'],
    ['payment_timeout', 'payment_timeout'],
    ['oversold', 'oversold'],
    ['no_stock', 'no_stock'],
    ['too_many', 'too_many'],
  ])('%s as %s', (reason, as) => {
    expect(told('cancelled', reason)).toMatchObject({ status: 'cancelled', reason: as })
  })

  test('and nothing where there is no word for it, or the order is not cancelled', () => {
    expect(told('cancelled', 'by hand')).not.toHaveProperty('reason')
    expect(told('cancelled', null)).not.toHaveProperty('reason')
    expect(told('expired', 'not_paid_in_time')).not.toHaveProperty('reason')
  })
})
