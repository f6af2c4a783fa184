import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endLeases, eventually, useOwnOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'
import { startSandbox } from './providers/sandbox.ts'

/**
 * Between the worker and the sandbox, whose webhooks are lost. `before` or `after` a call that matches, the worker is killed:
 * it never gets the answer.
 */
const kill: { before?: RegExp; after?: RegExp } = {}
const proxy = createServer((request, response) => {
  // The worker may still call while the sandbox ends.
  forward(request, response).catch(() => response.destroy())
})
async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const call = `${request.method} ${request.url}`
  const body = await text(request)
  if (kill.before?.test(call)) return killWorker()
  const { method = 'GET', headers } = request
  const forwarded = Object.fromEntries(['content-type', 'idempotency-key'].map((n) => [n, `${headers[n] ?? ''}`]))
  const answer = await fetch(`${sandbox.url}${request.url}`, {
    method,
    headers: forwarded,
    ...(method === 'POST' && { body }),
  })
  const sent = await answer.text()
  if (kill.after?.test(call)) return killWorker()
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(sent)
}
let killed = Promise.withResolvers<void>()
async function killWorker() {
  delete kill.before
  delete kill.after
  await worker.kill()
  killed.resolve()
}

let sandbox: Awaited<ReturnType<typeof startSandbox>>
proxy.listen(0, '127.0.0.1')
await once(proxy, 'listening')

const database = useDatabase()
const redis = useRedis()
beforeAll(async () => {
  const webhookUrl = 'http://127.0.0.1:9/lost'
  sandbox = await startSandbox({ databaseUrl: database.url, webhookUrl, secret: 'webhooks are lost' })
})
afterAll(async () => {
  await sandbox.stop()
  proxy.closeAllConnections()
  proxy.close()
})
const env = {
  SANDBOX_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
}
const stores = () => ({ databaseUrl: database.url, redisUrl: redis.url })
const api = useOwnOrigin(stores, { ...env, ROLE: 'api' })
const worker = useOwnOrigin(stores, { ...env, ROLE: 'worker' })

async function buy(method: string, hold_seconds: number) {
  const sale = await api.sale({ total: 1, hold_seconds })
  const token = await api.token(sale)
  const { body } = await api.checkout(sale, { token })
  const id = body.order_id ?? ''
  await api.call('POST', `/orders/${id}/payment`, { token, body: { payment_method: method } })
  return { sale, id, read: async () => (await api.call('GET', `/orders/${id}`, { token })).body }
}
const charges = (id: string) => () =>
  api.sql()<{ status: string; captures: number }[]>`
  select status, capture_attempts as captures from sandbox.charges where order_id = ${id}`
const chargeOf = async (id: string) => {
  const found = () => api.sql()<{ charge_id: string }[]>`select charge_id from sandbox.charges where order_id = ${id}`
  const [charge] = await eventually(found, (rows) => rows.length > 0)
  return charge?.charge_id ?? ''
}
const approve = async (id: string) => {
  await fetch(`${sandbox.url}/bank/${await chargeOf(id)}/approve`, { method: 'POST', redirect: 'manual' })
}
/** Once the worker was killed, it starts again. */
async function afterTheKill() {
  await killed.promise
  killed = Promise.withResolvers()
  await endLeases(api.sql())
  await worker.restart()
}
const waits = { status: 'paying', payment: { status: 'requires_action' } }

test('a worker killed between the charge and its wait loses neither', async () => {
  kill.after = /^POST \/charges$/
  const { sale, id, read } = await buy('pm_3ds', 60)
  await killed.promise
  expect(await read()).toMatchObject({ status: 'paying', payment: { status: 'pending' } })
  await afterTheKill()
  await expect.poll(read).toMatchObject(waits)
  await approve(id)
  await expect.poll(read).toMatchObject({ status: 'confirmed' })
  await expect.poll(charges(id)).toEqual([{ status: 'captured', captures: 1 }])
  expect(await api.stock(sale)).toMatchObject({ available: 0, held: 0, sold: 1 })
})

test('a worker killed while the buyer is at their bank finds what they did', async () => {
  const { id, read } = await buy('pm_3ds', 60)
  await expect.poll(read).toMatchObject(waits)
  await worker.kill()
  await approve(id)
  await worker.restart()
  await expect.poll(read).toMatchObject({ status: 'confirmed' })
  await expect.poll(charges(id)).toEqual([{ status: 'captured', captures: 1 }])
})

test.each(['before', 'after'] as const)(
  'a worker killed between the confirmation and the end of its capture captures once (%s the provider did)',
  async (when) => {
    const { id, read } = await buy('pm_3ds', 60)
    await expect.poll(read).toMatchObject(waits)
    kill[when] = /\/capture$/
    await approve(id)
    await killed.promise
    expect(await read()).toMatchObject({ status: 'confirmed' })
    await afterTheKill()
    const captures = () => api.sql()`
      select c.status, k.captured_at is not null as done from sandbox.charges c join captures k using (charge_id)
      where c.order_id = ${id}`
    await expect.poll(captures).toEqual([{ status: 'captured', done: true }])
  },
)

test.each(['before', 'after'] as const)(
  'a worker killed while it ends an abandoned payment ends it later (%s the provider did)',
  async (when) => {
    const { sale, id, read } = await buy('pm_3ds', 1)
    await expect.poll(read).toMatchObject(waits)
    kill[when] = new RegExp(`/${await chargeOf(id)}/cancel$`)
    await api.sql()`update orders set action_until = now() where order_id = ${id}`
    await killed.promise
    expect(await read()).toMatchObject(waits)
    expect(await api.stock(sale)).toMatchObject({ available: 0, held: 1 })
    // The buyer comes too late: the cancel is decided, whether or not the provider has heard of it.
    await approve(id)
    await afterTheKill()
    await expect.poll(read).toMatchObject({ status: 'cancelled', reason: 'not_authenticated' })
    await expect.poll(charges(id)).toEqual([{ status: 'cancelled', captures: 0 }])
    await expect.poll(() => api.stock(sale)).toMatchObject({ available: 1, held: 0, sold: 0 })
  },
)
