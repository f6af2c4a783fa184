/**
 * Lines of an order that an operator gives back or cancels: which it has, what they cost, and which are left. Numbers
 * are those of the public `line`, from 1. Pure.
 */
import { assertExists } from '../../shared/lib/assert.ts'
import { invalidField, ProblemError, problem } from '../../shared/problem.ts'
import { isPromoCode } from '../ledger/cart.ts'
import { type OrderRow, type Priced, totalOf } from '../ledger/order-statements.ts'
import type { StoredLine } from '../ledger/schema/orders.ts'

type WithLines = Pick<OrderRow, 'product_id' | 'quantity' | 'unit_price_minor' | 'cart'>
type Line = Pick<StoredLine, 'quantity' | 'unit_price_minor' | 'share_minor' | 'returned'>

/** The lines in the order of their numbers. */
const linesIn = ({ cart, quantity, unit_price_minor }: WithLines): readonly Line[] =>
  cart?.filter(({ product }) => !isPromoCode(product)) ?? [{ quantity, unit_price_minor }]

/** The price of a line with its share of the bill. */
const costOf = ({ unit_price_minor, quantity, share_minor }: Line) => share_minor ?? unit_price_minor * quantity

/** What each line costs; one that was taken out before the order was paid costs nothing. */
export const lineCosts = (order: WithLines): readonly number[] =>
  linesIn(order).map((line) => (line.returned === 'unpaid' ? 0 : costOf(line)))

/** The numbers of lines that are neither returned nor among `gone`. */
export function linesLeft(order: WithLines, gone: readonly number[]): number[] {
  const isGone = new Set(gone)
  return linesIn(order).flatMap(({ returned }, i) => (returned || isGone.has(i + 1) ? [] : [i + 1]))
}

/** What lines cost; with the last that are left, also what is for the order as a whole: its shipping, for instance. */
export function priceOf(order: WithLines & Priced, lines: readonly number[], gone: readonly number[]): number {
  const all = linesIn(order)
  const sumOf = (some: readonly Line[]) => some.reduce((sum, line) => sum + costOf(line), 0)
  const costs = sumOf(
    lines.map((line) => assertExists(all[line - 1], 'A line that is given back is a line of its order.')),
  )
  if (linesLeft(order, [...gone, ...lines]).length > 0) return costs
  return costs + totalOf(order) - lineCosts(order).reduce((sum, cost) => sum + cost, 0)
}

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
