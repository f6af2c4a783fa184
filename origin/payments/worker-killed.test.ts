/**
 * A worker is killed during calls to the provider: a charge, a capture, a cancel and a refund at once, and while another buyer is
 * at their bank. The next worker finishes each of them, once.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_TOKEN, endLeases, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { useDatabase, useRedis } from '../../test/lib/servers.ts'
import { startSandbox } from './providers/sandbox.ts'

type When = 'before' | 'after'
/** The calls that get no answer: held before the sandbox hears of them, or after it has acted. */
let held = new Map<string, When>()
const arrived = new Set<string>()
let areWebhooksLost = false
/** Between worker and sandbox, and between sandbox and api. */
const proxy = createServer((request, response) => {
  // The worker is killed, or the sandbox has stopped.
  forward(request, response).catch(() => response.destroy())
})
async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '', headers } = request
  const isWebhook = url.startsWith('/webhooks/')
  if (isWebhook && areWebhooksLost) return void response.writeHead(204).end()
  const body = await text(request)
  const call = url === '/charges' ? `${url} of ${JSON.parse(body).order}` : url
  const when = held.get(call)
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
proxy.listen(0, '127.0.0.1')
await once(proxy, 'listening')
const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`

const database = useDatabase()
const redis = useRedis()
const secret = 'webhook-secret-between-sandbox-and-api'
beforeAll(async () => {
  sandbox = await startSandbox({ databaseUrl: database.url, webhookUrl: `${proxyUrl}/webhooks/sandbox`, secret })
})
afterAll(async () => {
  await sandbox.stop()
  proxy.closeAllConnections()
  proxy.close()
})
const stores = () => ({ databaseUrl: database.url, redisUrl: redis.url })
const env = { SANDBOX_URL: proxyUrl, SANDBOX_TIMEOUT_MS: '6000', WEBHOOK_SECRET: secret }
const api = useOwnOrigin(stores, { ...env, ROLE: 'api' })
const worker = useOwnOrigin(stores, { ...env, ROLE: 'worker' })

async function reserve() {
  const sale = await api.sale({ total: 1 })
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

/** Buyers of each kind of call, and one at their bank whose worker is killed meanwhile. */
async function buyers(when: When) {
  const [charged, refunded] = [await reserve(), await reserve()]
  const [awaiting3ds, captured, abandoned] = [await buyWith3ds(), await buyWith3ds(), await buyWith3ds()]
  await refunded.pay('pm_ok')
  await expect.poll(() => charges(refunded)).toMatchObject([{ status: 'captured' }])
  const calls = [
    `/charges/${await chargeOf(refunded)}/refund`,
    `/charges/${await chargeOf(captured)}/capture`,
    `/charges/${await chargeOf(abandoned)}/cancel`,
  ]
  for (const call of [...calls, `/charges of ${charged.id}`]) held.set(call, when)
  return { charged, refunded, awaiting3ds, captured, abandoned, calls }
}

test('each call is finished once if its worker is killed before or after the provider acts', async () => {
  const all = await Promise.all([buyers('before'), buyers('after')])
  // It finds all captures, and all refunds, at once: it begins no others while it waits for some.
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
  // Last, since a charge without an answer is given up after three attempts.
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
    // One buyer approves in time. The other is too late: the cancel is decided, whether or not the provider has heard of it.
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
  expect(await api.sql()`select 1 from refunds where refunded_at is null`).toEqual([])
})
