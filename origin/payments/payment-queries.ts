/**
 * Payments: orders whose charge is to be started or resumed, the tables behind the outbox (captures and refunds), and the
 * cursor in the provider's records.
 */
import type { Queryable, Sql } from '../ledger/connection.ts'

/** A charge, and the order that it was made for. */
export interface ChargeOf {
  readonly charge: string
  readonly order: string
}

export interface Refund extends ChargeOf {
  readonly reason: string
}

// -- Charges -----------------------------------------------------------------------------------------------------

/** Reserved orders that came with a payment method, and whose payment has not begun `afterMs` later. */
export async function findPaymentsToBegin(sql: Sql, afterMs: number, limit: number) {
  // now() instead of clock_timestamp(): only a stable function can bound an index scan.
  return sql<{ order_id: string; payment_method: string }[]>`
    select order_id, payment_method from orders
    where status = 'reserved' and payment_method is not null
      and created_at < now() - ${afterMs} * interval '1 millisecond'
    order by created_at limit ${limit}`
}

/** Sets the time of orders that have not changed in `paying` for this long to now, and returns them. */
export async function touchForgottenPayments(tx: Queryable, forgottenSeconds: number, limit: number) {
  const rows = await tx<{ order_id: string }[]>`
    update orders set updated_at = clock_timestamp()
    where order_id in (
      select order_id from orders
      where status = 'paying' and action is null and updated_at < now() - ${forgottenSeconds} * interval '1 second'
      order by updated_at limit ${limit} for update skip locked)
    returning order_id`
  return rows.map((row) => row.order_id)
}

/** Attempts whose buyer did not come back from their bank in time; any of them, so that failing ones delay no others. */
export async function findOverdueActions(sql: Sql, limit: number) {
  return sql<{ order: string; attempt: number; charge: string; isEnding: boolean; overdueSeconds: number }[]>`
    select order_id as "order", greatest(attempts, 1) as attempt, action ->> 'charge' as charge,
      action ? 'ending' as "isEnding",
      extract(epoch from now() - action_until)::float8 as "overdueSeconds"
    from orders where action_until < now() and status = 'paying' order by random() limit ${limit}`
}

/** From now on the attempt is confirmed no more; false if it is over already. */
export async function endAction(sql: Sql, { order, attempt }: { order: string; attempt: number }): Promise<boolean> {
  const { count } = await sql`
    update orders set action = action || '{"ending": true}'
    where order_id = ${order} and status = 'paying' and greatest(attempts, 1) = ${attempt} and action is not null`
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

/** What a job asks for: the version before had at most one refund of a charge, and named only that. */
export interface Owed extends ChargeOf {
  readonly refund?: string
}

/** An open row. */
export interface OpenRow extends ChargeOf {
  /** The charge of a capture, the id of a refund. */
  readonly id: string
  /** Null: all of it, or all that is left. */
  readonly amountMinor: number | null
  /** A refund of a part whose charge was not captured yet. */
  readonly captureFirst: boolean
  /** A refund of the rest while refunds of parts are open. */
  readonly waits: boolean
}

export async function insertCaptures(tx: Queryable, captures: readonly ChargeOf[]): Promise<void> {
  await tx`
    insert into captures (charge_id, order_id)
    select * from unnest(${captures.map((c) => c.charge)}::text[], ${captures.map((c) => c.order)}::uuid[])
    on conflict do nothing`
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
    return charges.map((charge) => rows.find((row) => row.charge === charge))
  }
  const rows = await sql<OpenRow[]>`
    select refund_id as id, charge_id as charge, order_id as "order", amount_minor as "amountMinor",
      amount_minor is not null and exists (
        select from captures c where c.charge_id = r.charge_id and c.captured_at is null) as "captureFirst",
      amount_minor is null and exists (
        select from refunds part where part.charge_id = r.charge_id and part.amount_minor is not null
          and part.refunded_at is null) as waits
    from refunds r
    where charge_id = any(${charges}::text[]) and refunded_at is null`
  return owed.map(({ refund, charge }) =>
    rows.find((row) => (refund === undefined ? row.charge === charge && row.amountMinor === null : row.id === refund)),
  )
}

/** Deletes an open row; false if there was none. */
export async function deleteOpen(tx: Queryable, table: OutboxTable, id: string): Promise<boolean> {
  const { count } = await tx`delete from ${tx(table)} where ${tx(KEY[table])} = ${id} and ${tx(DONE_AT[table])} is null`
  return count > 0
}

export async function markCaptured(sql: Queryable, charges: readonly string[]) {
  // Locked in order: the response and the webhook arrive together, often for the same charges.
  await sql`
    update captures set captured_at = clock_timestamp()
    where charge_id in (
      select charge_id from captures where charge_id = any(${charges as string[]}::text[]) and captured_at is null
      order by charge_id for update)`
}

/** Notes that the money of a charge was taken, also where its open capture is deleted. */
export async function insertTaken(sql: Queryable, { charge, order }: ChargeOf): Promise<void> {
  await sql`
    insert into captures as c (charge_id, order_id, captured_at) values (${charge}, ${order}, clock_timestamp())
    on conflict (charge_id) do update set captured_at = excluded.captured_at where c.captured_at is null`
}

/** Those of the charges without an open row. */
export async function withoutOpen(sql: Queryable, table: OutboxTable, charges: readonly string[]): Promise<string[]> {
  const rows = await sql<{ charge_id: string }[]>`
    select distinct charge_id from ${sql(table)}
    where charge_id = any(${charges as string[]}::text[]) and ${sql(DONE_AT[table])} is null`
  return charges.filter((charge) => !rows.some((row) => row.charge_id === charge))
}

/** Sets the time of open rows to now, and returns them: those of these charges, or some that have been open for so long. */
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

/** Those of the orders that belong to a test sale. */
export async function ordersOfTestSales(sql: Queryable, orders: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ order_id: string }[]>`
    select order_id from orders join sales using (sale_id) where order_id = any(${orders as string[]}::uuid[]) and test`
  return new Set(rows.map(({ order_id }) => order_id))
}
