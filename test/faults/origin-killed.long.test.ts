/**
 * An api or a worker is killed while the ledger, the gate or the payment provider is in a given state. Nothing is
 * sold or charged twice, and no order is lost: another process continues, and the next one finishes what was begun.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Redis } from 'ioredis'
import type postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOOPBACK } from '../../dev/lib/processes.ts'
import { startSandbox } from '../../origin/providers/sandbox.ts'
import { ADMIN_TOKEN, endLeases, useOwnOrigin } from '../lib/origin-process.ts'
import { untilLocked, useDatabase, useRedis } from '../lib/servers.ts'

/** The hold is so long that none ends by itself on a slow machine. */
const hold_seconds = 3_600

type When = 'before' | 'after'
/**
 * The held calls, by their order or charge: such a call gets no response, before the sandbox receives it or after it
 * has acted.
 */
let held = new Map<string, { readonly call: string; readonly when: When }>()
const arrived = new Set<string>()
let areWebhooksLost = false
/** The proxy is between worker and sandbox, and between sandbox and api. */
const proxy = createServer((request, response) => {
  // The worker was killed, or the sandbox has stopped.
  forward(request, response).catch(() => response.destroy())
})
async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '', headers } = request
  const isWebhook = url.startsWith('/webhooks/')
  if (isWebhook && areWebhooksLost) return void response.writeHead(204).end()
  const body = await text(request)
  const call = url === '/charges' ? `${url} of ${JSON.parse(body).order}` : url
  const [, named] = [...held].find(([about]) => call.includes(about)) ?? []
  const when = named?.call === call ? named.when : undefined
  // Until it is killed, the worker must not learn the result of the call by other means.
  if (!when && (named ? arrived.has(named.call) : held.size > 0 && url.startsWith('/changes'))) return
  if (when !== 'before') {
    const names = ['content-type', 'idempotency-key', 'sandbox-signature']
    const forwarded = await fetch(`${isWebhook ? api.url() : sandbox.url}${url}`, {
      method,
      headers: Object.fromEntries(names.map((name) => [name, `${headers[name] ?? ''}`])),
      ...(method === 'POST' && { body }),
    })
    const answer = await forwarded.text()
    if (!when) response.writeHead(forwarded.status, { 'content-type': 'application/json' }).end(answer)
  }
  if (when) arrived.add(call)
}

let sandbox: Awaited<ReturnType<typeof startSandbox>>
let redis: Redis
proxy.listen(0, LOOPBACK)
await once(proxy, 'listening')
const proxyUrl = `http://${LOOPBACK}:${(proxy.address() as AddressInfo).port}`
const database = useDatabase()
const server = useRedis()
const secret = 'webhook-secret-between-sandbox-and-api'
beforeAll(async () => {
  redis = new Redis(server.url)
  sandbox = await startSandbox({ databaseUrl: database.url, webhookUrl: `${proxyUrl}/webhooks/sandbox`, secret })
})
afterAll(async () => {
  redis.disconnect()
  await sandbox.stop()
  proxy.closeAllConnections()
  proxy.close()
})
const stores = () => ({ databaseUrl: database.url, redisUrl: server.url })
const env = { SANDBOX_URL: proxyUrl, SANDBOX_TIMEOUT_MS: '6000', WEBHOOK_SECRET: secret }
const api = useOwnOrigin(stores, { ...env, ROLE: 'api' })
const worker = useOwnOrigin(stores, { ...env, ROLE: 'worker' })

/**
 * Ends the statements that wait for a lock, as the end of their process would. Postgres itself notices that end only
 * later.
 */
const endLocked = (tx: postgres.Sql | postgres.TransactionSql) => tx`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`
const ordersOf = (sale: string) => api.sql()`select order_id, status from orders where sale_id = ${sale}`
const intentsOf = (sale: string) => redis.hlen(`{${sale}}:unrecorded`)
const gateOf = (sale: string) => redis.hgetall(`{${sale}}:stock`)
const sold = async (sale: string, buyers: number) => {
  const answers = await Promise.all(Array.from({ length: buyers }, () => api.checkoutDecided(sale)))
  return answers.filter(({ status }) => status === 201).length
}

test('an api that is killed between record and answer: its key finds the order', async () => {
  const sale = await api.sale({ total: 3, hold_seconds })
  const buyer = { token: await api.token(sale), key: 'cut' }
  const { asked } = await api.sql().begin(async (tx) => {
    await tx`select 1 from sales where sale_id = ${sale} for update`
    const asked = api.checkout(sale, buyer).catch(() => 'no answer')
    await untilLocked(api.sql())
    expect([await intentsOf(sale), await ordersOf(sale)]).toEqual([1, []])
    api.freeze()
    return { asked }
  })
  // The order was recorded by the statement that waited, or by the worker that found the reservation.
  await expect.poll(() => ordersOf(sale)).toHaveLength(1)
  await api.kill()
  expect(await asked).toBe('no answer')
  await api.restart()

  await expect.poll(() => intentsOf(sale)).toBe(0)
  const [order, ...others] = await ordersOf(sale)
  expect([order?.status, others]).toEqual(['reserved', []])
  const again = await api.checkout(sale, buyer)
  expect(again).toMatchObject({ status: 201, body: { status: 'reserved', order_id: order?.order_id } })
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(await sold(sale, 4)).toBe(2)
  expect(await api.stock(sale)).toMatchObject({ available: 0, held: 3 })
})

async function reserve() {
  const sale = await api.sale({ total: 1, hold_seconds })
  const token = await api.token(sale)
  const { body } = await api.checkout(sale, { token })
  const id = body.order_id ?? ''
  const read = async () => (await api.call('GET', `/orders/${id}`, { token })).body
  const pay = (method: string) => api.call('POST', `/orders/${id}/payment`, { token, body: { payment_method: method } })
  return { sale, id, read, pay }
}
type Buyer = Awaited<ReturnType<typeof reserve>>
const charges = ({ id }: Buyer) =>
  api.sql()<{ charge_id: string; status: string; captures: number; refunded: number }[]>`
    select charge_id, status, capture_attempts as captures, refunded_minor::int as refunded
    from sandbox.charges where order_id = ${id}`
const chargeOf = async (buyer: Buyer) => (await charges(buyer))[0]?.charge_id ?? ''

async function buyWith3ds() {
  const buyer = await reserve()
  await buyer.pay('pm_3ds')
  await expect.poll(buyer.read).toMatchObject(AWAITING_3DS)
  return buyer
}
const AWAITING_3DS = { status: 'paying', payment: { status: 'requires_action' } }
const approve = async (buyer: Buyer) =>
  fetch(`${sandbox.url}/bank/${await chargeOf(buyer)}/approve`, { method: 'POST', redirect: 'manual' })

/** Creates a buyer for each kind of call, and one who is at their bank when the worker is killed. */
async function buyers(when: When) {
  const [charged, refunded] = [await reserve(), await reserve()]
  const [awaiting3ds, captured, abandoned] = [await buyWith3ds(), await buyWith3ds(), await buyWith3ds()]
  await refunded.pay('pm_ok')
  await expect.poll(() => charges(refunded)).toMatchObject([{ status: 'captured' }])
  const calls: string[] = []
  for (const [buyer, what] of [
    [refunded, 'refund'],
    [captured, 'capture'],
    [abandoned, 'cancel'],
  ] as const) {
    const charge = await chargeOf(buyer)
    const call = `/charges/${charge}/${what}`
    calls.push(call)
    held.set(charge, { call, when })
  }
  held.set(charged.id, { call: `/charges of ${charged.id}`, when })
  return { charged, refunded, awaiting3ds, captured, abandoned, calls }
}

describe('a worker that is killed', () => {
  test('in its calls to the provider, before or after that has acted: the next one finishes each of them, once', async () => {
    const all = await Promise.all([buyers('before'), buyers('after')])
    // The worker then finds all captures and all refunds at once. It begins no others while it waits for some.
    worker.freeze()
    for (const { refunded, captured, abandoned } of all) {
      const refund = { token: ADMIN_TOKEN, body: { amount_minor: 400 }, headers: { 'idempotency-key': refunded.id } }
      expect(await api.call('POST', `/admin/orders/${refunded.id}/refund`, refund)).toMatchObject({ status: 202 })
      await approve(captured)
      await expect.poll(captured.read).toMatchObject({ status: 'confirmed' })
      await api.sql()`update orders set action_until = now() where order_id = ${abandoned.id}`
    }
    worker.goOn()
    await expect.poll(() => [...arrived].sort()).toEqual(all.flatMap(({ calls }) => calls).sort())
    areWebhooksLost = true
    // Payments come last, because a charge without a response is given up after three attempts.
    for (const { charged } of all) await charged.pay('pm_ok')
    await expect.poll(() => arrived.size).toBe(held.size)
    await worker.kill()
    held = new Map()

    for (const { charged, captured, abandoned, refunded, awaiting3ds } of all) {
      expect(await charged.read()).toMatchObject({ status: 'paying', payment: { status: 'pending' } })
      expect(await captured.read()).toMatchObject({ status: 'confirmed' })
      expect(await abandoned.read()).toMatchObject(AWAITING_3DS)
      expect(await refunded.read()).toMatchObject({ status: 'confirmed', refunded_minor: 0 })
      // The charge is in progress, so its hold does not end.
      await api.sql()`update orders set reserved_until = now() where order_id = ${charged.id}`
      // One buyer approves in time. The other is too late, because the cancellation is decided even if the provider
      // has not received it yet.
      for (const buyer of [awaiting3ds, abandoned]) await approve(buyer)
    }
    await endLeases(api.sql())
    await worker.restart()

    for (const { charged, captured, abandoned, refunded, awaiting3ds } of all) {
      for (const sold of [charged, captured, awaiting3ds]) {
        await expect.poll(sold.read).toMatchObject({ status: 'confirmed' })
        await expect.poll(() => charges(sold)).toMatchObject([{ status: 'captured' }])
        expect(await api.stock(sold.sale)).toMatchObject({ available: 0, held: 0, sold: 1 })
      }
      for (const sold of [charged, awaiting3ds]) expect(await charges(sold)).toMatchObject([{ captures: 1 }])
      await expect.poll(abandoned.read).toMatchObject({ status: 'cancelled', reason: 'not_authenticated' })
      await expect.poll(() => charges(abandoned)).toMatchObject([{ status: 'cancelled', captures: 0 }])
      await expect.poll(() => api.stock(abandoned.sale)).toMatchObject({ available: 1, held: 0, sold: 0 })
      await expect.poll(refunded.read).toMatchObject({ status: 'confirmed', refunded_minor: 400 })
      expect(await charges(refunded)).toMatchObject([{ status: 'captured', refunded: 400 }])
      const events = await api.sql()`select type from events where order_id = ${refunded.id} order by seq`
      expect(events.map(({ type }) => type)).toEqual(['order.paying', 'order.confirmed', 'order.refunded'])
    }
    await expect.poll(() => api.sql()`select order_id from captures where captured_at is null`).toEqual([])
    const twice = api.sql()`select order_id from events where type = 'order.confirmed'
      group by order_id having count(*) > 1`
    expect(await twice).toEqual([])
    expect(await api.sql()`select 1 from refunds where refunded_at is null`).toEqual([])
  })

  test('in a rebuild: the gate stays closed, the ledger sells alone, and the next one rebuilds it', async () => {
    const sale = await api.sale({ total: 5, hold_seconds })
    expect(await sold(sale, 1)).toBe(1)
    await api.sql().begin(async (tx) => {
      await tx`lock table orders in access exclusive mode`
      await redis.del(`{${sale}}:stock`)
      const rebuilds = () => api.sql()`
        select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%declare live%'`
      await expect.poll(rebuilds).toHaveLength(1)
      expect(await gateOf(sale)).toEqual({ fence: expect.anything() })
      await worker.kill()
      await endLocked(tx)
    })
    expect(await sold(sale, 2)).toBe(2)
    expect(await gateOf(sale)).toMatchObject({ fence: expect.anything() })
    await worker.restart()
    await expect
      .poll(() => gateOf(sale))
      .toMatchObject({ 'available one': '2', 'held one': '3', run: expect.anything() })
    expect(await sold(sale, 5)).toBe(2)
    expect(await api.stock(sale)).toMatchObject({ available: 0, held: 5 })
  })
})
