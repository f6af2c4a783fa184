/**
 * The sandbox: a payment provider for development and tests, a real HTTP server with its own records, whose responses
 * depend on the payment method. It knows nothing of stock or holds, and would charge an order twice under two keys:
 * to prevent that is the shop's task, and tests check it in these records.
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
 * An authorized charge is captured on request, once, or cancelled and never captured. A captured one is refunded, in
 * parts or whole, by the shop or by hand: `POST /charges/{charge}/refund { key?, amount_minor? }`. A client without a
 * browser posts to `/bank/{charge}/approve` or `/decline`.
 *
 * The origin starts its own sandbox unless it gets an address. By hand:
 *
 *     DATABASE_URL=.. WEBHOOK_URL=http://127.0.0.1:3000/webhooks/sandbox WEBHOOK_SECRET=.. node
 *       origin/providers/sandbox.ts
 */
import { createHmac, randomUUID } from 'node:crypto'
import { once, setMaxListeners } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import { Hono, type MiddlewareHandler } from 'hono'
import * as v from 'valibot'
import { jsonClient } from '../lib/http/json-client.ts'
import { takeTokens } from '../lib/token-bucket.ts'
import { SANDBOX_DELAYS } from './provider.ts'
import { bankHeaders, bankPage } from './sandbox-bank.ts'
import { type Changed, type Charge, type ChargeStatus, openRecords } from './sandbox-records.ts'

/** "Never responds" ends after this long, so that sockets close. */
const NEVER_MS = 60_000
const WEBHOOK_ATTEMPTS = 5
const WEBHOOK_TIMEOUT_MS = 2_000
/** Webhooks under way at once; more wait for one of them. */
const MAX_WEBHOOKS = 256
const LATE_INTERVAL_MS = 500

const NEED_THE_BUYER = ['pm_3ds', 'pm_3ds_fails', 'pm_3ds_abandoned']
/** The decline codes by method. Any method that is neither here nor good is declined without a reason. */
const DECLINE_CODES: Readonly<Record<string, string>> = { pm_insufficient_funds: 'insufficient_funds' }
const AUTHENTICATION_FAILED = 'authentication_failed'
/** A new request with one of these methods never succeeds at once. */
const NEVER_AT_ONCE = ['pm_timeout', 'pm_late', 'pm_flaky', 'pm_slow']
const GOOD = ['pm_ok', 'pm_slow', 'pm_flaky', 'pm_webhook_twice']

const outcomeOf = (method: string): ChargeStatus =>
  NEED_THE_BUYER.includes(method) ? 'requires_action' : GOOD.includes(method) ? 'authorized' : 'declined'
const codeOf = (method: string, status: ChargeStatus) =>
  status === 'declined' ? (DECLINE_CODES[method] ?? 'declined') : null

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
  /**
   * Calls above this rate get 429. A bucket holds one second's calls, as Stripe describes its own. If undefined,
   * there is no limit.
   */
  readonly callsPerSecond?: number | undefined
}

/** Signs a webhook as `t=<seconds>,v1=<hex HMAC-SHA-256 of "t.body">`. */
export function signWebhook(secret: string, body: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

/** Starts a sandbox on a free port, or the given one. Its records (sandbox-records.ts) outlive it. */
export async function startSandbox(options: SandboxOptions) {
  const { slowMs = SANDBOX_DELAYS.slowMs, lateMs = SANDBOX_DELAYS.lateMs } = options
  const records = await openRecords(options.databaseUrl)
  const { origin, pathname, search } = new URL(options.webhookUrl)
  const webhook = jsonClient({ url: origin, timeoutMs: WEBHOOK_TIMEOUT_MS, connections: MAX_WEBHOOKS })
  const app = new Hono()
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {})
  const view = ({ charge_id: charge, order_id: order, attempt, status, code, currency, ...row }: Charge) => ({
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
    const status = NEVER_AT_ONCE.includes(method) ? 'pending' : outcomeOf(method)
    const asked = { idempotency_key: key, order_id: order, attempt, amount_minor, currency, method, return_url }
    const row = await records.create({ ...asked, status, code: codeOf(method, status) })
    if (row.order_id !== order || row.method !== method)
      return c.json({ error: 'the key was used with another body' }, 422)
    if (row.isNew) tell(row)
    if (row.isNew && method === 'pm_webhook_twice') tell(row)
    if (row.status !== 'pending') return c.json(view(row))
    if (['pm_timeout', 'pm_late'].includes(method) || (method === 'pm_flaky' && row.attempts === 1)) {
      await pause(NEVER_MS)
      return c.json({ error: 'no response' }, 504)
    }
    if (method === 'pm_slow') await pause(slowMs)
    return c.json(view((await changeOrFind(row.charge_id, outcomeOf(method), ['pending'])) ?? row))
  })

  app.get('/charges', async (c) => {
    const charge = c.req.query('charge')
    if (charge !== undefined) return c.json([await records.find(charge)].flatMap((row) => row ?? []).map(view))
    const order = v.safeParse(v.pipe(v.string(), v.uuid()), c.req.query('order'))
    if (!order.success) return c.json({ error: 'malformed' }, 400)
    return c.json((await records.ofOrder(order.output)).map(view))
  })

  app.get('/changes', async (c) => {
    const { rows, cursor, more } = await records.changes(c.req.query('since') ?? '0')
    return c.json({ records: rows.map(view), cursor, more })
  })

  app.post('/charges/:charge/capture', async (c) => {
    const row = await records.capture(c.req.param('charge'))
    if (!row) return c.json({ error: 'no such charge' }, 404)
    if (row.isCaptured) tell(row)
    if (row.method !== 'pm_slow') return c.json(view(row))
    await pause(slowMs)
    return c.json(view((await changeOrFind(row.charge_id, 'captured', ['authorized'])) ?? row))
  })

  app.post('/charges/:charge/cancel', async (c) => {
    const row = await records.find(c.req.param('charge'))
    if (!row) return c.json({ error: 'no such charge' }, 404)
    const from: ChargeStatus[] = [
      'authorized',
      'requires_action',
      // A declined charge cannot change any more, because its buyer pays with another charge.
      'declined',
      ...(row.method === 'pm_late' ? [] : ['pending' as const]),
    ]
    return c.json(view((await changeOrFind(row.charge_id, 'cancelled', from)) ?? row))
  })

  app.post('/charges/:charge/refund', async (c) => {
    const text = await c.req.text()
    const body = v.safeParse(v.pipe(v.string(), v.parseJson(), RefundBody), text || '{}')
    if (!body.success) return c.json({ error: 'malformed' }, 400)
    const { key = randomUUID(), amount_minor } = body.output
    const refunded = await records.refund(c.req.param('charge'), key, amount_minor)
    if (refunded === 'too much') return c.json({ error: 'more than is left of the charge' }, 422)
    if (!refunded) return c.json({ error: 'no such charge' }, 404)
    if ('at' in refunded) tell(refunded)
    return c.json(view(refunded))
  })

  app.get('/charges/:charge/refunds', async (c) => {
    const returns = await records.returns(c.req.param('charge'))
    return returns ? c.json(returns) : c.json({ error: 'no such charge' }, 404)
  })

  app.get('/bank/:charge', async (c) => {
    const row = await records.find(c.req.param('charge'))
    if (!row) return c.text('There is no such payment.', 404)
    const { charge_id: charge, order_id: order, currency, status, return_url: returnUrl } = row
    const page = bankPage({ charge, order, amountMinor: Number(row.amount_minor), currency, status, returnUrl })
    return c.html(page, 200, bankHeaders({ returnUrl }))
  })

  app.post('/bank/:charge/:answer{approve|decline}', async (c) => {
    const row = await records.find(c.req.param('charge'))
    if (!row) return c.text('There is no such payment.', 404)
    const isGood = c.req.param('answer') === 'approve' && row.method === 'pm_3ds'
    if (row.method !== 'pm_3ds_abandoned')
      await (isGood
        ? change(row.charge_id, 'authorized', ['requires_action'])
        : change(row.charge_id, 'declined', ['requires_action'], AUTHENTICATION_FAILED))
    const isOpen = row.method === 'pm_3ds_abandoned' && row.status === 'requires_action'
    const back = isOpen || row.return_url === null ? `/bank/${row.charge_id}` : row.return_url
    return new Response(null, {
      status: 303,
      headers: { ...bankHeaders({ returnUrl: row.return_url }), location: back },
    })
  })

  /** Changes the status of a charge that has one of these, and tells the shop. */
  async function change(charge: string, to: ChargeStatus, from: readonly ChargeStatus[], code?: string) {
    const row = await records.change(charge, to, from, code)
    if (row) tell(row)
    return row
  }

  const changeOrFind = async (charge: string, to: ChargeStatus, from: readonly ChargeStatus[]) =>
    (await change(charge, to, from)) ?? (await records.find(charge))

  /** Sends a webhook of what became of a charge: an authorization, a decline, a capture or a refund. */
  function tell(row: Changed): void {
    if (!['pending', 'requires_action', 'cancelled'].includes(row.status)) void sendWebhook(row)
  }

  async function sendWebhook(row: Changed): Promise<void> {
    const body = { type: `charge.${row.status}`, ...view(row) }
    const headers = { 'sandbox-signature': signWebhook(options.secret, JSON.stringify(body), row.at) }
    for (let attempt = 1; attempt <= WEBHOOK_ATTEMPTS && !stopping.signal.aborted; attempt++) {
      const response = await webhook(pathname + search, { body, headers }).catch(() => undefined)
      if (response && response.status < 500) return
      await pause(200 * 2 ** attempt * (0.5 + Math.random()))
    }
  }

  /** Authorizes the late charges, whether or not anybody still waits. */
  const lateCharges = (async () => {
    while (!stopping.signal.aborted) {
      for (const row of await records.authorizeLate(lateMs).catch(() => [])) tell(row)
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
      await records.close()
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
