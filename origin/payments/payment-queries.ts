/**
 * Payments: orders whose charge is to be started or resumed, captures and refunds, each one row that is open until
 * the provider has confirmed it, and the cursor in the provider's records.
 */

import { isSold } from '../../shared/api/order-status.ts'
import type { Card } from '../../shared/api/public.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { closingAbout } from '../findings/finding-queries.ts'
import type { JobData } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { advanceOrders, type OrderRow, returnLines } from '../ledger/order-statements.ts'
import type { ChargeOf } from '../ledger/payment-statements.ts'
import { lockOrders, type Refund } from '../ledger/payment-statements.ts'
import type { ProviderRefund, Returns } from '../providers/provider.ts'
import { countReturns, OUTSIDE, type RefundRow, refundMove } from './refund-sums.ts'

// -- Charges -----------------------------------------------------------------------------------------------------

/** The process that accepts an order with a payment method begins its payment; workers do so after this time. */
const BEGIN_AFTER_MS = 1_000

/** The condition of reserved orders that came with a payment method, and whose payment has not begun in time. */
// now() instead of clock_timestamp(): only a stable function can bound an index scan.
export const isPaymentToBegin = (sql: Sql) => sql`
  status = 'reserved' and payment_method is not null
  and created_at < now() - ${BEGIN_AFTER_MS} * interval '1 millisecond'`

export async function findPaymentsToBegin(sql: Sql, limit: number) {
  return sql<{ sale_id: string; order_id: string; payment_method: string }[]>`
    select sale_id, order_id, payment_method from orders
    where ${isPaymentToBegin(sql)} order by created_at limit ${limit}`
}

/**
 * Sets the time of orders that have not changed in `paying` for this long to now, and returns those without a job:
 * that of the others only waits for its turn at the provider.
 */
export async function touchForgottenPayments(tx: Queryable, forgottenSeconds: number, limit: number) {
  const rows = await tx<{ order_id: string }[]>`
    update orders set updated_at = clock_timestamp()
    where order_id in (
      select order_id from orders
      where status = 'paying' and action is null and updated_at < now() - ${forgottenSeconds} * interval '1 second'
        and order_id not in (
          select (data ->> 'order')::uuid from jobs where queue = 'charge' and state = 'pending')
      order by updated_at limit ${limit} for update skip locked)
    returning order_id`
  return rows.map((row) => row.order_id)
}

/** The condition of attempts whose buyer did not come back from their bank in time. */
export const isActionOverdue = (sql: Sql) => sql`action_until < now() and status = 'paying'`

/** Any of them, so that failing ones delay no others. */
export async function findOverdueActions(sql: Sql, limit: number) {
  return sql<{ order: string; attempt: number; charge: string; isEnding: boolean; overdueSeconds: number }[]>`
    select order_id as "order", attempts as attempt, action ->> 'charge' as charge,
      action ? 'ending' as "isEnding",
      extract(epoch from now() - action_until)::float8 as "overdueSeconds"
    from orders where ${isActionOverdue(sql)} order by random() limit ${limit}`
}

/** Marks the attempt as ending, so that it is no longer confirmed. Returns false if it is over already. */
export async function endAction(sql: Sql, { order, attempt }: { order: string; attempt: number }): Promise<boolean> {
  const { count } = await sql`
    update orders set action = action || '{"ending": true}'
    where order_id = ${order} and status = 'paying' and attempts = ${attempt} and action is not null`
  return count > 0
}

export async function readProviderCursor(sql: Sql, provider: string): Promise<string | null> {
  const [row] = await sql<{ cursor: string }[]>`select cursor from comparisons where provider = ${provider}`
  return row?.cursor ?? null
}

export async function writeProviderCursor(sql: Sql, provider: string, cursor: string): Promise<void> {
  await sql`
    insert into comparisons (provider, cursor) values (${provider}, ${cursor})
    on conflict (provider) do update set cursor = excluded.cursor, compared_at = clock_timestamp()`
}

// -- Captures and refunds ----------------------------------------------------------------------------------------

/** A row is open until the provider has confirmed it. */
export type OutboxTable = 'captures' | 'refunds'
const DONE_AT = { captures: 'captured_at', refunds: 'refunded_at' } as const
const KEY = { captures: 'charge_id', refunds: 'refund_id' } as const

/** What a job of the outbox asks for. */
type Owed = JobData['capture'] | JobData['refund']

/** An open row. */
export interface OpenRow extends ChargeOf {
  /** The charge of a capture, the id of a refund. */
  readonly id: string
  /** What is still to be given back; null: all of it, or all that is left. */
  readonly amountMinor: number | null
  /** A refund of a part whose charge was not captured yet. */
  readonly captureFirst: boolean
  /** True for a refund of all that is left while refunds of parts are open. */
  readonly waits: boolean
}

/** The open rows of these jobs, parallel to them. */
export async function findOpen(
  sql: Queryable,
  table: OutboxTable,
  owed: readonly Owed[],
): Promise<(OpenRow | undefined)[]> {
  const charges = owed.map((one) => one.charge)
  if (table === 'captures') {
    const rows = await sql<OpenRow[]>`
      select charge_id as id, charge_id as charge, order_id as "order", null as "amountMinor",
        false as "captureFirst", false as waits
      from captures where charge_id = any(${charges}::text[]) and captured_at is null`
    const byCharge = new Map(rows.map((row) => [row.charge, row]))
    return charges.map((charge) => byCharge.get(charge))
  }
  const rows = await sql<OpenRow[]>`
    select refund_id as id, charge_id as charge, order_id as "order",
      (amount_minor - (select coalesce(sum(minor::bigint), 0)
        from jsonb_each_text(returned) as r(id, minor)))::float8 as "amountMinor",
      amount_minor is not null and exists (
        select from captures c where c.charge_id = r.charge_id and c.captured_at is null) as "captureFirst",
      amount_minor is null and exists (
        select from refunds part where part.charge_id = r.charge_id and part.amount_minor is not null
          and part.refunded_at is null) as waits
    from refunds r
    where charge_id = any(${charges}::text[]) and refunded_at is null`
  return owed.map((one) => rows.find((row) => 'refund' in one && row.id === one.refund))
}

/** Deletes an open row; false if there was none. */
export async function deleteOpen(tx: Queryable, table: OutboxTable, id: string): Promise<boolean> {
  const { count } = await tx`delete from ${tx(table)} where ${tx(KEY[table])} = ${id} and ${tx(DONE_AT[table])} is null`
  return count > 0
}

/** Marks captures as made; what was reported of these charges before is over. */
export async function markCaptured(sql: Queryable, charges: readonly string[]) {
  // Locked in order: the response and the webhook arrive together, often for the same charges.
  await sql`
    with made as (
      update captures set captured_at = clock_timestamp()
      where charge_id in (
        select charge_id from captures where charge_id = any(${charges as string[]}::text[]) and captured_at is null
        order by charge_id for update))
    ${closingAbout(sql, 'capture_failed', charges, 'captured after all')}`
}

/** Charges that confirmed an order, or were taken, with whether their money is known to be captured. */
export async function findCaptures(sql: Queryable, charges: readonly string[]): Promise<Map<string, boolean>> {
  if (charges.length === 0) return new Map()
  const rows = await sql<{ charge_id: string; is_captured: boolean }[]>`
    select charge_id, captured_at is not null as is_captured from captures
    where charge_id = any(${charges as string[]}::text[])`
  return new Map(rows.map(({ charge_id, is_captured }) => [charge_id, is_captured]))
}

/** Notes the cards that paid orders, for their receipts. */
export async function noteCards(sql: Queryable, paid: readonly (ChargeOf & { readonly card: Card })[]): Promise<void> {
  if (paid.length === 0) return
  // Locked in order, as transitions of many orders are.
  await sql`
    with paid as (
      select * from unnest(${paid.map(({ order }) => order)}::uuid[], ${paid.map(({ charge }) => charge)}::text[],
        ${paid.map(({ card }) => JSON.stringify(card))}::text[]) as p (order_id, charge_id, card)),
    locked as (
      select order_id from orders where order_id in (select order_id from paid) order by order_id for no key update)
    update orders o set card = p.card::jsonb from paid p join locked using (order_id)
    where o.order_id = p.order_id and o.charge_id = p.charge_id`
}

/** Notes that the money of a charge was taken, also where its open capture is deleted. */
export async function insertTaken(sql: Queryable, { charge, order }: ChargeOf): Promise<void> {
  await sql`
    insert into captures as c (charge_id, order_id, captured_at) values (${charge}, ${order}, clock_timestamp())
    on conflict (charge_id) do update set captured_at = excluded.captured_at where c.captured_at is null`
}

/** Returns the charges that have no open refund. */
export async function withoutOpenRefund(sql: Queryable, charges: readonly string[]): Promise<string[]> {
  const rows = await sql<{ charge_id: string }[]>`
    select distinct charge_id from refunds
    where charge_id = any(${charges as string[]}::text[]) and refunded_at is null`
  return charges.filter((charge) => !rows.some((row) => row.charge_id === charge))
}

/**
 * Sets the time of open rows to now, and returns them: those of these charges, or some that have been open for so
 * long.
 */
export async function touchOpen(
  tx: Queryable,
  table: OutboxTable,
  which: { readonly charges: readonly string[] } | { readonly forgottenHours: number; readonly limit: number },
): Promise<Owed[]> {
  const key = tx(KEY[table])
  const found =
    'charges' in which
      ? tx`and charge_id = any(${which.charges as string[]}::text[]) order by ${key} for update`
      : tx`and asked_at < now() - ${which.forgottenHours} * interval '1 hour'
           limit ${which.limit} for update skip locked`
  return tx<Owed[]>`
    update ${tx(table)} set asked_at = clock_timestamp()
    where ${key} in (select ${key} from ${tx(table)} where ${tx(DONE_AT[table])} is null ${found})
    returning charge_id as charge, order_id as "order" ${table === 'refunds' ? tx`, refund_id as refund` : tx``}`
}

/** Returns the orders that belong to a test sale. */
export async function ordersOfTestSales(sql: Queryable, orders: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ order_id: string }[]>`
    select order_id from orders join sales using (sale_id) where order_id = any(${orders as string[]}::uuid[]) and test`
  return new Set(rows.map(({ order_id }) => order_id))
}

// -- Refunds -----------------------------------------------------------------------------------------------------

/** The refunds of these orders' own charges. */
export async function refundsOf(tx: Queryable, orders: readonly OrderRow[]): Promise<RefundRow[]> {
  const charges = orders.map(({ charge_id }) => charge_id).filter((charge) => charge !== null)
  if (charges.length === 0) return []
  return tx<RefundRow[]>`select * from refunds where charge_id = any(${charges}::text[]) order by asked_at, refund_id`
}

/**
 * Open captures of these charges are deleted, unless a part of their money is given back, which must be taken first.
 */
async function deleteOpenCaptures(tx: Queryable, charges: readonly string[]): Promise<void> {
  await tx`
    delete from captures c where charge_id = any(${charges as string[]}::text[]) and captured_at is null
      and not exists (select from refunds r where r.charge_id = c.charge_id and r.amount_minor is not null)`
}

/** Inserts refunds of whole charges, once for each charge. Returns those that are new. */
export async function insertRefunds(tx: Queryable, refunds: readonly Refund[]): Promise<JobData['refund'][]> {
  const charges = refunds.map((r) => r.charge)
  await deleteOpenCaptures(tx, charges)
  return tx<JobData['refund'][]>`
    insert into refunds (charge_id, order_id, reason)
    select * from unnest(${charges}::text[], ${refunds.map((r) => r.order)}::uuid[],
                         ${refunds.map((r) => r.reason)}::text[])
    on conflict do nothing returning charge_id as charge, order_id as "order", refund_id as refund`
}

interface NewRefund extends Refund {
  /** Null: all that is left. */
  readonly amountMinor: number | null
  readonly restock: boolean
  readonly lines: readonly number[] | null
  readonly operator: string
  readonly key: string | null
}

export async function insertRefund(tx: Queryable, refund: NewRefund): Promise<RefundRow> {
  const { charge, order, reason, amountMinor, restock, lines, operator, key } = refund
  if (amountMinor === null) await deleteOpenCaptures(tx, [charge])
  const [row] = await tx<RefundRow[]>`
    insert into refunds (charge_id, order_id, reason, amount_minor, restock, lines, operator, idempotency_key)
    values (${charge}, ${order}, ${reason}, ${amountMinor}, ${restock}, ${lines as number[] | null}::int[],
      ${operator}, ${key})
    returning *`
  if (!row) throw new Error('no refund was inserted')
  return row
}

// -- Orders after their refunds ----------------------------------------------------------------------------------

interface Refunded {
  /** The orders whose refunds changed. */
  readonly changed: readonly OrderRow[]
  /** The orders whose units are for sale again. */
  readonly restocked: readonly OrderRow[]
}

/** Marks refunds as made. */
export async function finishRefunds(tx: Queryable, ids: readonly string[]): Promise<Refunded> {
  const found = await tx<{ order_id: string }[]>`
    select distinct order_id from refunds where refund_id = any(${ids as string[]}::uuid[]) and refunded_at is null`
  if (found.length === 0) return { changed: [], restocked: [] }
  const orders = await lockOrders(
    tx,
    found.map((row) => row.order_id),
  )
  await tx`
    update refunds set refunded_at = clock_timestamp()
    where refund_id in (
      select refund_id from refunds where refund_id = any(${ids as string[]}::uuid[]) and refunded_at is null
      order by refund_id for update)`
  return updateRefunded(tx, orders)
}

/**
 * Updates `refunded_minor` of locked orders from their refunds, and returns the lines that were given back with their
 * units.
 */
async function updateRefunded(tx: Queryable, orders: readonly OrderRow[]): Promise<Refunded> {
  const rows = await refundsOf(tx, orders)
  const taken = await tx<{ charge_id: string }[]>`
    select charge_id from captures where captured_at is not null
      and charge_id = any(${rows.map((r) => r.charge_id)}::text[])`
  const isTaken = new Set(taken.map((row) => row.charge_id))
  const changed: OrderRow[] = []
  const restocked: OrderRow[] = []
  for (const order of orders) {
    const own = rows.filter((row) => row.charge_id === order.charge_id)
    // An order that was cancelled before its money was taken shows no refund.
    const wasPaid = isSold(order.status) || order.status === 'returned'
    const wasTaken = order.charge_id !== null && isTaken.has(order.charge_id)
    if (!wasPaid && !(order.status === 'cancelled' && wasTaken)) continue
    const { refundedMinor, move, returned } = refundMove(order, own)
    const { order_id: id } = order
    const isMoved = move.to !== undefined || refundedMinor !== order.refunded_minor
    if (returned.length > 0) {
      const how = { how: 'refunded', type: isMoved ? null : 'order.refunded' } as const
      const out = await returnLines(tx, id, returned, how)
      if (out) restocked.push(out)
    }
    const moved = isMoved ? await advanceOrders(tx, [{ order: id, refundedMinor }], move) : []
    changed.push(...moved)
    if (move.to === 'returned') restocked.push(...moved)
  }
  return { changed, restocked }
}

/** What the provider says was given back of a charge. */
export type Returned = ChargeOf & Returns

interface Noted extends Refunded {
  /** The charges with a new refund. */
  readonly made: readonly string[]
  /** The orders with a refund that was made outside this system. */
  readonly outside: readonly OrderRow[]
  /** The charges with a refund that failed, so that the money came back to the shop. */
  readonly undone: readonly ChargeOf[]
  /** The refunds of this system that are owed again. */
  readonly reopened: readonly ChargeOf[]
}

/**
 * Stores the refunds that the provider reports: they are marked as made or as owed again, and their orders are
 * updated.
 */
export async function noteReturns(tx: Queryable, reports: readonly Returned[]): Promise<Noted> {
  const orders = await lockOrders(
    tx,
    reports.map(({ order }) => order),
  )
  const charges = [...new Set(reports.map(({ charge }) => charge))]
  const rows = await tx<RefundRow[]>`
    select * from refunds where charge_id = any(${charges}::text[]) order by asked_at, refund_id for update`
  const noted = {
    made: [] as string[],
    outside: [] as OrderRow[],
    undone: [] as ChargeOf[],
    reopened: [] as ChargeOf[],
  }
  for (const charge of charges) {
    const said = reports.filter((report) => report.charge === charge)
    const own = rows.filter((row) => row.charge_id === charge)
    const counted = countReturns(own, together(said))
    for (const { refund_id, returned, isMade } of counted.rows) {
      await tx`
        update refunds set returned = ${tx.json(returned)},
          refunded_at = case when ${isMade} then coalesce(refunded_at, clock_timestamp()) end,
          asked_at = case when ${isMade} or refunded_at is null then asked_at else clock_timestamp() end
        where refund_id = ${refund_id}`
      const row = own.find((one) => one.refund_id === refund_id)
      if (isMade) noted.made.push(charge)
      if (row?.refunded_at && !isMade) noted.reopened.push({ charge, order: row.order_id })
    }
    if (counted.undone.length > 0) {
      await tx`delete from refunds where refund_id = any(${counted.undone as string[]}::uuid[])`
      noted.undone.push({ charge, order: assertExists(said[0], 'A charge comes with its report.').order })
    }
    const order = orders.find(
      ({ charge_id, status }) => charge_id === charge && (isSold(status) || status === 'returned'),
    )
    if (!order || counted.outside.length === 0) continue
    for (const { id, amountMinor } of counted.outside)
      await tx`
        insert into refunds (charge_id, order_id, reason, amount_minor, refunded_at, returned)
        values (${charge}, ${order.order_id}, ${OUTSIDE}, ${amountMinor}, clock_timestamp(),
          ${tx.json({ [id]: amountMinor })})`
    noted.made.push(charge)
    noted.outside.push(order)
  }
  return { ...noted, ...(await updateRefunded(tx, orders)) }
}

/** Reports of one charge as one: what has failed in any of them stays so. */
function together(said: readonly Returns[]): Returns {
  const refunds = new Map<string, ProviderRefund>()
  for (const one of said.flatMap((report) => report.refunds))
    if (refunds.get(one.id)?.isMade !== false) refunds.set(one.id, one)
  return { takenMinor: Math.max(0, ...said.map(({ takenMinor }) => takenMinor)), refunds: [...refunds.values()] }
}

/** The order of a charge that money was taken by or is owed for; undefined where it is none of ours. */
export async function orderOfCharge(sql: Queryable, charge: string): Promise<string | undefined> {
  const [row] = await sql<{ order_id: string }[]>`
    select order_id from captures where charge_id = ${charge}
    union all select order_id from refunds where charge_id = ${charge} limit 1`
  return row?.order_id
}

/** Returns what the ledger has refunded of each charge, for the charges that have no open refund. */
export async function findReturned(
  sql: Queryable,
  charges: readonly string[],
): Promise<ReadonlyMap<string, { readonly minor: number; readonly isAll: boolean }>> {
  if (charges.length === 0) return new Map()
  const rows = await sql<{ charge_id: string; minor: number; is_all: boolean }[]>`
    select charge_id, sum(coalesce(amount_minor, 0))::float8 as minor, bool_or(amount_minor is null) as is_all
    from refunds where charge_id = any(${charges as string[]}::text[])
    group by charge_id having bool_and(refunded_at is not null)`
  return new Map(rows.map(({ charge_id, minor, is_all }) => [charge_id, { minor, isAll: is_all }]))
}
