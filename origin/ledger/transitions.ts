/**
 * The transitions of an order, which is a hold while it is `reserved` or `paying`: its states are those of
 * shared/api/order-status.ts. Whoever changes a status names one of these. advance_orders makes it, once, for those
 * orders alone that are in one of the statuses it comes from, and counts their units anew.
 */
import { HELD, type LedgerStatus, SOLD } from '../../shared/api/order-status.ts'

export interface Move {
  readonly from: readonly LedgerStatus[]
  /** The new status; if left out, the status stays as it is. */
  readonly to?: LedgerStatus
  /** The events' type, where it is not the status. */
  readonly type?: `order.${string}`
  readonly reason?: string
}

export const TRANSITIONS = {
  // -- The hold lasts: its units are held --

  /** The buyer, or a worker for an order that came with its method, begins an attempt to pay. The hold must last. */
  beginPayment: { from: ['reserved'], to: 'paying' },
  /** The charge waits for its buyer at their bank, and the hold waits with it. */
  awaitBuyer: { from: ['paying'], to: 'paying' },
  /** The attempt was declined, and the buyer may try again while the hold lasts. */
  declineAttempt: { from: ['paying'], to: 'reserved', type: 'order.declined' },

  // -- The hold ends unpaid: its units are for sale again, and nothing follows --

  /** The buyer did not begin to pay in time. An attempt in flight keeps its hold. */
  expire: { from: ['reserved'], to: 'expired', reason: 'not_paid_in_time' },
  /** The buyer gives it back before paying. */
  giveBack: { from: ['reserved'], to: 'cancelled', reason: 'given_back' },
  /** The last allowed attempt was declined, or one after the end of the hold. */
  declineLast: { from: ['paying'], to: 'cancelled', reason: 'declined' },
  /** The buyer did not confirm the payment with their bank in time. */
  abandon: { from: ['paying'], to: 'cancelled', reason: 'not_authenticated' },
  /** The provider did not say in time whether it was paid. */
  timeOut: { from: ['paying'], to: 'cancelled', reason: 'payment_timeout' },
  /** An operator blocks the visitor. An attempt in flight finishes. */
  block: { from: ['reserved'], to: 'cancelled', reason: 'blocked' },

  // -- The order is paid: its units are sold --

  /** The charge is authorized. The report of it may come after the attempt has ended as declined. */
  confirm: { from: ['paying', 'reserved'], to: 'confirmed' },
  /** It costs nothing, so that there is no charge. */
  confirmFree: { from: ['paying'], to: 'confirmed' },
  /** It was paid at the box office. */
  confirmAtBoxOffice: { from: ['reserved'], to: 'confirmed' },
  /** The shop took the money in its own checkout, while the hold lasted. */
  confirmByShop: { from: ['reserved'], to: 'confirmed' },
  /** The goods are handed over. */
  fulfil: { from: ['confirmed'], to: 'fulfilled' },

  // -- The shop takes it back, held or sold: its units are for sale again --

  cancelByShop: { from: [...HELD, 'confirmed'], to: 'cancelled', reason: 'by_shop' },
  /** The latest orders are cancelled while there are more than units. */
  cancelOversold: { from: [...HELD, 'confirmed'], to: 'cancelled', reason: 'oversold' },

  // -- The money goes back --

  /** All of it went back. The units stay sold. */
  refund: { from: ['confirmed', 'fulfilled'], to: 'refunded' },
  /** It came back from the buyer's bank: the order is paid again. */
  refundFailed: { from: ['refunded'], to: 'confirmed', type: 'order.refund_failed' },
  /** The units are for sale again, with the money or after it. */
  restock: { from: [...SOLD], to: 'returned' },
} as const satisfies Record<string, Move>
