import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import postgres from 'postgres'
import { afterAll, describe, expect, test } from 'vitest'
import { providerCases } from '../../test/lib/provider-cases.ts'
import { ledgerDatabase } from '../../test/lib/servers.ts'
import { TEST_WITHIN_MS } from '../../test/run/patience.ts'
import { startSandbox } from './sandbox.ts'
import { sandboxProvider } from './sandbox-client.ts'

const secret = randomUUID()
const webhooks: { type: string; charge: string }[] = []
const receiver = createServer(async (request, response) => {
  webhooks.push(JSON.parse(await text(request)))
  response.end()
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
const database = await ledgerDatabase()
const sql = postgres(database.url, { max: 1, onnotice: () => {} })
const sandbox = await startSandbox({ databaseUrl: database.url, webhookUrl, secret })
const provider = sandboxProvider({ url: sandbox.url, secret, timeoutMs: TEST_WITHIN_MS, nowMs: Date.now })
afterAll(async () => {
  receiver.close()
  await Promise.all([sandbox.stop(), sql.end()])
})
const returnUrl = 'http://shop.test/sales/s/order/o?from=bank'

test('lists every change once, even of one transaction larger than a page', async () => {
  const inserted = Array.from({ length: 2_500 }, () => `ch_${randomUUID()}`)
  await sql`
    insert into sandbox.charges (charge_id, idempotency_key, order_id, amount_minor, currency, method, status)
    select id, id, gen_random_uuid(), 1000, 'EUR', 'pm_ok', 'cancelled' from unnest(${inserted}::text[]) id`
  const listed: string[] = []
  let last: string | null = null
  const readOn = async () => {
    for await (const { records, cursor } of provider.changes(last)) {
      listed.push(...records.map((r) => r.charge))
      last = cursor
    }
    return listed.length
  }
  // A transaction that runs elsewhere on this server delays the list.
  await expect.poll(readOn).toBe(inserted.length)
  expect(listed.toSorted()).toEqual(inserted.toSorted())
  expect(await readOn()).toBe(inserted.length)
})

const authorize = (order: string, method: string) =>
  provider.authorize({ order, attempt: 1, amountMinor: 123_450, currency: 'EUR', method, returnUrl })
async function needed(method: string) {
  const order = randomUUID()
  const authorized = await authorize(order, method)
  if (authorized.result !== 'requires_action') throw new Error(authorized.result)
  return { order, ...authorized.action }
}
describe('as every provider', () => {
  providerCases({
    provider,
    methods: { good: 'pm_ok', declined: 'pm_no', insufficient: 'pm_insufficient_funds', needsBuyer: 'pm_3ds' },
    decide: ({ url }, isGood) => post(`${url}/${isGood ? 'approve' : 'decline'}`),
  })
})

const post = (url: string) => fetch(url, { method: 'POST', redirect: 'manual' })
/** What was sent of a charge; webhooks may overtake each other. */
const sentOf = (charge: string) => () =>
  webhooks
    .filter((w) => w.charge === charge)
    .map((w) => w.type)
    .sort()
async function captured() {
  const order = randomUUID()
  const authorized = await authorize(order, 'pm_ok')
  if (authorized.result !== 'authorized') throw new Error(authorized.result)
  const { charge } = authorized
  await provider.capture({ charge, order })
  await expect.poll(sentOf(charge)).toContain('charge.captured')
  return { charge, order }
}

test('makes each charge of a crowd once, and reports it once, however often it is asked', async () => {
  const orders = Array.from({ length: 20 }, () => randomUUID())
  const made = await Promise.all([...orders, ...orders].map((order) => authorize(order, 'pm_ok')))
  const charges = made.map((one) => (one.result === 'authorized' ? one.charge : one.result))
  expect(new Set(charges).size).toBe(orders.length)
  await Promise.all(
    [...charges, ...charges].map((charge, i) => provider.capture({ charge, order: orders[i % orders.length] ?? '' })),
  )
  for (const charge of new Set(charges))
    await expect.poll(sentOf(charge)).toEqual(['charge.authorized', 'charge.captured'])
  const rows = await sql`
    select distinct attempts, capture_attempts from sandbox.charges where charge_id = any(${charges})`
  expect([...rows]).toEqual([{ attempts: 2, capture_attempts: 4 }])
})

test.each([
  ['pm_3ds', 'approve', { status: 'authorized' }],
  ['pm_3ds', 'decline', { status: 'declined', code: 'authentication_failed' }],
  ['pm_3ds_fails', 'approve', { status: 'declined', code: 'authentication_failed' }],
])('%s needs its buyer at the bank: %s', async (method, answer, state) => {
  const { charge, order, url } = await needed(method)
  const action = { charge, url }
  expect(await provider.find(order)).toEqual({ charge, order, status: 'requires_action', attempt: 1, action })
  const page = await fetch(url)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(page.headers.get('content-security-policy')).toContain("form-action 'self' http://shop.test;")
  const html = await page.text()
  for (const part of ['€1,234.50', order, 'No money moves.', 'Approve', 'Decline']) expect(html).toContain(part)
  for (let times = 0; times < 2; times++) {
    const answered = await post(`${url}/${answer}`)
    expect([answered.status, answered.headers.get('location')]).toEqual([303, returnUrl])
  }
  expect(await provider.find(order)).toMatchObject(state)
  await expect.poll(sentOf(charge)).toEqual([`charge.${state.status}`])
  const after = await (await fetch(url)).text()
  expect(after).toContain(`This payment is ${state.status === 'authorized' ? 'approved' : 'declined'}`)
  expect(after).toContain('Back to the shop')
})

test('pm_3ds_abandoned waits for a buyer who never comes', async () => {
  const { order, url } = await needed('pm_3ds_abandoned')
  for (const answer of ['approve', 'decline'])
    expect((await post(`${url}/${answer}`)).headers.get('location')).toBe(new URL(url).pathname)
  expect(await provider.find(order)).toMatchObject({ status: 'requires_action' })
})

test('cancels a charge that was declined: a refund of it is done', async () => {
  const { charge, order, url } = await needed('pm_3ds')
  await post(`${url}/decline`)
  expect(await provider.cancel(charge)).toEqual({ charge, order, status: 'cancelled' })
})

test('refunds a charge in parts, each key once, and never beyond what was taken', async () => {
  const { charge, order } = await captured()
  const refund = (key: string, amountMinor: number) =>
    provider.refund({ charge, order, key: key + charge, amountMinor, failed: 0 })
  await Promise.all([refund('first', 23_450), refund('first', 23_450)])
  expect(await provider.find(order)).toMatchObject({ status: 'captured', refundedMinor: 23_450 })
  await expect(refund('too much', 100_001)).rejects.toThrow('422')
  await refund('remaining', 100_000)
  await refund('remaining', 100_000)
  expect(await provider.find(order)).toEqual({ charge, order, status: 'refunded' })
  const sent = ['authorized', 'captured', 'captured', 'refunded'].map((status) => `charge.${status}`)
  await expect.poll(sentOf(charge)).toEqual(sent)
})

test('reports a part refunded by hand', async () => {
  const { charge, order } = await captured()
  const request = { method: 'POST', body: JSON.stringify({ amount_minor: 50 }) }
  expect((await fetch(`${sandbox.url}/charges/${charge}/refund`, request)).status).toBe(200)
  await expect.poll(sentOf(charge)).toHaveLength(3)
  const part = { charge, order, status: 'captured', refunded_minor: 50 }
  expect(webhooks).toContainEqual(expect.objectContaining(part))
  const rest = await provider.refund({ charge, order, key: randomUUID(), amountMinor: null, failed: 0 })
  expect(await provider.find(order)).toMatchObject({ status: 'refunded' })
  const { takenMinor, refunds } = await provider.returns(charge)
  expect(refunds).toEqual([expect.objectContaining({ amountMinor: 50, isMade: true }), rest])
  expect(rest.amountMinor).toBe(takenMinor - 50)
})

test('gives back no part of what was not taken', async () => {
  const { charge, order } = await needed('pm_3ds')
  const part = { charge, order, key: randomUUID(), amountMinor: 1, failed: 0 }
  await expect(provider.refund(part)).rejects.toThrow('the charge is requires_action')
  expect(await provider.returns(charge)).toEqual({ takenMinor: 0, refunds: [] })
  await provider.cancel(charge)
  expect(await provider.find(order)).toMatchObject({ status: 'cancelled' })
})
