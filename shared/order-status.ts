/**
 * The states of an order, for everyone who has to tell them apart: the ledger, the checks and the page's script.
 *
 * processing   taken, and not in the ledger yet
 * reserved     held for the buyer, until they pay or the hold ends
 * paying       a charge is under way; the hold does not end meanwhile
 * confirmed    paid
 * fulfilled    sent
 * expired      the hold ended
 * cancelled    by the buyer, by an operator, or since it could not be paid
 */
export const ORDER_STATUSES = [
  'processing',
  'reserved',
  'paying',
  'confirmed',
  'fulfilled',
  'expired',
  'cancelled',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/** Of an order in the ledger whose units are held, of one whose units are sold, and of one that has them either way. */
export const HELD = ['reserved', 'paying'] as const
export const SOLD = ['confirmed', 'fulfilled'] as const
export const LIVE = [...HELD, ...SOLD] as const
export const isLive = (status: string) => live.has(status)
const live: ReadonlySet<string> = new Set<OrderStatus>(LIVE)
export const isSold = (status: string | undefined) => SOLD.some((one) => one === status)

/**
 * True once there is nothing left for the buyer to wait for. A confirmed order may be fulfilled yet, days later: nobody
 * watches for that, and who asks again after it is told.
 */
export const isSettled = (status: string) => settled.has(status)
const settled: ReadonlySet<string> = new Set<OrderStatus>(['confirmed', 'fulfilled', 'expired', 'cancelled'])

/**
 * Why an order was cancelled, as its buyer is told:
 *
 * given_back        by the buyer, before it was paid
 * declined          the payment was refused
 * payment_timeout   the payment was not answered in time
 * oversold          more had been sold than there was
 * no_stock, limit, replay   it was taken while the ledger was away, which then found no unit left, the visitor's limit used
 *                   up, or another order of the same key
 * too_many          so were too many of the visitor's orders before it, which came to nothing
 */
export const CANCEL_REASONS = [
  'given_back',
  'declined',
  'payment_timeout',
  'oversold',
  'no_stock',
  'limit',
  'replay',
  'too_many',
] as const
