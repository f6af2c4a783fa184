/**
 * The states of an order, for the ledger, the edge and the page's script.
 *
 * processing   accepted, and not in the ledger yet
 * reserved     held for the buyer, until they pay or the hold ends
 * paying       a charge is in flight; the hold does not end meanwhile
 * confirmed    paid
 * fulfilled    sent
 * expired      the hold ended
 * cancelled    by the buyer, by an operator, or because it was not paid
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

/** States in which the order's units are held, sold, or either. */
export const HELD = ['reserved', 'paying'] as const
export const SOLD = ['confirmed', 'fulfilled'] as const
export const LIVE = [...HELD, ...SOLD] as const
export const isLive = (status: string) => live.has(status)
const live: ReadonlySet<string> = new Set<OrderStatus>(LIVE)
export const isSold = (status: string | undefined) => SOLD.some((one) => one === status)

/** True once the buyer has nothing left to wait for. A confirmed order may still be fulfilled, days later. */
export const isSettled = (status: string) => settled.has(status)
const settled: ReadonlySet<string> = new Set<OrderStatus>(['confirmed', 'fulfilled', 'expired', 'cancelled'])

/**
 * Why an order was cancelled, as its buyer sees it:
 *
 * given_back        by the buyer, before it was paid
 * declined          the provider declined the payment
 * payment_timeout   the provider did not respond in time
 * oversold          live orders exceeded the stock
 * no_stock, limit, replay   accepted while the ledger was away, which then found no unit left, the visitor's limit used up,
 *                   or another order with the same key
 * too_many          too many of the visitor's earlier orders were cancelled or expired
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
