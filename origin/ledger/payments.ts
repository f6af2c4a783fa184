/**
 * Payments: orders whose charge is to be started or resumed, the tables behind the outbox (captures and refunds), and the
 * cursor in the provider's records.
 */
import { SOLD } from '../../shared/order-status.ts'
import type { Queryable, Sql } from './connection.ts'

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
      where status = 'paying' and updated_at < now() - ${forgottenSeconds} * interval '1 second'
      order by updated_at limit ${limit} for update skip locked)
    returning order_id`
  return rows.map((row) => row.order_id)
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

export async function insertCaptures(tx: Queryable, captures: readonly ChargeOf[]): Promise<void> {
  await tx`
    insert into captures (charge_id, order_id)
    select * from unnest(${captures.map((c) => c.charge)}::text[], ${captures.map((c) => c.order)}::uuid[])
    on conflict do nothing`
}

/** Inserts refunds, and deletes the open captures of their charges. Returns the refunds that are new. */
export async function insertRefunds(tx: Queryable, refunds: readonly Refund[]): Promise<ChargeOf[]> {
  const charges = refunds.map((r) => r.charge)
  await tx`delete from captures where charge_id = any(${charges}::text[]) and captured_at is null`
  return tx<ChargeOf[]>`
    insert into refunds (charge_id, order_id, reason)
    select * from unnest(${charges}::text[], ${refunds.map((r) => r.order)}::uuid[],
                         ${refunds.map((r) => r.reason)}::text[])
    on conflict do nothing returning charge_id as charge, order_id as "order"`
}

/** Inserts refunds made outside this system for sold orders. Returns those that are new. */
export async function insertOutsideRefunds(tx: Queryable, refunded: readonly ChargeOf[], reason: string) {
  return tx<(ChargeOf & { sale: string; product: string })[]>`
    with inserted as (
      insert into refunds (charge_id, order_id, reason, refunded_at)
      select charge_id, order_id, ${reason}, clock_timestamp() from orders
      where order_id = any(${refunded.map((r) => r.order)}::uuid[]) and status in ${tx(SOLD)}
        and charge_id = any(${refunded.map((r) => r.charge)}::text[])
      order by charge_id
      on conflict do nothing returning order_id, charge_id as charge)
    select sale_id as sale, product_id as product, charge, order_id as "order"
    from inserted join orders using (order_id)`
}

/** Those of the charges that are open. */
export async function findOpen(sql: Queryable, table: OutboxTable, charges: readonly string[]) {
  const rows = await sql<{ charge_id: string }[]>`
    select charge_id from ${sql(table)}
    where charge_id = any(${charges as string[]}::text[]) and ${sql(DONE_AT[table])} is null`
  return new Set(rows.map((row) => row.charge_id))
}

/** Deletes an open row; false if there was none. */
export async function deleteOpen(tx: Queryable, table: OutboxTable, charge: string): Promise<boolean> {
  const { count } = await tx`
    delete from ${tx(table)} where charge_id = ${charge} and ${tx(DONE_AT[table])} is null`
  return count > 0
}

export async function markDone(sql: Queryable, table: OutboxTable, charges: readonly string[]) {
  // Locked in order: the response and the webhook arrive together, often for the same charges.
  await sql`
    update ${sql(table)} set ${sql(DONE_AT[table])} = clock_timestamp()
    where charge_id in (
      select charge_id from ${sql(table)}
      where charge_id = any(${charges as string[]}::text[]) and ${sql(DONE_AT[table])} is null
      order by charge_id for update)`
}

/** Opens a row that was done; undefined if there is none. */
export async function reopen(sql: Queryable, table: OutboxTable, charge: string) {
  const [row] = await sql<ChargeOf[]>`
    update ${sql(table)} set ${sql(DONE_AT[table])} = null, asked_at = clock_timestamp()
    where charge_id = ${charge} and ${sql(DONE_AT[table])} is not null
    returning charge_id as charge, order_id as "order"`
  return row
}

/** Sets the time of open rows to now, and returns them: those of these charges, or some that have been open for so long. */
export async function touchOpen(
  tx: Queryable,
  table: OutboxTable,
  which: { readonly charges: readonly string[] } | { readonly forgottenHours: number; readonly limit: number },
): Promise<ChargeOf[]> {
  const found =
    'charges' in which
      ? tx`and charge_id = any(${which.charges as string[]}::text[]) order by charge_id for update`
      : tx`and asked_at < now() - ${which.forgottenHours} * interval '1 hour'
           limit ${which.limit} for update skip locked`
  return tx<ChargeOf[]>`
    update ${tx(table)} set asked_at = clock_timestamp()
    where charge_id in (select charge_id from ${tx(table)} where ${tx(DONE_AT[table])} is null ${found})
    returning charge_id as charge, order_id as "order"`
}
