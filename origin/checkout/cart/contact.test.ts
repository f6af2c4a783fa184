/** How a buyer can be reached: stored only as far as the sale wishes, with the order, and never in a log. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useOrigin } from '../../../test/lib/origin-process.ts'
import { reservationOf } from '../../../test/lib/samples.ts'
import { connectRedis } from '../../lib/redis/redis.ts'
import { SaleMemory } from '../../sales/sale-memory.ts'
import { Gates } from '../../stock/gate/gate.ts'
import { defineScripts, type Store } from '../../stock/scripts.ts'

const origin = useOrigin()
const email = 'Ada.Lovelace@example.com'
const body = { contact: { email } }

let redis: Store
beforeAll(async () => {
  redis = defineScripts(connectRedis(origin.redisUrl(), pino({ level: 'silent' })))
  await once(redis, 'ready')
})
afterAll(() => redis.disconnect())

const storedIn = (sale: string) =>
  origin.sql()`select order_id, email, address, language from contacts where sale_id = ${sale}`
const everyKey = async (sale: string) => {
  const keys = await redis.keys(`*${sale}*`)
  const values = await Promise.all(keys.map((key) => redis.dump(key)))
  return keys.join() + values.join()
}

async function buy(sale: string, sent: object, headers: Record<string, string> = {}, key = 'k') {
  const token = await origin.token(sale, 'ada')
  const asked = { token, body: sent, headers: { 'idempotency-key': key, ...headers } }
  return origin.call('POST', `/sales/${sale}/checkout`, asked)
}

test('ignores an address that the sale does not wish to know', async () => {
  const sale = await origin.sale()
  const edge = { 'edge-token': origin.edgeToken, 'edge-address': '192.0.2.7' }
  expect(await buy(sale, body, edge)).toMatchObject({ status: 201 })
  expect(await storedIn(sale)).toEqual([])
  // It is a part of the request all the same.
  expect(await buy(sale, {})).toMatchObject({ status: 422, body: { type: '/problems/idempotency-key-reused' } })
})

test('requires an address where the sale does', async () => {
  const sale = await origin.sale({ contact: { email: 'required' } })
  for (const sent of [{}, { contact: { email: 'nobody' } }])
    expect(await buy(sale, sent)).toMatchObject({ status: 422, body: { errors: [{ field: 'contact.email' }] } })
  const { body: order } = await buy(sale, body, { 'accept-language': 'nl, de;q=0.9, en;q=0.8' })
  expect(await storedIn(sale)).toEqual([{ order_id: order.order_id, email, address: null, language: 'de' }])
  const [{ days = 0 } = {}] = await origin.sql()<{ days: number }[]>`
    select extract(epoch from delete_after - now())::float8 / 86400 as days from contacts where sale_id = ${sale}`
  expect(days).toBeCloseTo(60, 1)
  expect(origin.log()).not.toMatch(/lovelace/i)
  const state = await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })
  expect(state.body.contact).toBe('required')
  const { contact } = (await origin.admin('GET', `/sales/${sale}`)).body
  expect(contact).toMatchObject({ email: 'required', retention_days: 30 })
})

test('keeps a network address only as the edge says it, and only where the sale does', async () => {
  const sale = await origin.sale({ contact: { address: true }, limit_per_visitor: 3 })
  const edge = { 'edge-token': origin.edgeToken, 'edge-address': '2001:db8::7', 'edge-language': 'fr' }
  expect(await buy(sale, body, edge, 'one')).toMatchObject({ status: 201 })
  expect(await buy(sale, {}, { 'edge-address': '192.0.2.7' }, 'two')).toMatchObject({ status: 201 })
  expect(await storedIn(sale)).toMatchObject([{ email: null, address: '2001:db8::7', language: 'fr' }])
})

test('keeps it when a worker records the order from its intent, and leaves nothing in Redis', async () => {
  const sale = await origin.sale({ contact: { email: 'optional' } })
  await origin.admin('GET', `/sales/${sale}`)
  const contact = { email, address: '192.0.2.7', language: 'ja' }
  const [with_, without] = [
    { ...reservationOf(sale), visitor: 'an account', method: 'pm_ok', contact },
    { ...reservationOf(sale), order: crypto.randomUUID(), visitor: 'w' },
  ]
  const gate = new Gates(redis, new SaleMemory()).of(sale)
  const terms = { holdMs: 60_000, limit: 1, demand: [] }
  const verdicts = await Promise.all([with_, without].map((r) => gate.reserve(r, terms)))
  expect(verdicts).toMatchObject([{ verdict: 'reserved' }, { verdict: 'reserved' }])
  expect((await gate.intents.find(with_.order))?.contact).toEqual(contact)
  expect(await gate.intents.find(without.order)).not.toHaveProperty('contact')
  await expect.poll(() => gate.intents.count()).toBe(0)
  expect(await storedIn(sale)).toEqual([{ order_id: with_.order, ...contact }])
  const [order] = await origin.sql()`select visitor, payment_method from orders where order_id = ${with_.order}`
  expect(order).toMatchObject({ visitor: 'an account', payment_method: 'pm_ok' })
  const stored = Buffer.from(JSON.stringify(contact)).toString('base64url')
  expect(await everyKey(sale)).not.toContain(stored)
})

test('forgets a visitor, whose name may need escaping, for owners only', async () => {
  const sale = await origin.sale({ contact: { email: 'optional' } })
  const visitor = 'user:kim/7'
  const token = await origin.token(sale, visitor)
  const { body: order } = await origin.checkout(sale, { token, body })
  const path = `/visitors/${encodeURIComponent(visitor)}`
  // No visitor can have this name, because it is too long to be stored.
  expect(await origin.admin('DELETE', `/visitors/${randomBytes(4_000).toString('hex')}`)).toMatchObject({ status: 422 })
  expect(await origin.admin('DELETE', path)).toMatchObject({
    status: 200,
    body: { contacts: 1, notes: 0, orders: 0, orders_later: 1 },
  })
  expect(await storedIn(sale)).toEqual([])
  expect((await origin.call('GET', `/orders/${order.order_id}`, { token })).status).toBe(200)
  expect(await origin.call('DELETE', `/admin${path}`, { token: 'nobody' })).toMatchObject({ status: 401 })
})
