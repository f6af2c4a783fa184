/** An order as the API sends it to its buyer and to operators. */

import type { BillLine } from '../../shared/api/goods.ts'
import {
  CANCEL_REASONS,
  isLive,
  isSold,
  type OrderStatus,
  PAYMENT_ATTEMPTS,
  statusOf,
} from '../../shared/api/order-status.ts'
import {
  DECLINE_CODES,
  type DeclineCode,
  type Order,
  type OrderLine,
  type Payment,
  type Tax,
  type Totals,
} from '../../shared/api/public.ts'
import { shareWithin, totalsOf } from '../../shared/bill.ts'
import { shortNumber } from '../../shared/format.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { ProblemError } from '../../shared/problem.ts'
import { isPromoCode, partsOf, unitLines } from '../ledger/cart.ts'
import {
  kindOf,
  type OrderContact,
  type OrderRow,
  type PastState,
  type Priced,
  subtotalOf,
  totalOf,
} from '../ledger/order-statements.ts'
import type { Charge, Reservation } from '../ledger/record.ts'
import type { ProductRow, SaleRow } from '../ledger/sale-row.ts'
import { tryAgain } from '../lib/http/request.ts'
import { isSandboxCharge } from '../providers/sandbox-client.ts'

type TimedOrder = OrderRow & {
  readonly left_ms?: number
  readonly product_name?: string | null
  readonly tax?: Tax | null
  readonly contact?: OrderContact | null
}

/**
 * An order at `nowMs` as its buyer sees it: with where to authenticate a payment, and the secret to do so, or what
 * paid it.
 */
export function ownOrderAt(row: TimedOrder, nowMs: number): Order {
  const { contact } = row
  const order = { ...orderAt(row, nowMs), ...(contact && Object.keys(contact).length > 0 && { contact }) }
  const { payment } = order
  if (payment?.status === 'requires_action' && row.action !== null) {
    const { url, client_secret } = row.action
    const next_action = { type: 'redirect', url } as const
    return { ...order, payment: { ...payment, next_action, ...(client_secret !== undefined && { client_secret }) } }
  }
  const isPaid = payment?.status === 'succeeded' || payment?.status === 'refunded'
  return isPaid && row.charge_id !== null
    ? { ...order, payment: { ...payment, ...paidWith(row, row.charge_id) } }
    : order
}

function paidWith({ card, payment_method: method }: OrderRow, charge: string): Pick<Payment, 'method' | 'card'> {
  if (card !== null) return { card }
  return method !== null && isSandboxCharge(charge) ? { method } : {}
}

/** An order at `nowMs`. `left_ms`, if present, is the remaining time of its hold by the ledger's clock. */
export function orderAt(order: TimedOrder, nowMs: number): Order {
  const leftMs = order.left_ms ?? order.reserved_until.getTime() - nowMs
  const { order_id, sale_id: sale, product_id, quantity, unit_price_minor, currency, refunded_minor } = order
  const status = statusOf(order.status)
  const kind = status === 'cancelled' && order.reason !== null && kindOf(order.reason)
  const reason = CANCEL_REASONS.find((one) => one === kind)
  return {
    order_id,
    sale,
    product_id,
    quantity: order.cart?.[0]?.quantity ?? quantity,
    unit_price_minor,
    currency,
    status,
    ...(reason && { reason }),
    reserved_until: order.reserved_until.toISOString(),
    expires_in_seconds: status === 'reserved' ? Math.max(0, Math.round(leftMs / 100) / 10) : 0,
    created_at: order.created_at.toISOString(),
    lines: linesOf(order),
    short_number: shortNumber(order.number),
    ...totalsIn(order),
    refunded_minor,
    // A change of an order is told as it was then: before the payment nothing was issued.
    ...(order.receipt && wasPaid(status) && { receipt: { tax: order.receipt.tax, seller: order.receipt.seller } }),
    payment: paymentOf(order, nowMs),
  }
}

const wasPaid = (status: OrderStatus) => isSold(status) || status === 'refunded'

/** The order as it was at an event. Its hold then had the time from the event to its end. */
export const orderThen = <Row extends TimedOrder>(order: Row, { status, data }: PastState, atMs: number): Row => ({
  ...order,
  left_ms: order.reserved_until.getTime() - atMs,
  status,
  // An order that starts as cancelled never changes, and its event has no fields.
  reason: status === 'cancelled' ? order.reason : null,
  attempts: 0,
  decline_code: null,
  refunded_minor: 0,
  action: null,
  ...data,
})

/** The cost of the order as the buyer sees it. */
export const totalsIn = (order: Taxed): Totals => ({
  ...totalsOf(subtotalOf(order), billOn(order)),
  total_minor: totalOf(order),
})
type Taxed = Priced & Pick<OrderRow, 'receipt'> & { readonly tax?: Tax | null }

/**
 * What it costs beside its lines. Without a bill its price may include the tax of the sale all the same: at the
 * payment, once it is paid.
 */
export function billOn(order: Taxed): readonly BillLine[] {
  const { bill, receipt, tax = null } = order
  return bill ?? includedIn(totalOf(order), receipt ? receipt.tax : tax)
}

const includedIn = (total: number, tax: Tax | null): BillLine[] =>
  tax && tax.included !== false
    ? [{ kind: 'tax', name: tax.name, amount_minor: shareWithin(total, tax.percent), included: true }]
    : []

/** Returns the lines as stored or, for units of one product, the line that follows from the order. */
export function linesOf({ cart, status, ...order }: TimedOrder): OrderLine[] {
  const of = isSold(status) ? 'sold' : isLive(status) ? 'held' : 'returned'
  const { product_id, quantity, unit_price_minor } = order
  const name = order.receipt?.name ?? order.product_name ?? product_id
  if (cart === null) return [{ line: 1, product_id, name, quantity, unit_price_minor, status: of }]
  const units = cart.filter(({ product }) => !isPromoCode(product))
  return units.map(({ product, section, seat: _, share_minor: __, returned, ...line }, i) => ({
    line: i + 1,
    ...(section ? { section_id: product } : { product_id: product }),
    ...line,
    status: returned ? 'returned' : of,
  }))
}

/** The state of its payment, derived from the order. */
function paymentOf(order: OrderRow, nowMs: number): Payment | null {
  const { status, attempts, decline_code, action, action_until, refunded_minor } = order
  // A cancelled order has a refund only if it was paid.
  const wasPaid = status === 'cancelled' && refunded_minor > 0
  const isGivenBack = wasPaid && refunded_minor === totalOf(order)
  if (status === 'refunded' || status === 'returned' || isGivenBack) return { status: 'refunded' }
  if (isSold(status) || wasPaid) return { status: 'succeeded' }
  const attempts_left = isLive(status) ? Math.max(0, PAYMENT_ATTEMPTS - attempts) : 0
  if (status === 'paying' && action !== null) {
    const leftMs = (action_until?.getTime() ?? nowMs) - nowMs
    return {
      status: 'requires_action',
      expires_in_seconds: Math.max(0, Math.round(leftMs / 100) / 10),
      attempts_left,
    }
  }
  if (status === 'paying') return { status: 'pending', attempts_left }
  if (decline_code === null) return null
  const code = DECLINE_CODES.find((one) => one === decline_code) ?? 'declined'
  return { status: 'declined', code, message: MESSAGES[code], attempts_left }
}

/** What to do about it, in plain words. */
const MESSAGES: Record<DeclineCode, string> = {
  declined: 'The payment was declined. Use another card, or ask your bank.',
  insufficient_funds: 'There is not enough money on the account. Use another card.',
  expired_card: 'The card has expired. Use another one.',
  incorrect_details: 'Some details of the card are not right. Check the number, the date and the code.',
  authentication_failed: 'Your bank did not confirm that it was you. Try again, or use another card.',
}

/** A reservation that is not recorded yet. Names and prices of seats are known once it is: it shows the section's. */
export function processingOrder(r: Reservation, sale: SaleRow | undefined): Order {
  const parts = partsOf(r).filter(({ product }) => !isPromoCode(product))
  const lines = parts.map(({ product, quantity }, i) => {
    const { name, unit_price_minor, section_type } = productOf(sale, product)
    const of = section_type ? { section_id: product } : { product_id: product }
    return { line: i + 1, ...of, name, quantity, unit_price_minor, status: 'held' as const }
  })
  const { quantity, unit_price_minor } = assertExists(lines[0], 'An order has a line.')
  const subtotal = lines.reduce((sum, line) => sum + line.unit_price_minor * line.quantity, 0)
  const charged = r.charge ? pricesOf(r, r.charge) : subtotal
  return {
    order_id: r.order,
    sale: r.sale,
    product_id: r.product,
    quantity,
    unit_price_minor,
    currency: productOf(sale, r.product).currency,
    status: 'processing',
    reserved_until: null,
    expires_in_seconds: 0,
    created_at: new Date(createdAtMs(r.order)).toISOString(),
    lines,
    short_number: null,
    ...totalsOf(charged, r.charge?.billed?.bill ?? includedIn(charged, sale?.tax ?? null)),
    refunded_minor: 0,
    payment: null,
  }
}

/** Throws the problem of a product that is unknown here: it was removed, or the sale is too new. It has no price. */
function productOf(sale: SaleRow | undefined, id: string): ProductRow {
  const product = sale?.products.find(({ product_id }) => product_id === id)
  if (!product) throw new ProblemError(tryAgain('The order cannot be shown before it is recorded.'))
  return product
}

/** The sum of all lines at the prices of the reservation. The uses of promo codes have none. */
const pricesOf = (r: Reservation, { prices }: Charge) =>
  unitLines(partsOf(r).filter(({ product }) => !isPromoCode(product))).reduce(
    (sum, { quantity }, n) => sum + quantity * assertExists(prices[n], 'A charge has a price for each line.'),
    0,
  )

/** An order id begins with the time it was made, in milliseconds since the epoch (UUIDv7, RFC 9562). */
const createdAtMs = (orderId: string) => Number.parseInt(orderId.replace('-', '').slice(0, 12), 16)
