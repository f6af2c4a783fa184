/**
 * A payment provider to play with: a real HTTP server that keeps its own records, and answers by the payment method as
 * a provider does on a good or a bad day. Nothing in it knows of stock or holds, and it would charge one order twice if
 * it were asked under two keys: that this never happens is for the shop to see to, and for tests to read in its records.
 *
 *   pm_ok             is authorized                   pm_declined       is declined
 *   pm_slow           after three seconds, and        pm_timeout        never answers, and never happens
 *                     captured after as many
 *   pm_flaky          times out, then is authorized   pm_webhook_twice  is authorized, and says so twice
 *   pm_late           never answers, cannot be cancelled, and is authorized when nobody waits for it any more
 *
 * What is authorized is captured when that is asked for, once; or it is cancelled, and never captured.
 *
 * The origin starts one of its own unless it is given an address; by hand:
 *
 *     DATABASE_URL=.. WEBHOOK_URL=http://127.0.0.1:3000/webhooks/sandbox WEBHOOK_SECRET=.. node origin/payments/sandbox.ts
 */
import { createHmac, randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import postgres from 'postgres'
import * as v from 'valibot'
import { SANDBOX_DELAYS } from './provider.ts'

/** "Never answers" ends some day, so that sockets do. */
const NEVER_MS = 60_000
const WEBHOOK_ATTEMPTS = 5
const WEBHOOK_WITHIN_MS = 2_000
const PAGE = 1_000
const LATE_EVERY_MS = 500
const MAX_CONNECTIONS = 4

const ChargeBody = v.object({
  order: v.pipe(v.string(), v.uuid()),
  amount_minor: v.pipe(v.number(), v.integer(), v.minValue(0)),
  currency: v.string(),
  method: v.string(),
})

interface SandboxOptions {
  readonly databaseUrl: string
  /** Where to say what became of a charge. */
  readonly webhookUrl: string
  readonly secret: string
  readonly port?: number
  readonly slowMs?: number | undefined
  readonly lateMs?: number | undefined
}

interface Sandbox {
  readonly url: string
  stop(): Promise<void>
}

interface Row {
  readonly charge_id: string
  readonly order_id: string
  readonly amount_minor: string
  readonly currency: string
  readonly method: string
  readonly status: 'pending' | 'authorized' | 'captured' | 'declined' | 'cancelled' | 'refunded'
  readonly attempts: number
}

/** A charge that has just changed. */
type Changed = Row & {
  /** When, in seconds since the epoch. */
  readonly at: number
}

/** Signs a webhook as `t=<seconds>,v1=<hex HMAC-SHA-256 of "t.body">`. */
export function signWebhook(secret: string, body: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

/**
 * `changed_by` is the transaction that changed the row last. What is below the oldest one still running has been
 * committed for good, so that a reader who goes on from there misses nothing; of the many rows of one transaction, by the
 * charge.
 */
const RECORDS = `
  create schema if not exists sandbox;
  create table if not exists sandbox.charges (
    charge_id text primary key,
    idempotency_key text not null unique,
    order_id uuid not null,
    amount_minor bigint not null,
    currency text not null,
    method text not null,
    status text not null,
    attempts int not null default 1,
    created_at timestamptz not null default clock_timestamp(),
    changed_by xid8 not null default pg_current_xact_id()
  );
  -- Records of a time when nothing was captured, since what was authorized was taken at once.
  alter table sandbox.charges add column if not exists capture_attempts int not null default 0;
  update sandbox.charges set status = 'captured' where status = 'succeeded';
  create index if not exists charges_of_order on sandbox.charges (order_id);
  create index if not exists charges_by_change on sandbox.charges (changed_by);
  create index if not exists charges_pending on sandbox.charges (created_at) where status = 'pending';`

/** Starts it on a port of its own (or the one given); its records are in the schema `sandbox`, and outlive it. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { slowMs = SANDBOX_DELAYS.slowMs, lateMs = SANDBOX_DELAYS.lateMs } = options
  const sql = postgres(options.databaseUrl, {
    max: MAX_CONNECTIONS,
    connect_timeout: 3,
    backoff: (attempt) => Math.min(1, 0.05 * 2 ** attempt),
    onnotice: () => {},
    connection: { application_name: 'flash-sale-sandbox', statement_timeout: 5_000 },
  })
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('sandbox records'))`
    await tx.unsafe(RECORDS)
  })
  const app = new Hono()
  const pauses = new Set<() => void>()
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer)
        pauses.delete(end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      pauses.add(end)
    })
  const changed = sql`returning *, extract(epoch from clock_timestamp())::int as at`
  const view = ({ charge_id: charge, order_id: order, status, amount_minor, currency }: Row) => ({
    ...{ charge, order, status, currency },
    amount_minor: Number(amount_minor),
  })

  app.post('/charges', async (c) => {
    const key = c.req.header('idempotency-key')
    const body = v.safeParse(ChargeBody, await c.req.json().catch(() => null))
    if (!key || !body.success) return c.json({ error: 'malformed' }, 400)
    const { order, amount_minor, currency, method } = body.output
    const [row] = await sql<Row[]>`
      insert into sandbox.charges (charge_id, idempotency_key, order_id, amount_minor, currency, method, status)
      values (${`ch_${randomUUID()}`}, ${key}, ${order}, ${amount_minor}, ${currency}, ${method}, 'pending')
      on conflict (idempotency_key) do update set attempts = sandbox.charges.attempts + 1
      returning *`
    if (!row) throw new Error('no row')
    if (row.order_id !== order || row.method !== method)
      return c.json({ error: 'the key was used with another body' }, 422)
    if (row.status !== 'pending') return c.json(view(row))
    const late = method === 'pm_timeout' || method === 'pm_late'
    if (late || (method === 'pm_flaky' && row.attempts === 1)) {
      await pause(NEVER_MS)
      return c.json({ error: 'no answer' }, 504)
    }
    if (method === 'pm_slow') await pause(slowMs)
    const good = method === 'pm_ok' || method === 'pm_slow' || method === 'pm_flaky'
    if (method === 'pm_webhook_twice') return c.json(view(await end(row.charge_id, 'authorized', 2)))
    return c.json(view(await end(row.charge_id, good ? 'authorized' : 'declined')))
  })

  app.get('/charges', async (c) => {
    const order = v.safeParse(v.pipe(v.string(), v.uuid()), c.req.query('order'))
    if (!order.success) return c.json({ error: 'malformed' }, 400)
    const rows = await sql<Row[]>`
      select * from sandbox.charges where order_id = ${order.output}
      order by array_position(array['captured', 'authorized', 'pending'], status) nulls last, created_at desc`
    return c.json(rows.map(view))
  })

  app.get('/changes', async (c) => {
    const since = c.req.query('since') ?? '0'
    const [, transaction = '0', charge = ''] = /^(\d{1,19})(?::([\w-]{1,64}))?$/.exec(since) ?? []
    const rows = await sql<(Row & { cursor: string })[]>`
      select *, changed_by || ':' || charge_id as cursor from sandbox.charges
      where (changed_by, charge_id collate "C") > (${transaction}::text::xid8, ${charge})
        and changed_by < pg_snapshot_xmin(pg_current_snapshot())
      order by changed_by, charge_id collate "C" limit ${PAGE}`
    return c.json({
      records: rows.map(view),
      cursor: rows.at(-1)?.cursor ?? since,
      more: rows.length === PAGE,
    })
  })

  app.post('/charges/:charge/capture', async (c) => {
    const charge = c.req.param('charge')
    const [asked] = await sql<Row[]>`
      update sandbox.charges set capture_attempts = capture_attempts + 1 where charge_id = ${charge} returning *`
    if (!asked) return c.json({ error: 'no such charge' }, 404)
    if (asked.method === 'pm_slow') await pause(slowMs)
    const [row] = await sql<Changed[]>`
      update sandbox.charges set status = 'captured', changed_by = pg_current_xact_id()
      where charge_id = ${charge} and status = 'authorized' ${changed}`
    if (row) void tell(row)
    const [stands] = row ? [row] : await sql<Row[]>`select * from sandbox.charges where charge_id = ${charge}`
    return c.json(view(stands ?? asked))
  })

  app.post('/charges/:charge/refund', async (c) => {
    const charge = c.req.param('charge')
    const [row] = await sql<Row[]>`
      update sandbox.charges set status = 'refunded', changed_by = pg_current_xact_id()
      where charge_id = ${charge} and status in ('captured', 'refunded') returning *`
    return row ? c.json(view(row)) : c.json({ error: 'no such charge' }, 404)
  })

  app.post('/charges/:charge/cancel', async (c) => {
    const charge = c.req.param('charge')
    await sql`
      update sandbox.charges set status = 'cancelled', changed_by = pg_current_xact_id()
      where charge_id = ${charge} and (status = 'authorized' or (status = 'pending' and method <> 'pm_late'))`
    const [row] = await sql<Row[]>`select * from sandbox.charges where charge_id = ${charge}`
    return row ? c.json(view(row)) : c.json({ error: 'no such charge' }, 404)
  })

  /** What a charge comes to, once; whoever asks later hears the same. */
  async function end(charge: string, status: 'authorized' | 'declined', webhooks = 1): Promise<Row> {
    const [row] = await sql<Changed[]>`
      update sandbox.charges set status = ${status}, changed_by = pg_current_xact_id()
      where charge_id = ${charge} and status = 'pending' ${changed}`
    if (row) for (let i = 0; i < webhooks; i++) void tell(row)
    const [stands] = row ? [row] : await sql<Row[]>`select * from sandbox.charges where charge_id = ${charge}`
    if (!stands) throw new Error('no such charge')
    return stands
  }

  async function tell(row: Changed): Promise<void> {
    const body = JSON.stringify({ type: `charge.${row.status}`, ...view(row) })
    const signature = signWebhook(options.secret, body, row.at)
    for (let attempt = 1; attempt <= WEBHOOK_ATTEMPTS; attempt++) {
      const told = await post(body, signature).catch(() => false)
      if (told || stopped) return
      await pause(200 * 2 ** attempt * (0.5 + Math.random()))
    }
  }

  async function post(body: string, signature: string): Promise<boolean> {
    const response = await fetch(options.webhookUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sandbox-signature': signature },
      body,
      signal: AbortSignal.timeout(WEBHOOK_WITHIN_MS),
    })
    await response.body?.cancel()
    return response.status < 500
  }

  let stopped = false
  /** The late ones come in whether or not anyone is still there to hear it. */
  const lateCharges = (async () => {
    while (!stopped) {
      const rows = await sql<Changed[]>`
        update sandbox.charges set status = 'authorized', changed_by = pg_current_xact_id()
        where status = 'pending' and method = 'pm_late'
          and created_at < clock_timestamp() - ${lateMs} * interval '1 millisecond' ${changed}`.catch(
        () => [],
      )
      for (const row of rows) void tell(row)
      await pause(LATE_EVERY_MS)
    }
  })()

  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const server = serve({ fetch: app.fetch, port: options.port ?? 0, hostname: '127.0.0.1' }, ({ port }) =>
    resolve(port),
  )
  server.once('error', reject)
  const port = await promise
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      stopped = true
      for (const endPause of [...pauses]) endPause()
      const closed = new Promise((done) => server.close(done))
      if ('closeAllConnections' in server) server.closeAllConnections()
      await Promise.all([closed, lateCharges])
      await sql.end({ timeout: 1 })
    },
  }
}

if (import.meta.main) {
  const { DATABASE_URL = '', WEBHOOK_URL = '', WEBHOOK_SECRET = '', PORT = '0' } = process.env
  const sandbox = await startSandbox({
    databaseUrl: DATABASE_URL,
    webhookUrl: WEBHOOK_URL,
    secret: WEBHOOK_SECRET,
    port: Number(PORT),
  })
  console.log(`the sandbox listens at ${sandbox.url}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.stop())
}
