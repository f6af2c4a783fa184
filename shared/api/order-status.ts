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
 * refunded     all of the price was given back
 */
export const ORDER_STATUSES = [
  'processing',
  'reserved',
  'paying',
  'confirmed',
  'fulfilled',
  'expired',
  'cancelled',
  'refunded',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/**
 * The status in the ledger, which determines how units are counted. The units of a refunded order stay sold; those of
 * a `returned` one, which is refunded too, are for sale again.
 */
export type LedgerStatus = Exclude<OrderStatus, 'processing'> | 'returned'
/** The status as the rest of the system sees it. */
export const statusOf = (status: LedgerStatus) => (status === 'returned' ? 'refunded' : status)

/** The statuses in which the order's units are held, sold, or either. */
export const HELD = ['reserved', 'paying'] as const
export const SOLD = ['confirmed', 'fulfilled', 'refunded'] as const
/**
 * The held and the sold statuses together. They are listed again, and the sets are marked as pure, so that the page's
 * script is built without the sets it does not use.
 */
export const LIVE = ['reserved', 'paying', 'confirmed', 'fulfilled', 'refunded'] as const
export const isLive = (status: string) => live.has(status)
const live: ReadonlySet<string> = /* @__PURE__ */ new Set<OrderStatus>(LIVE)
export const isSold = (status: string | undefined) => SOLD.some((one) => one === status)

/** True once the buyer has nothing left to wait for. A confirmed order may still be fulfilled days later. */
export const isSettled = (status: string) => settled.has(status)
const settled: ReadonlySet<string> = /* @__PURE__ */ new Set<string>([
  'confirmed',
  'fulfilled',
  'expired',
  'cancelled',
  'refunded',
  'returned',
])

/**
 * The reasons of a cancellation, as the buyer sees them:
 *
 * given_back         the buyer cancelled before paying
 * declined           the provider declined the last payment that was allowed, or one after the hold
 * not_authenticated  the buyer did not confirm the payment with their bank in time
 * payment_timeout    the provider did not respond in time
 * oversold           live orders exceeded the stock
 * blocked, by_shop   an operator cancelled the order
 * too_many           too many of the visitor's earlier orders were cancelled or expired
 *
 * The other reasons belong to orders that were accepted while the ledger was away, which then refused them:
 *
 * no_stock           no unit was left
 * limit              the visitor's limit was used up
 * replay             another order has the same key
 * seat_taken         another order has the seat
 * price_changed      the price changed meanwhile
 */
export const CANCEL_REASONS = [
  'given_back',
  'declined',
  'not_authenticated',
  'payment_timeout',
  'oversold',
  'blocked',
  'by_shop',
  'no_stock',
  'limit',
  'replay',
  'seat_taken',
  'price_changed',
  'too_many',
] as const

/**
 * The reasons that are mailed to buyers. The buyer's own actions are not among them, nor are the shop's, which
 * informs buyers itself.
 */
export const MAILED_REASONS = [
  'not_authenticated',
  'payment_timeout',
  'oversold',
  'no_stock',
  'limit',
  'replay',
  'seat_taken',
  'price_changed',
  'too_many',
] as const satisfies (typeof CANCEL_REASONS)[number][]
export type MailedReason = (typeof MAILED_REASONS)[number]

/**
 * The state of an order that its page shows, as one text to compare, because the payment may change while the status
 * does not.
 */
export const progressOf = ({ status, payment }: Progress) =>
  [status, payment?.status, payment?.attempts_left].join(' ').trimEnd()
interface Progress {
  readonly status: string
  readonly payment?: { readonly status: string; readonly attempts_left?: number | undefined } | null
}

/** The number of payment attempts for one order. The units return after the last one is declined. */
export const PAYMENT_ATTEMPTS = 3
