import { expect, test } from 'vitest'
import { HELD, type LedgerStatus, SOLD } from '../../shared/api/order-status.ts'
import { type Move, TRANSITIONS } from './transitions.ts'

const moves: readonly Move[] = Object.values(TRANSITIONS)

/** Where an order may go next, by status. */
const NEXT: Record<LedgerStatus, LedgerStatus[]> = {
  reserved: ['cancelled', 'confirmed', 'expired', 'paying'],
  paying: ['cancelled', 'confirmed', 'paying', 'reserved'],
  confirmed: ['cancelled', 'fulfilled', 'refunded', 'returned'],
  fulfilled: ['refunded', 'returned'],
  refunded: ['confirmed', 'returned'],
  expired: [],
  cancelled: [],
  returned: [],
}

test.each(Object.entries(NEXT))('an order that is %s leads to %j', (status, next) => {
  const to = moves.filter(({ from }) => from.some((one) => one === status)).map((move) => move.to)
  expect([...new Set(to)].sort()).toEqual(next)
})

test('nothing that was sold is held again, and each end of a hold says why', () => {
  for (const { from, to, reason } of moves) {
    if (from.some((one) => SOLD.some((sold) => sold === one))) expect(HELD).not.toContain(to)
    expect(reason !== undefined).toBe(to === 'cancelled' || to === 'expired')
  }
})
