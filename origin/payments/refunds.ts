/**
 * Refunds that an operator asks for. The row, its job and the audit entry are one transaction; the outbox calls the provider, and the
 * order shows it once the provider has confirmed.
 */
import type { RefundRequest } from '../../shared/api/operator.ts'
import { isSold } from '../../shared/order-status.ts'
import { invalidField, type Problem, ProblemError, problem } from '../../shared/problem.ts'
import { addJobs } from '../jobs/job-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder, type OrderView } from '../ledger/order-statements.ts'
import { audit } from '../operators/audit.ts'
import { insertRefund, lockOrders, refundsOf } from './payment-queries.ts'
import { amountLeft, amountOf, type RefundRow } from './refund-sums.ts'

/** Who asks, and the key of the call. */
interface Asked {
  readonly operator: string
  readonly key: string
}

interface RefundResult {
  readonly order: OrderView
  readonly isReplay: boolean
  /** The provider has confirmed it. */
  readonly isDone: boolean
}

/** Throws, and changes nothing, if the order is not sold, or if more is asked for than is left. */
export async function askRefund(
  sql: Sql,
  orderId: string,
  request: RefundRequest,
  { operator, key }: Asked,
): Promise<RefundResult> {
  const { row, isReplay } = await sql.begin(async (tx) => {
    const [order] = await lockOrders(tx, [orderId])
    if (!order) return refuse(problem('unknown-order'))
    const rows = await refundsOf(tx, [order])
    const earlier = rows.find((one) => one.idempotency_key === key)
    if (earlier) {
      if (!isSame(request, earlier, amountOf(order, earlier, rows))) refuse(problem('idempotency-key-reused'))
      return { row: earlier, isReplay: true }
    }
    const { status, sale_id: sale, charge_id: charge, refunded_minor } = order
    if (!isSold(status) && status !== 'returned')
      refuse(problem('conflict', { detail: `The order is ${status}: only a paid one can be refunded.` }))
    const leftMinor = amountLeft(order, rows)
    const { amount_minor = leftMinor, reason, restock } = request
    if (leftMinor === 0 || charge === null) return refuse(tooMuch(0))
    if (amount_minor > leftMinor) return refuse(tooMuch(leftMinor))
    const isWhole = amount_minor === leftMinor
    if (restock && !isWhole) refuse(invalidField('restock', 'units come back only with all of the money'))
    const amountMinor = isWhole ? null : amount_minor
    const row = await insertRefund(tx, { charge, order: orderId, reason, amountMinor, restock, operator, key })
    await addJobs(tx, 'refund', [{ data: { charge, order: orderId, refund: row.refund_id } }])
    const before = { status, refunded_minor }
    const after = { refund: row.refund_id, amount_minor, reason, restock }
    await audit(tx, [{ actor: operator, action: 'refund requested', sale, order: orderId, before, after }])
    return { row, isReplay: false }
  })
  const order = await findOrder(sql, orderId)
  if (!order) throw new Error('the order is gone')
  return { order, isReplay, isDone: row.refunded_at !== null }
}

/** Whether a call with a known key asks for the same. */
function isSame({ amount_minor, reason, restock }: RefundRequest, row: RefundRow, amountMinor: number): boolean {
  const sameAmount = amount_minor === undefined ? row.amount_minor === null : amount_minor === amountMinor
  return sameAmount && restock === row.restock && reason === row.reason
}

const tooMuch = (leftMinor: number): Problem => ({
  ...invalidField('amount_minor', leftMinor === 0 ? 'nothing is left to refund' : `at most ${leftMinor} is left`),
  rest_minor: leftMinor,
})

const refuse = (p: Problem): never => {
  throw new ProblemError(p)
}
