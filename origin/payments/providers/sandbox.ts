/**
 * The sandbox: a payment provider for development and tests, a real HTTP server with its own records, whose responses depend on the
 * payment method. It knows nothing of stock or holds, and would charge an order twice under two keys: to prevent that is the
 * shop's task, and tests check it in these records.
 *
 *   pm_ok             is authorized                   pm_declined       is declined
 *   pm_slow           after three seconds, and        pm_timeout        never responds, and never happens
 *                     captured after as many
 *   pm_flaky          times out, then is authorized   pm_webhook_twice  is authorized, with two webhooks
 *   pm_late           never responds, cannot be cancelled, and is authorized when nobody waits any more
 *   pm_insufficient_funds  is declined with that code
 *
 *   pm_3ds            needs its buyer at the page of a bank (sandbox-bank.ts), who approves or declines it there
 *   pm_3ds_fails      is declined by the bank even if its buyer approves it
 *   pm_3ds_abandoned  has the same page, whose buttons do nothing: nobody comes
 *
 * An authorized charge is captured on request, once, or cancelled and never captured. A captured one is refunded, in parts or
 * whole, by the shop or by hand: `POST /charges/{charge}/refund { key?, amount_minor? }`. A client without a browser posts to
 * `/bank/{charge}/approve` or `/decline`.
 *
 * The origin starts its own sandbox unless it gets an address. By hand:
 *
 *     DATABASE_URL=.. WEBHOOK_URL=http://127.0.0.1:3000/webhooks/sandbox WEBHOOK_SECRET=.. node origin/payments/providers/sandbox.ts
 */
import { createHmac, randomUUID } from 'node:crypto'
import { once, setMaxListeners } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import { Hono, type MiddlewareHandler } from 'hono'
import postgres from 'postgres'
import * as v from 'valibot'
import { takeTokens } from '../../lib/token-bucket.ts'
import { SANDBOX_DELAYS } from './provider.ts'
import { bankHeaders, bankPage } from './sandbox-bank.ts'

/** "Never responds" ends after this long, so that sockets close. */
const NEVER_MS = 60_000
const WEBHOOK_ATTEMPTS = 5
const WEBHOOK_TIMEOUT_MS = 2_000
const PAGE = 1_000
const LATE_INTERVAL_MS = 500
const MAX_CONNECTIONS = 4

const NEED_THE_BUYER = ['pm_3ds', 'pm_3ds_fails', 'pm_3ds_abandoned']
/** Other methods than the good ones and these are declined without a reason. */
const DECLINE_CODES: Readonly<Record<string, string>> = { pm_insufficient_funds: 'insufficient_funds' }
const AUTHENTICATION_FAILED = 'authentication_failed'

const ChargeBody = v.object({
  order: v.pipe(v.string(), v.uuid()),
  attempt: v.number(),
  amount_minor: v.pipe(v.number(), v.integer(), v.minValue(0)),
  currency: v.string(),
  method: v.string(),
  return_url: v.optional(v.pipe(v.string(), v.url(), v.regex(/^https?:/))),
})

/** All that is left, unless an amount is given. A repeated key changes nothing. */
const RefundBody = v.object({
  key: v.optional(v.string()),
  amount_minor: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
})

interface SandboxOptions {
  readonly databaseUrl: string
  readonly webhookUrl: string
  readonly secret: string
  readonly port?: number
  readonly slowMs?: number | undefined
  readonly lateMs?: number | undefined
  /** More are turned away (429), by a bucket that holds a second's calls, as Stripe describes its own; undefined: none is. */
  readonly callsPerSecond?: number | undefined
}

interface Row {
  readonly charge_id: string
  readonly order_id: string
  readonly amount_minor: string
  readonly currency: string
  readonly method: string
  readonly status: 'pending' | 'requires_action' | 'authorized' | 'captured' | 'declined' | 'cancelled' | 'refunded'
  /** Why it was declined. */
  readonly code: string | null
  readonly return_url: string | null
  readonly refunded_minor: string
  /** Of the order's payment. */
  readonly attempt: number
  /** Requests to make this charge. */
  readonly attempts: number
}

/** A charge that has just changed, with the time of it in seconds since the epoch. */
type Changed = Row & { readonly at: number }

/** Signs a webhook as `t=<seconds>,v1=<hex HMAC-SHA-256 of "t.body">`. */
export function signWebhook(secret: string, body: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

/**
 * `changed_by` is the last transaction that changed the row. A reader gets only rows below the oldest running transaction,
 * which are final, and continues by transaction and charge: so it misses none.
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

/** Starts a sandbox on a free port, or the given one. Its records are in the schema `sandbox`, and outlive it. */
export async function startSandbox(options: SandboxOptions) {
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
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {})
  const returning = sql`returning *, extract(epoch from clock_timestamp())::int as at`
  const view = ({ charge_id: charge, order_id: order, attempt, status, code, currency, ...row }: Row) => ({
    charge,
    order,
    attempt,
    status,
    currency,
    amount_minor: Number(row.amount_minor),
    refunded_minor: Number(row.refunded_minor),
    ...(code !== null && { code }),
    ...(status === 'requires_action' && { action_url: `${url}/bank/${charge}` }),
  })

  let bucket = { tokens: Number.POSITIVE_INFINITY, atMs: performance.now() }
  const limited: MiddlewareHandler = async (c, next) => {
    const { callsPerSecond: perSecond } = options
    if (perSecond === undefined) return next()
    const taken = takeTokens(bucket, performance.now(), { perSecond, most: perSecond }, 1)
    bucket = taken.bucket
    return taken.granted > 0 ? next() : c.json({ error: 'too many calls' }, 429)
  }
  app.use('/charges', limited).use('/charges/*', limited).use('/changes', limited)

  app.post('/charges', async (c) => {
    const key = c.req.header('idempotency-key')
    const body = v.safeParse(ChargeBody, await c.req.json().catch(() => null))
    if (!key || !body.success) return c.json({ error: 'malformed' }, 400)
    const { order, attempt, amount_minor, currency, method, return_url = null } = body.output
    const [row] = await sql<Row[]>`
      insert into sandbox.charges
        (charge_id, idempotency_key, order_id, attempt, amount_minor, currency, method, return_url, status)
      values (${`ch_${randomUUID()}`}, ${key}, ${order}, ${attempt}, ${amount_minor}, ${currency}, ${method},
              ${return_url}, 'pending')
      on conflict (idempotency_key) do update set attempts = sandbox.charges.attempts + 1
      returning *`
    if (!row) throw new Error('no row')
    if (row.order_id !== order || row.method !== method)
      return c.json({ error: 'the key was used with another body' }, 422)
    if (row.status !== 'pending') return c.json(view(row))
    if (['pm_timeout', 'pm_late'].includes(method) || (method === 'pm_flaky' && row.attempts === 1)) {
      await pause(NEVER_MS)
      return c.json({ error: 'no response' }, 504)
    }
    if (method === 'pm_slow') await pause(slowMs)
    const isGood = ['pm_ok', 'pm_slow', 'pm_flaky', 'pm_webhook_twice'].includes(method)
    const to = NEED_THE_BUYER.includes(method) ? 'requires_action' : isGood ? 'authorized' : 'declined'
    const changed = await change(row.charge_id, to, ['pending'], DECLINE_CODES[method])
    if (changed && method === 'pm_webhook_twice') void sendWebhook(changed)
    return c.json(view(changed ?? (await find(row.charge_id)) ?? row))
  })

  app.get('/charges', async (c) => {
    const charge = c.req.query('charge')
    if (charge !== undefined) return c.json([await find(charge)].flatMap((row) => row ?? []).map(view))
    const order = v.safeParse(v.pipe(v.string(), v.uuid()), c.req.query('order'))
    if (!order.success) return c.json({ error: 'malformed' }, 400)
    const rows = await sql<Row[]>`
      select * from sandbox.charges where order_id = ${order.output}
      order by array_position(array['captured', 'authorized', 'requires_action', 'pending'], status) nulls last, created_at desc`
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
    const cursor = rows.at(-1)?.cursor ?? since
    return c.json({ records: rows.map(view), cursor, more: rows.length === PAGE })
  })

  app.post('/charges/:charge/capture', async (c) => {
    const charge = c.req.param('charge')
    const [row] = await sql<Row[]>`
      update sandbox.charges set capture_attempts = capture_attempts + 1 where charge_id = ${charge} returning *`
    if (!row) return c.json({ error: 'no such charge' }, 404)
    if (row.method === 'pm_slow') await pause(slowMs)
    return c.json(view((await changeOrFind(charge, 'captured', ['authorized'])) ?? row))
  })

  app.post('/charges/:charge/cancel', async (c) => {
    const row = await find(c.req.param('charge'))
    if (!row) return c.json({ error: 'no such charge' }, 404)
    const from = ['authorized', 'requires_action', ...(row.method === 'pm_late' ? [] : ['pending'])]
    return c.json(view((await changeOrFind(row.charge_id, 'cancelled', from)) ?? row))
  })

  app.post('/charges/:charge/refund', async (c) => {
    const text = await c.req.text()
    const body = v.safeParse(v.pipe(v.string(), v.parseJson(), RefundBody), text || '{}')
    if (!body.success) return c.json({ error: 'malformed' }, 400)
    const refunded = await refund(c.req.param('charge'), body.output)
    if (refunded === 'too much') return c.json({ error: 'more than is left of the charge' }, 422)
    if (!refunded) return c.json({ error: 'no such charge' }, 404)
    if ('at' in refunded) void sendWebhook(refunded)
    return c.json(view(refunded))
  })

  const refund = (charge: string, { key = randomUUID(), amount_minor }: v.InferOutput<typeof RefundBody>) =>
    sql.begin(async (tx): Promise<Row | Changed | 'too much' | undefined> => {
      const [row] = await tx<Row[]>`select * from sandbox.charges where charge_id = ${charge} for update`
      if (row?.status !== 'captured') return row
      if ((await tx`select 1 from sandbox.refunds where key = ${key}`).length > 0) return row
      const left = Number(row.amount_minor) - Number(row.refunded_minor)
      const amount = amount_minor ?? left
      if (amount > left) return 'too much'
      await tx`insert into sandbox.refunds (key, charge_id, amount_minor) values (${key}, ${charge}, ${amount})`
      const [changed] = await tx<Changed[]>`
        update sandbox.charges set refunded_minor = refunded_minor + ${amount}, changed_by = pg_current_xact_id(),
          status = ${amount === left ? 'refunded' : 'captured'}
        where charge_id = ${charge} ${returning}`
      return changed
    })

  app.get('/bank/:charge', async (c) => {
    const row = await find(c.req.param('charge'))
    if (!row) return c.text('There is no such payment.', 404)
    const { charge_id: charge, order_id: order, currency, status, return_url: returnUrl } = row
    const page = bankPage({ charge, order, amountMinor: Number(row.amount_minor), currency, status, returnUrl })
    return c.html(page, 200, bankHeaders({ returnUrl }))
  })

  app.post('/bank/:charge/:answer{approve|decline}', async (c) => {
    const row = await find(c.req.param('charge'))
    if (!row) return c.text('There is no such payment.', 404)
    const isGood = c.req.param('answer') === 'approve' && row.method === 'pm_3ds'
    if (row.method !== 'pm_3ds_abandoned')
      await change(row.charge_id, isGood ? 'authorized' : 'declined', ['requires_action'], AUTHENTICATION_FAILED)
    const isOpen = row.method === 'pm_3ds_abandoned' && row.status === 'requires_action'
    const back = isOpen || row.return_url === null ? `/bank/${row.charge_id}` : row.return_url
    return new Response(null, {
      status: 303,
      headers: { ...bankHeaders({ returnUrl: row.return_url }), location: back },
    })
  })

  async function find(charge: string): Promise<Row | undefined> {
    const [row] = await sql<Row[]>`select * from sandbox.charges where charge_id = ${charge}`
    return row
  }

  const changeOrFind = async (charge: string, to: Row['status'], from: string[]) =>
    (await change(charge, to, from)) ?? (await find(charge))

  /** Changes the status of a charge, and sends a webhook of its authorization, decline or capture. */
  async function change(
    charge: string,
    to: Row['status'],
    from: string[],
    code?: string,
  ): Promise<Changed | undefined> {
    const [row] = await sql<Changed[]>`
      update sandbox.charges set status = ${to}, changed_by = pg_current_xact_id(),
        code = ${to === 'declined' ? (code ?? 'declined') : null}
      where charge_id = ${charge} and status = any(${from}) ${returning}`
    if (row && to !== 'cancelled' && to !== 'requires_action') void sendWebhook(row)
    return row
  }

  async function sendWebhook(row: Changed): Promise<void> {
    const body = JSON.stringify({ type: `charge.${row.status}`, ...view(row) })
    const headers = {
      'content-type': 'application/json',
      'sandbox-signature': signWebhook(options.secret, body, row.at),
    }
    for (let attempt = 1; attempt <= WEBHOOK_ATTEMPTS && !stopping.signal.aborted; attempt++) {
      const signal = AbortSignal.timeout(WEBHOOK_TIMEOUT_MS)
      const request = { method: 'POST', headers, body, signal }
      const response = await fetch(options.webhookUrl, request).catch(() => undefined)
      await response?.body?.cancel()
      if (response && response.status < 500) return
      await pause(200 * 2 ** attempt * (0.5 + Math.random()))
    }
  }

  /** Authorizes the late charges, whether or not anybody still waits. */
  const lateCharges = (async () => {
    while (!stopping.signal.aborted) {
      const authorized = sql<Changed[]>`
        update sandbox.charges set status = 'authorized', changed_by = pg_current_xact_id()
        where status = 'pending' and method = 'pm_late'
          and created_at < clock_timestamp() - ${lateMs} * interval '1 millisecond' ${returning}`
      for (const row of await authorized.catch(() => [])) void sendWebhook(row)
      await pause(LATE_INTERVAL_MS)
    }
  })()

  const server = serve({
    fetch: app.fetch,
    port: options.port ?? 0,
    hostname: '127.0.0.1',
    // Tests and a rehearsal run it beside other servers, whose Response stays what it is.
    overrideGlobalObjects: false,
  }) as Server
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async stop() {
      stopping.abort()
      const closed = new Promise((done) => server.close(done))
      server.closeAllConnections()
      await Promise.all([closed, lateCharges])
      await sql.end({ timeout: 1 })
    },
  }
}

if (import.meta.main) {
  const { DATABASE_URL = '', WEBHOOK_URL = '', WEBHOOK_SECRET = '', PORT = '0' } = process.env
  const urls = { databaseUrl: DATABASE_URL, webhookUrl: WEBHOOK_URL }
  const sandbox = await startSandbox({ ...urls, secret: WEBHOOK_SECRET, port: Number(PORT) })
  console.log(`sandbox listening at ${sandbox.url}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.stop())
}
