/**
 * A payment provider to play with: a real HTTP server that keeps its own records, and answers by the payment method as
 * a provider does on a good or a bad day. Nothing in it knows of orders, stock or holds.
 *
 *   pm_ok             succeeds                        pm_declined       is declined
 *   pm_slow           succeeds after three seconds    pm_timeout        never answers, and never happens
 *   pm_flaky          times out, then succeeds        pm_webhook_twice  succeeds, and says so twice
 */
import { createHmac, randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import * as v from 'valibot'
import type { Sql } from '../ledger/ledger.ts'

const SLOW_MS = 3_000
/** "Never answers" ends some day, so that sockets do. */
const NEVER_MS = 60_000
const WEBHOOK_ATTEMPTS = 5

const ChargeBody = v.object({
  order: v.pipe(v.string(), v.uuid()),
  amount_minor: v.pipe(v.number(), v.integer(), v.minValue(0)),
  currency: v.string(),
  method: v.string(),
})

export interface Sandbox {
  readonly url: string
  stop(): Promise<void>
}

interface Row {
  readonly charge_id: string
  readonly order_id: string
  readonly status: 'pending' | 'succeeded' | 'declined' | 'refunded'
}

/** Signs a webhook as `t=<seconds>,v1=<hex HMAC-SHA-256 of "t.body">`. */
export function signWebhook(secret: string, body: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

/** Starts it on a port of its own (or the one given); its records are in the schema `sandbox`. */
export async function startSandbox(
  sql: Sql,
  options: { webhookUrl: string; secret: string; port?: number },
): Promise<Sandbox> {
  await sql.unsafe(`
    create schema if not exists sandbox;
    create table if not exists sandbox.charges (
      charge_id text primary key, order_id uuid not null unique, amount_minor bigint not null, currency text not null,
      method text not null, status text not null, attempts int not null default 1,
      created_at timestamptz not null default clock_timestamp(), changed_at timestamptz not null default clock_timestamp()
    )`)
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
  const view = (row: Row) => ({ charge: row.charge_id, order: row.order_id, status: row.status })

  app.post('/charges', async (c) => {
    const body = v.parse(ChargeBody, await c.req.json())
    // The order's id is the idempotency key: one row, however often and from wherever it is asked for.
    const [row] = await sql<(Row & { attempts: number; method: string })[]>`
      insert into sandbox.charges (charge_id, order_id, amount_minor, currency, method, status)
      values (${`ch_${randomUUID()}`}, ${body.order}, ${body.amount_minor}, ${body.currency}, ${body.method}, 'pending')
      on conflict (order_id) do update set attempts = sandbox.charges.attempts + 1
      returning *`
    if (!row) throw new Error('no row')
    if (row.status !== 'pending') return c.json(view(row))
    switch (row.method) {
      case 'pm_declined':
        return c.json(view(await settle(row.charge_id, 'declined', 1)))
      case 'pm_timeout':
        await pause(NEVER_MS)
        return c.json({ error: 'no answer' }, 504)
      case 'pm_flaky':
        if (row.attempts === 1) {
          await pause(NEVER_MS)
          return c.json({ error: 'no answer' }, 504)
        }
        return c.json(view(await settle(row.charge_id, 'succeeded', 1)))
      case 'pm_slow':
        await pause(SLOW_MS)
        return c.json(view(await settle(row.charge_id, 'succeeded', 1)))
      case 'pm_webhook_twice':
        return c.json(view(await settle(row.charge_id, 'succeeded', 2)))
      case 'pm_ok':
        return c.json(view(await settle(row.charge_id, 'succeeded', 1)))
      default:
        return c.json(view(await settle(row.charge_id, 'declined', 1)))
    }
  })

  app.get('/charges', async (c) => {
    const order = c.req.query('order')
    const seconds = Number(c.req.query('seconds') ?? 60)
    const rows = order
      ? await sql<Row[]>`select * from sandbox.charges where order_id = ${order}`
      : await sql<Row[]>`
          select * from sandbox.charges where changed_at > clock_timestamp() - ${seconds} * interval '1 second'
          order by changed_at limit 10000`
    return c.json(rows.map(view))
  })

  app.post('/charges/:charge/refund', async (c) => {
    const [row] = await sql<Row[]>`
      update sandbox.charges set status = 'refunded', changed_at = clock_timestamp()
      where charge_id = ${c.req.param('charge')} and status in ('succeeded', 'refunded') returning *`
    return row ? c.json(view(row)) : c.json({ error: 'no such charge' }, 404)
  })

  async function settle(charge: string, status: 'succeeded' | 'declined', webhooks: number): Promise<Row> {
    const [row] = await sql<Row[]>`
      update sandbox.charges set status = ${status}, changed_at = clock_timestamp()
      where charge_id = ${charge} and status = 'pending' returning *`
    if (row) for (let i = 0; i < webhooks; i++) void tell(row)
    const [stands] = row ? [row] : await sql<Row[]>`select * from sandbox.charges where charge_id = ${charge}`
    if (!stands) throw new Error('no such charge')
    return stands
  }

  async function tell(row: Row): Promise<void> {
    const body = JSON.stringify({ type: `charge.${row.status}`, ...view(row) })
    for (let attempt = 1; attempt <= WEBHOOK_ATTEMPTS; attempt++) {
      const signature = signWebhook(options.secret, body, Math.floor(Date.now() / 1000))
      const ok = await fetch(options.webhookUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sandbox-signature': signature },
        body,
        signal: AbortSignal.timeout(2_000),
      }).then(
        (response) => response.body?.cancel().then(() => response.status < 500),
        () => false,
      )
      if (ok) return
      await pause(200 * 2 ** attempt * (0.5 + Math.random()))
    }
  }

  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const server = serve({ fetch: app.fetch, port: options.port ?? 0, hostname: '127.0.0.1' }, ({ port }) =>
    resolve(port),
  )
  server.once('error', reject)
  const port = await promise
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      for (const end of [...pauses]) end()
      const closed = new Promise((done) => server.close(done))
      if ('closeAllConnections' in server) server.closeAllConnections()
      await closed
    },
  }
}
