/**
 * What the refunds of a charge add up to. A row without an amount gives back whatever is left of its charge; an order's
 * `refunded_minor` is always the sum of its made refunds. Pure.
 */
import { isSold } from '../../shared/order-status.ts'
import { type Move, type OrderRow, type Priced, totalOf } from '../ledger/order-statements.ts'
import type { refunds } from '../ledger/schema/payments.ts'
import { linesLeft } from '../orders/order-lines.ts'

export type RefundRow = Readonly<typeof refunds.$inferSelect>

const sumOf = (total: number, rows: readonly RefundRow[]) =>
  rows.some((row) => row.amount_minor === null)
    ? total
    : Math.min(
        total,
        rows.reduce((sum, row) => sum + (row.amount_minor ?? 0), 0),
      )

/** What may still be asked for: a refund that is asked for counts before it is made. */
export const amountLeft = (order: Priced, rows: readonly RefundRow[]) => totalOf(order) - sumOf(totalOf(order), rows)

/** What a row gives back. */
export function amountOf(order: Priced, row: RefundRow, rows: readonly RefundRow[]): number {
  if (row.amount_minor !== null) return row.amount_minor
  return amountLeft(
    order,
    rows.filter((other) => other.refund_id !== row.refund_id),
  )
}

/** The lines whose units come back with these refunds. */
export const restockedBy = (rows: readonly RefundRow[]): number[] =>
  rows.flatMap(({ restock, lines }) => (restock ? (lines ?? []) : []))

interface RefundMove {
  readonly refundedMinor: number
  readonly move: Move
  /** Lines whose units come back now, while those of others stay gone. */
  readonly returned: readonly number[]
}

/** What an order shows once these of its refunds are made: a part, or all of it, with its units back for sale or not. */
export function refundMove(order: OrderRow, rows: readonly RefundRow[]): RefundMove {
  const made = rows.filter((row) => row.refunded_at !== null)
  const refundedMinor = sumOf(totalOf(order), made)
  const isWhole = refundedMinor === totalOf(order)
  const canBeWhole = order.status === 'confirmed' || order.status === 'fulfilled'
  const isRestocked =
    rows.some((row) => row.restock && row.lines === null) || linesLeft(order, restockedBy(rows)).length === 0
  if (isWhole && canBeWhole && isRestocked)
    return { refundedMinor, move: { from: [order.status], to: 'returned' }, returned: [] }
  const restocked = new Set(restockedBy(made))
  const returned = isSold(order.status) ? linesLeft(order, []).filter((line) => restocked.has(line)) : []
  const move = isWhole && canBeWhole ? ({ to: 'refunded' } as const) : ({ type: 'order.refunded' } as const)
  return { refundedMinor, move: { from: [order.status], ...move }, returned }
}
