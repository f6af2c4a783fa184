/**
 * What a checkout call comes to, and in which words it and its order are told: pure, of what the gates, the ledger and the
 * sale have said.
 */
import type { Order } from '../../shared/api/public.ts'
import { CANCEL_REASONS } from '../../shared/order-status.ts'
import { invalidField, type Problem, problem } from '../../shared/problem.ts'
import type { OrderRow, OrderView } from '../ledger/orders.ts'
import type { Recorded, Reservation } from '../ledger/record.ts'
import type { ProductRow, SaleRow } from '../ledger/sales.ts'
import { phaseOf } from '../sales/sales.ts'
import type { Stock } from '../stock/gate.ts'

export type Outcome =
  /** Of this key; where it is a replay, the order may have come to anything by now. */
  | {
      readonly kind: 'recorded'
      readonly order: OrderView
      readonly replayed: boolean
      readonly remaining: number
    }
  /** Of another key: it lived when this key was answered with it first. */
  | {
      readonly kind: 'live'
      readonly order: OrderView
      readonly replayed: boolean
      readonly remaining: number
    }
  | { readonly kind: 'processing'; readonly reservation: Reservation; readonly replayed: boolean }
  | { readonly kind: 'problem'; readonly problem: Problem }

export const refusal = (p: Problem): Outcome => ({ kind: 'problem', problem: p })

export const processing = (reservation: Reservation): Outcome => ({
  kind: 'processing',
  reservation,
  replayed: false,
})

/** Nothing was taken: what this call would be answered with cannot be found at this moment. */
export const unreadable = () => refusal(tryAgain('Orders cannot be read at this moment.'))

/** The order that has come of a reservation, as it was written. */
export function orderFrom(r: Reservation, at: Recorded): OrderView {
  const price = at.prices[r.product]
  return {
    order_id: r.order,
    sale_id: r.sale,
    product_id: r.product,
    visitor: r.visitor,
    ticket_number: r.number,
    quantity: r.quantity,
    unit_price_minor: price?.unit_price_minor ?? 0,
    currency: price?.currency ?? '',
    status: 'reserved',
    idempotency_key: r.key,
    request_hash: r.hash,
    reserved_until: at.reservedUntil,
    payment_method: r.method,
    charge_id: null,
    reason: null,
    created_at: at.createdAt,
    updated_at: at.createdAt,
    left_ms: at.reservedUntil.getTime() - at.createdAt.getTime(),
  }
}

/** Of a reason such as `declined: card_expired` what comes before the detail, of which there may be very many. */
export const kindOf = (reason: string) => reason.split(':', 1)[0]

/** An order as it is told of at `nowMs`, to its buyer and to operators alike. */
export function orderAt(order: OrderRow & { left_ms?: number }, nowMs: number): Order {
  const leftMs = order.left_ms ?? order.reserved_until.getTime() - nowMs
  const kind = order.status === 'cancelled' && order.reason !== null && kindOf(order.reason)
  const reason = CANCEL_REASONS.find((one) => one === kind)
  return {
    order_id: order.order_id,
    sale: order.sale_id,
    product_id: order.product_id,
    quantity: order.quantity,
    unit_price_minor: order.unit_price_minor,
    currency: order.currency,
    status: order.status,
    ...(reason && { reason }),
    reserved_until: order.reserved_until.toISOString(),
    expires_in_seconds: order.status === 'reserved' ? Math.max(0, Math.round(leftMs / 100) / 10) : 0,
    created_at: order.created_at.toISOString(),
  }
}

/** Why a sale takes no order now; null if it does. */
export function closedFor(sale: SaleRow, nowMs: number): Problem | null {
  switch (phaseOf(sale, nowMs)) {
    case 'upcoming':
      return problem('not-open', {
        detail: 'The sale has not opened yet.',
        opens_at: sale.opens_at.toISOString(),
        retry_after_seconds: (sale.opens_at.getTime() - nowMs) / 1000,
      })
    case 'ended':
      return problem('ended', { detail: 'The sale has ended.' })
    case 'paused':
      return tryAgain('The sale is paused. Everyone keeps their place.')
    default:
      return null
  }
}

/** More than a visitor may have who has so many units; not for one who has all they may. */
export const overLimit = ({ limit_per_visitor }: SaleRow, units = 0) =>
  invalidField(
    'quantity',
    units > 0
      ? `at most ${limit_per_visitor - units} more per visitor`
      : `at most ${limit_per_visitor} per visitor`,
  )

/** No time is told to ask again: there is none. */
export const tooMany = () =>
  problem('too-many-requests', { detail: 'You have had too many orders in this sale that came to nothing.' })

export const soldOut = () => problem('sold-out', { detail: 'Every unit has been sold.' })

/** Not so many are there to take: some may come back, or none will, or never so many. */
export function noStock(
  { product_id, total, sold }: Pick<ProductRow, 'product_id' | 'total' | 'sold'>,
  { available, held }: Stock,
  quantity: number,
): Problem {
  if (available === 0 && held === 0) return soldOut()
  const unsold = total - sold
  if (unsold > 0 && quantity > unsold)
    return { ...invalidField('quantity', `at most ${unsold} can be had`), product_id, remaining: available }
  const detail = available > 0 ? `Only ${available} left.` : 'All units are in carts. Some may come back.'
  return problem('all-in-carts', { detail, product_id, remaining: available, retry_after_seconds: 5 })
}

export const tryAgain = (detail: string) =>
  problem('try-again', { detail, retry_after_seconds: 2 + Math.random() * 3 })
