/**
 * Puts units of a refunded order back on sale, once: money that went back by itself leaves them sold. No money moves
 * here. Without its last line the order has none of its units any more.
 */
import type { ReturnRequest } from '../../shared/api/operators/requests.ts'
import { isSold, statusOf } from '../../shared/api/order-status.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import { audit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder, moveOrders, type OrderRow, type OrderView, returnLines } from '../ledger/order-statements.ts'
import { lockOrders } from '../ledger/payment-statements.ts'
import { TRANSITIONS } from '../ledger/transitions.ts'
import { linesLeft, requireLines } from '../orders/order-lines.ts'
import { refundsOf } from '../payments/payment-queries.ts'
import type { RefundRow } from '../payments/refund-sums.ts'

const TYPE = 'order.units_returned'

/** Throws, and changes nothing, where they are for sale already, or were not refunded. */
export async function returnUnits(
  sql: Sql,
  orderId: string,
  { lines: asked }: ReturnRequest,
  operator: string,
): Promise<OrderView> {
  await sql.begin(async (tx) => {
    const [order] = await lockOrders(tx, [orderId])
    if (!order) throw new ProblemError(problem('unknown-order'))
    const { status, sale_id: sale } = order
    const lines = linesToReturn(order, await refundsOf(tx, [order]), asked)
    const isAll = linesLeft(order, lines).length === 0
    if (isAll) await moveOrders(tx, [orderId], { ...TRANSITIONS.restock, type: TYPE })
    else await returnLines(tx, orderId, lines, { how: 'refunded', type: TYPE })
    const entry = {
      actor: operator,
      action: 'units returned',
      sale,
      order: orderId,
      before: { status: statusOf(status) },
    }
    await audit(tx, [{ ...entry, after: isAll ? {} : { lines } }])
  })
  const order = await findOrder(sql, orderId)
  if (!order) throw new Error('the order is gone')
  return order
}

/** Returns the lines of a partly refunded order that a refund names, or all of them if a refund names none. */
function linesToReturn(
  order: OrderRow,
  refunds: readonly Pick<RefundRow, 'lines' | 'refunded_at'>[],
  asked: readonly number[] | undefined,
): readonly number[] {
  const { status, refunded_minor } = order
  if (status === 'returned') throw conflict('The units of the order are for sale already.')
  if (!isSold(status)) throw conflict(`The order is ${statusOf(status)}: it has no units that were sold.`)
  if (status !== 'refunded' && refunded_minor === 0)
    throw conflict('Nothing of the order was refunded: cancel it, or refund it with its units.')
  if (asked) requireLines(order, asked, [])
  const made = refunds.filter(({ refunded_at }) => refunded_at !== null)
  const isAny = status === 'refunded' || made.some(({ lines }) => lines === null)
  const refunded = linesLeft(order, []).filter((line) => isAny || made.some(({ lines }) => lines?.includes(line)))
  const other = asked?.find((line) => !refunded.includes(line))
  if (other !== undefined) throw conflict(`Line ${other} was not refunded.`)
  if (refunded.length === 0) throw conflict('The units that were refunded are for sale already.')
  return asked ?? refunded
}

const conflict = (detail: string) => new ProblemError(problem('conflict', { detail }))
