/**
 * Refunds that an operator asks for. The row, its job and the audit entry are one transaction; the outbox calls the
 * provider, and the order shows it once the provider has confirmed.
 */
import type { RefundRequest } from '../../shared/api/operators/requests.ts'
import { isSold } from '../../shared/api/order-status.ts'
import { amountIssue } from '../../shared/api/stripe-amount.ts'
import { invalidField, type Problem, ProblemError, problem } from '../../shared/problem.ts'
import { addJobs } from '../jobs/job-queries.ts'
import { audit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder, type OrderRow, type OrderView, returnLines } from '../ledger/order-statements.ts'
import { lockOrders } from '../ledger/payment-statements.ts'
import { priceOf, requireLines } from '../orders/order-lines.ts'
import { insertRefund, refundsOf } from './payment-queries.ts'
import { amountLeft, amountOf, givenBack, type RefundRow } from './refund-sums.ts'

/** The operator, and the key of the call if it has one. */
interface Asked {
  readonly operator: string
  readonly key: string | null
}

interface RefundResult {
  readonly order: OrderView
  readonly isReplay: boolean
  /** The provider has confirmed it. */
  readonly isDone: boolean
  /** Lines that cost nothing came back at once: the gate must learn of it. */
  readonly isRestocked: boolean
}

/**
 * Throws, and changes nothing, if the order is not sold, if more is asked for than is left, or a line is given back
 * already.
 */
export async function requestRefund(
  sql: Sql,
  orderId: string,
  request: RefundRequest,
  { operator, key }: Asked,
): Promise<RefundResult> {
  const { row, isReplay } = await sql.begin(async (tx): Promise<{ row: RefundRow | null; isReplay: boolean }> => {
    const [order] = await lockOrders(tx, [orderId])
    if (!order) return refuse(problem('unknown-order'))
    const rows = await refundsOf(tx, [order])
    const earlier = key === null ? undefined : rows.find((one) => one.idempotency_key === key)
    if (earlier) {
      if (!isSame(request, earlier, order, rows)) refuse(problem('idempotency-key-reused'))
      return { row: earlier, isReplay: true }
    }
    const { status, sale_id: sale, charge_id: charge, refunded_minor } = order
    if (!isSold(status) && status !== 'returned')
      refuse(problem('conflict', { detail: `The order is ${status}: only a paid one can be refunded.` }))
    const { lines = null, reason, restock } = request
    if (lines) requireLines(order, lines, givenBack(rows))
    const leftMinor = amountLeft(order, rows)
    const mostMinor = lines ? priceOf(order, lines, givenBack(rows)) : leftMinor
    const { amount_minor = mostMinor } = request
    const entry = {
      actor: operator,
      action: 'refund requested',
      sale,
      order: orderId,
      before: { status, refunded_minor },
    }
    const asked = { amount_minor, reason, restock, ...(lines && { lines }) }
    if (lines && restock && mostMinor === 0 && isSold(status)) {
      await returnLines(tx, orderId, lines, { how: 'refunded', type: 'order.refunded' })
      await audit(tx, [{ ...entry, after: asked }])
      return { row: null, isReplay: false }
    }
    if (charge === null && leftMinor > 0)
      return refuse(
        problem('conflict', {
          detail: 'No provider has its money: cancel it, and give the money back at the box office or in the shop.',
        }),
      )
    if (leftMinor === 0 || charge === null || mostMinor === 0) return refuse(tooMuch(0))
    if (amount_minor > leftMinor) return refuse(tooMuch(leftMinor))
    if (amount_minor > mostMinor)
      refuse(invalidField('amount_minor', `at most ${mostMinor} is the price of these lines`))
    const issue = amountIssue(amount_minor, order.currency)
    if (issue) refuse(invalidField('amount_minor', issue))
    const amountMinor = amount_minor === leftMinor ? null : amount_minor
    const row = await insertRefund(tx, { charge, order: orderId, reason, amountMinor, restock, lines, operator, key })
    await addJobs(tx, 'refund', [{ data: { charge, order: orderId, refund: row.refund_id } }])
    await audit(tx, [{ ...entry, after: { refund: row.refund_id, ...asked } }])
    return { row, isReplay: false }
  })
  const order = await findOrder(sql, orderId)
  if (!order) throw new Error('the order is gone')
  return { order, isReplay, isDone: row === null || row.refunded_at !== null, isRestocked: row === null }
}

/** True if a call with a known key asks for the same refund. */
function isSame(request: RefundRequest, row: RefundRow, order: OrderRow, rows: readonly RefundRow[]): boolean {
  const { amount_minor, reason, restock, lines } = request
  const sameLines = textOf(lines) === textOf(row.lines)
  const others = rows.filter(({ refund_id }) => refund_id !== row.refund_id)
  const unnamed =
    row.amount_minor === null || (sameLines && lines && row.amount_minor === priceOf(order, lines, givenBack(others)))
  const sameAmount = amount_minor === undefined ? unnamed : amount_minor === amountOf(order, row, rows)
  return sameAmount === true && sameLines && restock === row.restock && reason === row.reason
}

const textOf = (lines: readonly number[] | null | undefined) => (lines ? lines.toSorted((a, b) => a - b).join() : '')

const tooMuch = (leftMinor: number): Problem => ({
  ...invalidField('amount_minor', leftMinor === 0 ? 'nothing is left to refund' : `at most ${leftMinor} is left`),
  rest_minor: leftMinor,
})

const refuse = (p: Problem): never => {
  throw new ProblemError(p)
}
