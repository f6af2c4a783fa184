/**
 * Lines of an order that an operator gives back or cancels: which it has, what they cost, and which are left. Numbers are those of
 * the public `line`, from 1. Pure.
 */
import { invalidField, ProblemError, problem } from '../../shared/problem.ts'
import type { OrderRow } from '../ledger/order-statements.ts'
import type { StoredLine } from '../ledger/schema/orders.ts'

type WithLines = Pick<OrderRow, 'product_id' | 'quantity' | 'unit_price_minor' | 'cart'>
type Line = Pick<StoredLine, 'quantity' | 'unit_price_minor' | 'returned'>

/** In the order of their numbers. */
const linesIn = ({ cart, quantity, unit_price_minor }: WithLines): readonly Line[] =>
  cart ?? [{ quantity, unit_price_minor }]

/** The numbers of lines that are neither returned nor among `gone`. */
export function linesLeft(order: WithLines, gone: readonly number[]): number[] {
  const isGone = new Set(gone)
  return linesIn(order).flatMap(({ returned }, i) => (returned || isGone.has(i + 1) ? [] : [i + 1]))
}

export const priceOf = (order: WithLines, lines: readonly number[]): number =>
  lines.reduce((sum, line) => {
    const { unit_price_minor = 0, quantity = 0 } = linesIn(order)[line - 1] ?? {}
    return sum + unit_price_minor * quantity
  }, 0)

/** Throws if the order has no such line, or if it is among `gone` or returned: nothing is given back twice. */
export function requireLines(order: WithLines, lines: readonly number[], gone: readonly number[]): void {
  const known = linesIn(order).length
  const unknown = lines.find((line) => line > known)
  if (unknown !== undefined) throw new ProblemError(invalidField('lines', `the order has no line ${unknown}`))
  const left = new Set(linesLeft(order, gone))
  const twice = lines.find((line) => !left.has(line))
  if (twice !== undefined)
    throw new ProblemError(problem('conflict', { detail: `Line ${twice} is cancelled or given back already.` }))
}
