/**
 * Cancels lines of an order that is not sent: what is not paid is taken out of it at once, and what is paid is given
 * back, its units with it; what was paid at the box office is given back there. Without its last line, an order is
 * cancelled as a whole.
 */
import { statusOf } from '../../shared/api/order-status.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import { billWithout } from '../checkout/cart/pricing.ts'
import { type VoucherSource, vouchersOfOrder } from '../checkout/cart/vouchers.ts'
import { audit } from '../ledger/audit.ts'
import { isPromoCode } from '../ledger/cart.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import {
  advanceOrders,
  countryOf,
  findOrder,
  type OrderRow,
  type OrderView,
  returnLines,
  writeBill,
} from '../ledger/order-statements.ts'
import { lockOrders } from '../ledger/payment-statements.ts'
import { linesLeft, priceOf, requireLines } from '../orders/order-lines.ts'
import { refundsOf } from '../payments/payment-queries.ts'
import { givenBack, restockedBy } from '../payments/refund-sums.ts'
import { requestRefund } from '../payments/refunds.ts'
import { readSales } from '../sales/sale-queries.ts'

interface By {
  readonly operator: string
  readonly reason?: string | undefined
  readonly key: string | null
}

interface CancelDeps {
  readonly sql: Sql
  readonly vouchers: readonly VoucherSource[]
}

interface Cancelled {
  readonly order: OrderView
  /** False while the provider has not confirmed that the money went back. */
  readonly isDone: boolean
  /** The gate must learn of units that came back. */
  readonly isRestocked: boolean
}

/**
 * Undefined, and nothing is changed, where no line would be left: the whole order is to be cancelled. Throws if it
 * cannot be.
 */
export async function cancelLines(
  { sql, vouchers }: CancelDeps,
  orderId: string,
  lines: readonly number[],
  by: By,
): Promise<Cancelled | undefined> {
  const decided = await sql.begin((tx) => takeOut({ tx, vouchers }, orderId, lines, by))
  if (decided === 'whole') return undefined
  if (decided === 'refund') {
    const { operator, key, reason = 'cancelled by the shop' } = by
    return requestRefund(sql, orderId, { lines: [...lines], reason, restock: true }, { operator, key })
  }
  const order = await findOrder(sql, orderId)
  if (!order) throw new Error('the order is gone')
  return { order, isDone: true, isRestocked: true }
}

interface Within extends Pick<CancelDeps, 'vouchers'> {
  readonly tx: Queryable
}

/** Takes the lines out of an order whose money no provider has, or says how they are cancelled. */
async function takeOut(
  { tx, vouchers }: Within,
  orderId: string,
  lines: readonly number[],
  { operator, reason, key }: By,
): Promise<'whole' | 'refund' | 'done'> {
  const [order] = await lockOrders(tx, [orderId])
  if (!order) throw new ProblemError(problem('unknown-order'))
  const { status, sale_id: sale } = order
  if (status === 'cancelled') return 'whole'
  requireUnsent(order)
  const rows = await refundsOf(tx, [order])
  const isReplay = key !== null && rows.some((row) => row.idempotency_key === key)
  if (isReplay) return 'refund'
  requireLines(order, lines, givenBack(rows))
  if (linesLeft(order, [...restockedBy(rows), ...lines]).length === 0) return 'whole'
  if (status === 'confirmed' && order.charge_id !== null) return 'refund'
  if (status === 'confirmed') {
    // The money of this order is at the box office, which gives it back there.
    const refundedMinor = order.refunded_minor + priceOf(order, lines, givenBack(rows))
    await advanceOrders(tx, [{ order: orderId, refundedMinor }], { from: [status], type: 'order.refunded' })
  }
  const remade = status === 'confirmed' ? undefined : await billAgain({ tx, vouchers }, order, lines)
  const out = [...lines, ...(remade?.codesBack ?? [])]
  if (remade) await writeBill(tx, { ...order, ...remade })
  const changed = await returnLines(tx, orderId, out, {
    how: status === 'confirmed' ? 'refunded' : 'unpaid',
    type: 'order.lines_cancelled',
  })
  if (!changed) throw new Error('the lines of a locked order were not taken out')
  const entry = { actor: operator, action: 'lines cancelled', sale, order: orderId, before: { status } }
  await audit(tx, [{ ...entry, after: { lines, ...(reason && { reason }) } }])
  return 'done'
}

/**
 * Undefined where the order costs its lines and nothing else. Throws where the sale has other terms than it was made
 * by.
 */
async function billAgain(
  { tx, vouchers }: Within,
  { order_id, sale_id, cart, bill, terms }: OrderRow,
  lines: readonly number[],
) {
  if (!cart || !bill) return undefined
  const used = cart.flatMap(({ product }) => (isPromoCode(product) ? [product.slice(1)] : []))
  const found = await vouchersOfOrder(vouchers, tx, sale_id, used)
  const country = await countryOf(tx, order_id)
  // Last, so that what was read before is of its version, too.
  const { sales } = await readSales(tx, [sale_id], true)
  const [sale] = sales
  if (sale?.terms_version !== terms)
    throw new ProblemError(
      problem('conflict', {
        detail: 'The fees, tax, delivery or promo codes of the sale have changed since: cancel all of the order.',
      }),
    )
  return billWithout(cart, lines, { sale, vouchers: found, country })
}

function requireUnsent({ status, attempts }: OrderRow): void {
  const conflict = (detail: string) => new ProblemError(problem('conflict', { detail }))
  if (status === 'confirmed') return
  if (status === 'expired') throw conflict('The hold of the order has ended.')
  if (status === 'paying') throw conflict('The order is being paid: its lines can be cancelled afterwards.')
  if (status !== 'reserved')
    throw conflict(`The order is ${statusOf(status)}: what was paid and handed over can only be refunded.`)
  // The provider may still report the earlier attempt, whose amount is the price that it had.
  if (attempts > 0)
    throw conflict('A payment of the order was begun: its lines can be cancelled once it is paid, or all of it now.')
}
