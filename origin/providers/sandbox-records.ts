/**
 * The sandbox's own records: its charges and refunds, in the schema `sandbox`. Calls that come while others are
 * written travel together, in one commit: a provider answers when its records are durable, and must not be the limit
 * of a sale that it is tested with.
 */
import { randomUUID } from 'node:crypto'
import { connect, type Sql } from '../ledger/connection.ts'
import { Batcher } from '../lib/batcher.ts'

const MAX_CONNECTIONS = 4
/**
 * A connection that is silent for a second longer is closed: all calls of one kind wait for it, and the shop asks
 * again.
 */
const STATEMENT_MS = 2_000
const PAGE = 1_000
/** Calls of one kind in one transaction, and those that wait. */
const BATCH = { size: 200, queue: 20_000 }

export type ChargeStatus = Charge['status']

export interface Charge {
  readonly charge_id: string
  readonly idempotency_key: string
  readonly order_id: string
  readonly amount_minor: string
  readonly currency: string
  readonly method: string
  readonly status: 'pending' | 'requires_action' | 'authorized' | 'captured' | 'declined' | 'cancelled' | 'refunded'
  /** Why it was declined. */
  readonly code: string | null
  readonly return_url: string | null
  readonly refunded_minor: string
  /** The number of the order's payment attempt. */
  readonly attempt: number
  /** Requests to make this charge. */
  readonly attempts: number
}

/** A charge that has just changed, with the time of it in seconds since the epoch. */
export type Changed = Charge & { readonly at: number }

type NewCharge = Pick<
  Charge,
  'idempotency_key' | 'order_id' | 'attempt' | 'currency' | 'method' | 'return_url' | 'status' | 'code'
> & { readonly amount_minor: number }

/**
 * `changed_by` is the last transaction that changed the row. A reader gets only rows below the oldest running
 * transaction, which are final, and continues by transaction and charge: so it misses none.
 */
const SCHEMA = `
  create table if not exists sandbox.charges (
    charge_id text primary key,
    idempotency_key text not null unique,
    order_id uuid not null,
    amount_minor bigint not null,
    currency text not null,
    method text not null,
    status text not null,
    code text,
    return_url text,
    refunded_minor bigint not null default 0,
    attempt int not null default 1,
    attempts int not null default 1,
    capture_attempts int not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    changed_by xid8 not null default pg_current_xact_id()
  );
  create table if not exists sandbox.refunds (
    key text primary key,
    charge_id text not null references sandbox.charges,
    amount_minor bigint not null,
    created_at timestamptz not null default clock_timestamp()
  );
  create index if not exists charges_of_order on sandbox.charges (order_id);
  create index if not exists charges_by_change on sandbox.charges (changed_by);
  create index if not exists charges_pending on sandbox.charges (created_at) where status = 'pending';`

/** True once a sandbox has kept records in this database. */
export async function hasRecords(sql: Sql): Promise<boolean> {
  const [row] = await sql`select to_regclass('sandbox.charges') is not null as has`
  return row?.has
}

export async function openRecords(databaseUrl: string) {
  const sql = connect(databaseUrl, MAX_CONNECTIONS, { application: 'flash-sale-sandbox', statementMs: STATEMENT_MS })
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('sandbox records'))`
    // A role that serves may make tables in this schema, and no schema.
    const [schema] = await tx`select where to_regnamespace('sandbox') is null`
    if (schema) await tx`create schema sandbox`
    await tx.unsafe(SCHEMA)
  })
  const at = sql`extract(epoch from clock_timestamp())::int as at`
  const returning = sql`returning *, ${at}`

  async function find(charge: string): Promise<Charge | undefined> {
    const [row] = await sql<Charge[]>`select * from sandbox.charges where charge_id = ${charge}`
    return row
  }

  /** Changes the status of a charge that has one of these; undefined for any other. */
  async function change(
    charge: string,
    to: ChargeStatus,
    from: readonly ChargeStatus[],
    code: string | null = null,
  ): Promise<Changed | undefined> {
    const [row] = await sql<Changed[]>`
      update sandbox.charges set status = ${to}, changed_by = pg_current_xact_id(), code = ${code}
      where charge_id = ${charge} and status = any(${[...from]}) ${returning}`
    return row
  }

  /** The charge of each key; a repeated one is as it was, with one more attempt. */
  const creations = new Batcher<NewCharge, Changed & { readonly isNew: boolean }>(BATCH, (charges) =>
    inDistinctRounds(
      charges,
      ({ idempotency_key }) => idempotency_key,
      async (some) => {
        const rows = some.map((one) => ({ ...one, charge_id: `ch_${randomUUID()}` }))
        const written = await sql<(Changed & { isNew: boolean })[]>`
          insert into sandbox.charges
            (charge_id, idempotency_key, order_id, attempt, amount_minor, currency, method, return_url, status, code)
          select charge_id, idempotency_key, order_id, attempt, amount_minor, currency, method, return_url, status, code
          from jsonb_populate_recordset(null::sandbox.charges, ${sql.json(rows)})
          on conflict (idempotency_key) do update set attempts = sandbox.charges.attempts + 1
          returning *, ${at}, xmax = 0 as "isNew"`
        return new Map(written.map((row) => [row.idempotency_key, row]))
      },
    ),
  )

  /** Counts an attempt to capture each charge, and captures those that are authorized unless their method is slow. */
  const captures = new Batcher<string, (Changed & { readonly isCaptured: boolean }) | undefined>(BATCH, (charges) =>
    inDistinctRounds(
      charges,
      (charge) => charge,
      async (some) => {
        const written = await sql<(Changed & { isCaptured: boolean })[]>`
          with found as (
            select charge_id, status = 'authorized' and method <> 'pm_slow' as is_captured
            from sandbox.charges where charge_id = any(${[...some]}) order by charge_id for update
          )
          update sandbox.charges c set capture_attempts = capture_attempts + 1,
            status = case when is_captured then 'captured' else status end,
            changed_by = case when is_captured then pg_current_xact_id() else changed_by end
          from found where c.charge_id = found.charge_id
          returning c.*, ${at}, is_captured as "isCaptured"`
        return new Map(written.map((row) => [row.charge_id, row]))
      },
    ),
  )

  return {
    find,
    change,
    create: (charge: NewCharge) => creations.add(charge),
    capture: (charge: string) => captures.add(charge),

    /** The latest first, of those that became something. */
    ofOrder: (order: string) => sql<Charge[]>`
      select * from sandbox.charges where order_id = ${order}
      order by array_position(array['captured', 'authorized', 'requires_action', 'pending'], status) nulls last,
        created_at desc`,

    /** What changed after a cursor, a page of it. */
    async changes(since: string) {
      const [, transaction = '0', charge = ''] = /^(\d{1,19})(?::([\w-]{1,64}))?$/.exec(since) ?? []
      const rows = await sql<(Charge & { cursor: string })[]>`
        select *, changed_by || ':' || charge_id as cursor from sandbox.charges
        where (changed_by, charge_id collate "C") > (${transaction}::text::xid8, ${charge})
          and changed_by < pg_snapshot_xmin(pg_current_snapshot())
        order by changed_by, charge_id collate "C" limit ${PAGE}`
      return { rows, cursor: rows.at(-1)?.cursor ?? since, more: rows.length === PAGE }
    },

    /** Refunds a captured charge, once for each key: an amount, or all that is left. `changed` where it did so now. */
    refund: (charge: string, key: string, amountMinor: number | undefined) =>
      sql.begin(async (tx): Promise<Charge | Changed | 'too much' | undefined> => {
        const [row] = await tx<Charge[]>`select * from sandbox.charges where charge_id = ${charge} for update`
        if (row?.status !== 'captured') return row
        if ((await tx`select 1 from sandbox.refunds where key = ${key}`).length > 0) return row
        const left = Number(row.amount_minor) - Number(row.refunded_minor)
        const amount = amountMinor ?? left
        if (amount > left) return 'too much'
        await tx`insert into sandbox.refunds (key, charge_id, amount_minor) values (${key}, ${charge}, ${amount})`
        const [changed] = await tx<Changed[]>`
          update sandbox.charges set refunded_minor = refunded_minor + ${amount}, changed_by = pg_current_xact_id(),
            status = ${amount === left ? 'refunded' : 'captured'}
          where charge_id = ${charge} ${returning}`
        return changed
      }),

    /** What was taken by a charge, and its refunds. */
    async returns(charge: string) {
      const row = await find(charge)
      if (!row) return undefined
      const refunds = await sql<{ key: string; amount_minor: string }[]>`
        select key, amount_minor from sandbox.refunds where charge_id = ${charge} order by created_at, key`
      const isTaken = row.status === 'captured' || row.status === 'refunded'
      return {
        taken_minor: isTaken ? Number(row.amount_minor) : 0,
        refunds: refunds.map(({ key, amount_minor }) => ({ key, amount_minor: Number(amount_minor) })),
      }
    },

    /** Authorizes the charges that nobody waits for any more. */
    authorizeLate: (lateMs: number) => sql<Changed[]>`
      update sandbox.charges set status = 'authorized', changed_by = pg_current_xact_id()
      where status = 'pending' and method = 'pm_late'
        and created_at < clock_timestamp() - ${lateMs} * interval '1 millisecond' ${returning}`,

    close: () => sql.end({ timeout: 1 }),
  }
}

/**
 * Writes calls in rounds in which no key comes twice, as one statement changes a row once. Results in the order of
 * the calls.
 */
async function inDistinctRounds<Call, Result>(
  calls: readonly Call[],
  keyOf: (call: Call) => string,
  write: (calls: readonly Call[]) => Promise<ReadonlyMap<string, Result>>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let left = [...calls.entries()]; left.length > 0; ) {
    const round = new Map(left.toReversed().map((one) => [keyOf(one[1]), one]))
    const written = await write([...round.values()].map(([, call]) => call))
    for (const [key, [at]] of round) results[at] = written.get(key) as Result
    const done = new Set([...round.values()].map(([at]) => at))
    left = left.filter(([at]) => !done.has(at))
  }
  return results
}
