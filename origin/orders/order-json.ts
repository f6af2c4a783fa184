/** An order as the API sends it to its buyer and to operators. */
import type { Order } from '../../shared/api/public.ts'
import { CANCEL_REASONS } from '../../shared/order-status.ts'
import type { OrderRow } from '../ledger/orders.ts'
import type { Reservation } from '../ledger/record.ts'
import type { SaleRow } from '../ledger/sales.ts'

/** A reason such as `declined: card_expired` without its detail, of which there may be very many. */
export const kindOf = (reason: string) => reason.split(':', 1)[0]

/** An order at `nowMs`. `left_ms`, if present, is the rest of its hold by the ledger's clock. */
export function orderAt(order: OrderRow & { left_ms?: number }, nowMs: number): Order {
  const leftMs = order.left_ms ?? order.reserved_until.getTime() - nowMs
  const { order_id, sale_id: sale, product_id, quantity, unit_price_minor, currency, status } = order
  const kind = status === 'cancelled' && order.reason !== null && kindOf(order.reason)
  const reason = CANCEL_REASONS.find((one) => one === kind)
  return {
    ...{ order_id, sale, product_id, quantity, unit_price_minor, currency, status },
    ...(reason && { reason }),
    reserved_until: order.reserved_until.toISOString(),
    expires_in_seconds: status === 'reserved' ? Math.max(0, Math.round(leftMs / 100) / 10) : 0,
    created_at: order.created_at.toISOString(),
  }
}

/** A reservation that is not recorded yet. */
export function processingOrder(r: Reservation, sale: SaleRow | undefined): Order {
  const product = sale?.products.find((p) => p.product_id === r.product)
  return {
    order_id: r.order,
    sale: r.sale,
    product_id: r.product,
    quantity: r.quantity,
    unit_price_minor: product?.unit_price_minor ?? 0,
    currency: product?.currency ?? '',
    status: 'processing',
    reserved_until: null,
    expires_in_seconds: 0,
    created_at: new Date(createdAtMs(r.order)).toISOString(),
  }
}

/** An order id begins with the time it was made, in milliseconds since the epoch (UUIDv7, RFC 9562). */
const createdAtMs = (orderId: string) => Number.parseInt(orderId.replace('-', '').slice(0, 12), 16)
