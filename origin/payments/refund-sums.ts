/**
 * What the refunds of a charge add up to, and what the provider says of them. A row without an amount gives back
 * whatever is left of its charge; an order's `refunded_minor` is always the sum of its made refunds. Pure.
 */
import { isSold } from '../../shared/api/order-status.ts'
import { type OrderRow, type Priced, totalOf } from '../ledger/order-statements.ts'
import type { refunds } from '../ledger/schema/payments.ts'
import { type Move, TRANSITIONS } from '../ledger/transitions.ts'
import { linesLeft } from '../orders/order-lines.ts'
import type { ProviderRefund, Returns } from '../providers/provider.ts'

/** The reason of refunds made at the provider, which nobody asked for here. */
export const OUTSIDE = 'refunded_outside'

export type RefundRow = Readonly<typeof refunds.$inferSelect>

/** What the provider has returned for a row so far. */
const returnedFor = ({ returned }: Pick<RefundRow, 'returned'>) =>
  Object.values(returned).reduce((sum, minor) => sum + minor, 0)

/** Null: all that is left. */
function sumOf(total: number, amounts: readonly (number | null)[]): number {
  let sum = 0
  for (const amount of amounts) {
    if (amount === null) return total
    sum += amount
  }
  return Math.min(total, sum)
}
const askedBy = (row: RefundRow) => (row.amount_minor === null ? null : Math.max(row.amount_minor, returnedFor(row)))
const isMade = (row: RefundRow) => row.refunded_at !== null
const madeBy = (row: RefundRow) => (isMade(row) ? askedBy(row) : returnedFor(row))

/** What may still be asked for: a refund that is asked for counts before it is made. */
export const amountLeft = (order: Priced, rows: readonly RefundRow[]) =>
  totalOf(order) - sumOf(totalOf(order), rows.map(askedBy))

/** What a row gives back. */
export function amountOf(order: Priced, row: RefundRow, rows: readonly RefundRow[]): number {
  if (row.amount_minor !== null) return row.amount_minor
  return amountLeft(
    order,
    rows.filter((other) => other.refund_id !== row.refund_id),
  )
}

/** The lines that these refunds name, made or not. One of a sum, or of the whole order, names none. */
export const givenBack = (rows: readonly RefundRow[]): number[] => rows.flatMap(({ lines }) => lines ?? [])

/** The lines whose units come back with these refunds. */
export const restockedBy = (rows: readonly RefundRow[]): number[] => givenBack(rows.filter(({ restock }) => restock))

interface RefundMove {
  readonly refundedMinor: number
  readonly move: Move
  /** Lines whose units come back now, while those of others stay gone. */
  readonly returned: readonly number[]
}

/**
 * What an order shows once these of its refunds are made. Its units are for sale again where they say so, whatever is
 * given back.
 */
export function refundMove(order: OrderRow, rows: readonly RefundRow[]): RefundMove {
  const { status, refunded_minor } = order
  const from = [status]
  const made = rows.filter(isMade)
  const refundedMinor = sumOf(totalOf(order), rows.map(madeBy))
  if (refundedMinor < refunded_minor) {
    // An order that was refunded is paid again; units that are back for sale stay there.
    const { refundFailed } = TRANSITIONS
    const move = status === 'refunded' ? refundFailed : { from, type: refundFailed.type }
    return { refundedMinor, move, returned: [] }
  }
  const restocked = new Set(restockedBy(made))
  const isRestocked =
    made.some((row) => row.restock && row.lines === null) || linesLeft(order, [...restocked]).length === 0
  if (isSold(status) && isRestocked) return { refundedMinor, move: TRANSITIONS.restock, returned: [] }
  const returned = isSold(status) ? linesLeft(order, []).filter((line) => restocked.has(line)) : []
  const isWhole = refundedMinor === totalOf(order) && (status === 'confirmed' || status === 'fulfilled')
  const move: Move = isWhole ? TRANSITIONS.refund : { from, type: 'order.refunded' }
  return { refundedMinor, move, returned }
}

// -- What the provider says --------------------------------------------------------------------------------------

/** A row after the provider's refunds are counted. */
interface CountedRow extends Pick<RefundRow, 'refund_id' | 'returned'> {
  readonly isMade: boolean
}

interface Counted {
  /** Rows of ours that change. */
  readonly rows: readonly CountedRow[]
  /** Refunds, or what is left of them, that nobody asked for here. */
  readonly outside: readonly { readonly id: string; readonly amountMinor: number }[]
  /** Rows of such refunds that have failed. */
  readonly undone: readonly string[]
}

/**
 * Counts the provider's refunds of a charge, each once. One that was made for a row is that row's. One that a person
 * made there counts for what is still owed, parts first, before anything is tried again; the rest of it is another
 * refund. What has failed is owed again.
 */
export function countReturns(rows: readonly RefundRow[], { takenMinor, refunds }: Returns): Counted {
  const counts = rows.map((row): Count => ({ row, returned: { ...row.returned }, isLess: false }))
  const made = refunds.filter((one) => one.isMade)
  for (const { id, key, isMade } of refunds)
    for (const count of isMade ? [] : counts) {
      const had = count.returned[id]
      if (had === 0 || (had === undefined && count.row.refund_id !== key)) continue
      count.returned[id] = 0
      count.isLess = true
    }
  const ownerOf = ({ key }: ProviderRefund) => counts.find(({ row }) => row.refund_id === key)
  const fresh = made.filter(({ id }) => counts.every(({ returned }) => returned[id] === undefined))
  for (const one of fresh) {
    const owner = ownerOf(one)
    if (owner) owner.returned[one.id] = one.amountMinor
  }
  const outside = fresh.flatMap((one) => (ownerOf(one) ? [] : shareOut(one, counts)))
  const madeMinor = made.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  const isFull = ({ row: { amount_minor }, returned }: Count) =>
    amount_minor === null ? takenMinor > 0 && madeMinor >= takenMinor : returnedFor({ returned }) >= amount_minor
  const isUndone = ({ row, isLess }: Count) => isLess && row.reason === OUTSIDE
  return {
    outside,
    undone: counts.filter(isUndone).map(({ row }) => row.refund_id),
    rows: counts.flatMap((count) => {
      const { row, returned, isLess } = count
      const isNow = isFull(count) || (isMade(row) && !isLess)
      const isSame =
        isNow === isMade(row) && Object.entries(returned).every(([id, minor]) => row.returned[id] === minor)
      return isSame || isUndone(count) ? [] : [{ refund_id: row.refund_id, returned, isMade: isNow }]
    }),
  }
}

interface Count {
  readonly row: RefundRow
  readonly returned: Record<string, number>
  /** A refund that it had has failed. */
  isLess: boolean
}

/** Gives rows that are owed something, parts first, what a person has refunded. Returns what is left of it. */
function shareOut({ id, amountMinor }: ProviderRefund, counts: readonly Count[]): Counted['outside'] {
  const owed = counts.filter(({ row, isLess }) => row.reason !== OUTSIDE && (!isMade(row) || isLess))
  const parts = owed.filter(({ row }) => row.amount_minor !== null)
  const wholes = owed.filter(({ row }) => row.amount_minor === null)
  let left = amountMinor
  for (const { row, returned } of [...parts, ...wholes]) {
    const takes = Math.min(left, owedOf({ ...row, returned }) ?? left)
    if (takes > 0) returned[id] = takes
    left -= takes
  }
  return left > 0 ? [{ id, amountMinor: left }] : []
}

/** How much of a row is still to be given back; null: all that is left of its charge. */
const owedOf = ({ amount_minor, returned }: Pick<RefundRow, 'amount_minor' | 'returned'>) =>
  amount_minor === null ? null : Math.max(0, amount_minor - returnedFor({ returned }))
