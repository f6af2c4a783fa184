/**
 * The stores are killed in the middle of a sale: Redis, then Postgres, then both. The tests check sales during and
 * after the failure, and that the edge, operators and monitors can see which store is away.
 */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres } from '../../dev/servers/postgres.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import type { LiveReading } from '../../shared/api/operators/live.ts'
import { eventually, eventuallyMatches } from '../lib/eventually.ts'
import { ADMIN_TOKEN, type Answer, useOwnOrigin } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { useReturning } from '../lib/servers.ts'

const [ledger, gate] = await Promise.all([useReturning(startPostgres), useReturning(startRedis)])
const redis = new Redis(gate.url, { retryStrategy: () => 100, maxRetriesPerRequest: null })
redis.on('error', () => {})
afterAll(() => redis.disconnect())
const origin = useOwnOrigin(() => ({ databaseUrl: ledger.url, redisUrl: gate.url }))

/** The hold is so long that none ends by itself on a slow machine. */
const hold_seconds = 3_600
const MEANWHILE = 'created-without-redis'
const REASON = { en: 'We look into it.' }
const AGAIN = { en: 'Still at it.' }
const SAID = { en: 'Your orders are safe.' }
const buyers = (sale: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => origin.checkoutDecided(sale)))
const sold = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 201).length
const gateOf = (sale: string) => redis.hgetall(`{${sale}}:stock`)
const gateBecomes = (sale: string, gate: object) => eventuallyMatches(() => gateOf(sale), gate)
const inUse = { run: expect.anything() }

// -- What others read of the sale -----------------------------------------------------------------------------------

let sale: string
let cookie: string
const edgeOf = (one: string) => origin.call('GET', `/internal/sales/${one}`, { token: origin.edgeToken })
const edge = () => edgeOf(sale)
const edgeReads = (answer: object) => eventuallyMatches(edge, answer)
const operator = () => origin.admin('GET', `/sales/${sale}`)
const metrics = async () => String((await origin.ops('/metrics')).body.text)
const storesUp = async () =>
  [...(await metrics()).matchAll(/^store_up\{store="(\w+)"\} 1$/gm)].map(([, store]) => store)
/** The console's data for a signed-in operator. */
function consoleReads(wanted: object, of = sale): Promise<void> {
  const read = async () => {
    const { body } = await origin.call('GET', `/admin/sales/${of}/live`, { headers: { cookie } })
    const { minutes, ...reading } = body as never as LiveReading
    return { ...reading, reserved: minutes.reduce((sum, { counts }) => sum + (counts.reserved ?? 0), 0) }
  }
  return eventuallyMatches(read, wanted)
}
const needs = (what: string) => ({ level: 'bad', needs: expect.arrayContaining([expect.objectContaining({ what })]) })

beforeAll(async () => {
  sale = await origin.sale({ total: 8, hold_seconds })
  const signedIn = await origin.call('POST', '/console/session', { body: { key: ADMIN_TOKEN } })
  cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
})

test('no unit is sold twice when Redis loses its data', async () => {
  const flushed = await origin.sale({ total: 15, hold_seconds })
  expect(sold(await buyers(flushed, 5))).toBe(5)
  await redis.flushall()
  expect(sold(await buyers(flushed, 5))).toBe(5)
  await gateBecomes(flushed, inUse)
  expect(sold(await buyers(flushed, 10))).toBe(5)
  expect(await origin.stock(flushed)).toMatchObject({ available: 0, held: 15 })
})

describe('Redis is killed', () => {
  let [overdue, old, run, token] = ['', '', '', '']
  let before: Answer
  beforeAll(async () => {
    overdue = await origin.sale({ total: 1, hold_seconds })
    old = await origin.sale({ total: 10, hold_seconds })
    token = await origin.token(sale)
    before = await origin.checkout(sale, { token, key: 'before' })
    expect(sold([before, ...(await buyers(overdue, 1)), ...(await buyers(old, 7))])).toBe(9)
    run = (await gateOf(old)).run ?? ''
    await consoleReads({ health: { ledger: true, redis: true, workers: 1 }, reserved: 1 })
    await edgeReads({ body: { arrivals: 1, counted: true, health: 'ok' } })
    await gate.kill()
  })

  test('the ledger sells alone, with the same limits and keys', async () => {
    const replayed = await origin.checkout(sale, { token, key: 'before' })
    expect(replayed).toMatchObject({ status: 201, body: { order_id: before.body.order_id } })
    expect(replayed.headers.get('idempotency-replayed')).toBe('true')
    const live = await origin.checkout(sale, { token })
    expect(live).toMatchObject({ status: 200, body: { order_id: before.body.order_id } })
    expect(sold(await buyers(sale, 12))).toBe(7)
    expect(await origin.call('DELETE', `/orders/${before.body.order_id}`, { token })).toMatchObject({ status: 200 })
    expect(sold(await buyers(sale, 3))).toBe(1)
    expect(await metrics()).toMatch(/^degraded_total\{without="gate"\} [1-9]/m)
    // Redis may know of this order, so it is not reported as unknown.
    expect(await origin.call('GET', `/orders/${randomUUID()}`, { token })).toMatchObject({ status: 503 })
  })

  test('everyone learns it; holds end by the ledger, and an operator changes a sale once', async () => {
    await consoleReads({
      health: { ledger: true, redis: false, workers: null },
      backlogs: { intents: null },
      summary: needs('Redis does not answer, or refuses all writes.'),
    })
    await edgeReads({ body: { arrivals: 1, counted: false, health: 'ok' } })
    await expect.poll(storesUp).toEqual(['ledger'])
    await origin.sql()`update orders set reserved_until = now() - interval '2 seconds' where sale_id = ${overdue}`
    await expect.poll(() => origin.stock(overdue)).toMatchObject({ available: 1, held: 0 })
    const restocked = await origin.admin('POST', `/sales/${overdue}/products/one/restock`, { quantity: 5 })
    expect(restocked).toMatchObject({ status: 200, body: { products: [{ total: 6 }] } })
    expect(await origin.stock(overdue)).toMatchObject({ total: 6, available: 6 })
    for (const status of [201, 200])
      expect(await origin.admin('PUT', `/sales/${MEANWHILE}`, saleOf(10))).toMatchObject({ status })
  })

  test('it comes back: gates are rebuilt, and what an old snapshot counts is not sold', async () => {
    await gate.start()
    await gateBecomes(sale, { 'available one': '0', 'held one': '8', ...inUse })
    expect(sold(await buyers(sale, 3))).toBe(0)
    // The keys are those of a snapshot: all units are available, and they were loaded in an earlier run.
    await redis.hset(`{${old}}:stock`, { 'available one': 10, 'held one': 0, run })
    expect(sold(await buyers(old, 10))).toBe(3)
    expect(await origin.stock(old)).toMatchObject({ available: 0, held: 10 })
    await edgeReads({ body: { counted: true } })
    await expect.poll(storesUp).toEqual(['ledger', 'redis'])
    await consoleReads({ health: { ledger: true, redis: true, workers: 1 }, reserved: 9 })
  })
})

describe('Postgres is killed', () => {
  let promised: { token: string; key: string; answer: Answer }[] = []
  let [steered, pausedAtOnce] = ['', '']
  const buy = (many: number) =>
    Promise.all(
      Array.from({ length: many }, async () => {
        const asked = { token: await origin.token(sale), key: randomUUID() }
        return { ...asked, answer: await origin.checkout(sale, asked) }
      }),
    )
  beforeAll(async () => {
    expect(await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 8 })).toMatchObject({
      status: 200,
    })
    await gateBecomes(sale, { 'available one': '8', ...inUse })
    steered = await origin.sale({ total: 8, hold_seconds })
    await gateBecomes(steered, { 'available one': '8', ...inUse })
    pausedAtOnce = await origin.sale({ total: 8, hold_seconds })
    await origin.checkoutDecided(pausedAtOnce)
    await ledger.kill()
  })

  test('a sale is paused before anyone has noticed it', async () => {
    const paused = await origin.admin('POST', `/sales/${pausedAtOnce}/pause`, { reason: REASON })
    expect(paused).toMatchObject({ status: 202, body: { phase: 'paused' } })
  })

  test('orders are promised, with a place to ask for their owners, and no more than there are units', async () => {
    promised = await buy(8)
    expect(promised.map(({ answer: { status, body } }) => [status, body.status])).toEqual(
      Array(8).fill([202, 'processing']),
    )
    const late = (await buy(5)).map(({ answer: { status, body } }) => [status, body.type].join(' '))
    expect(new Set(late)).toEqual(new Set(['409 /problems/all-in-carts']))
    const [{ headers, body }, other] = promised.map(({ answer }) => answer) as [Answer, Answer]
    const ask = (token: unknown) => origin.call('GET', headers.get('location') ?? '', { token: String(token) })
    expect(await ask(body.order_token)).toMatchObject({
      status: 200,
      body: { status: 'processing', product_id: 'one', reserved_until: null, created_at: body.created_at },
    })
    expect(await ask(other.body.order_token)).toMatchObject({ status: 404 })
    expect(await origin.ops('/readyz')).toMatchObject({ status: 200 })
    // The workers have tried to record the orders, and failed.
    await expect.poll(origin.log).toMatch(/"actor":"intent recorder".*"round failed"/)
  })

  test('everyone learns it, and reads what was known before', async () => {
    await consoleReads({
      health: { ledger: false, redis: true },
      reserved: 9,
      summary: needs('Postgres does not answer, or refuses all writes.'),
      state: { products: [{ total: 16 }] },
    })
    await edgeReads({ status: 200, body: { health: 'slow', phase: 'open' } })
    expect((await edge()).body.read_ago_ms).toBeGreaterThan(2_000)
    expect(await operator()).toMatchObject({ status: 200, body: { health: 'slow' } })
    await expect.poll(storesUp).toEqual(['redis'])
  })

  test('operators pause, resume and announce, by a session as well, and everyone sees it at once', async () => {
    const steer = (method: string, path: string, body: object) =>
      origin.call(method, `/admin/sales/${steered}/${path}`, {
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
        body,
      })
    const wasReadMs = Number((await edgeOf(steered)).body.read_ago_ms)
    expect(await origin.admin('POST', `/sales/${steered}/pause`, { reason: REASON })).toMatchObject({
      status: 202,
      body: { phase: 'paused', pause_reason: REASON },
    })
    const told = await edgeOf(steered)
    expect(told).toMatchObject({ body: { phase: 'paused', pause_reason: REASON } })
    // The change is younger than the reading, so the edge takes it from this process before any other.
    expect(Number(told.body.read_ago_ms)).toBeLessThan(wasReadMs)
    expect(await origin.checkout(steered)).toMatchObject({ status: 503 })
    expect(await steer('PUT', 'announcement', { level: 'warning', text: SAID })).toMatchObject({
      status: 202,
      body: { text: SAID, operator: 'admin', until: null },
    })
    expect(await steer('POST', 'resume', {})).toMatchObject({ status: 202, body: { phase: 'open' } })
    expect(await origin.checkout(steered)).toMatchObject({ status: 202 })
    for (const _press of ['first', 'second'])
      expect(await steer('POST', 'pause', { reason: AGAIN })).toMatchObject({ status: 202, body: { phase: 'paused' } })
    expect(await edgeOf(steered)).toMatchObject({
      body: { phase: 'paused', pause_reason: AGAIN, announcement: { level: 'warning', text: SAID } },
    })
    // An end is for good, and is the ledger's alone.
    expect(await steer('POST', 'end', {})).toMatchObject({ status: 503 })
  })

  test('without Redis too, since it is full or killed, nothing is taken, and the edge is told to try again', async () => {
    const neither = { status: 503, body: { type: '/problems/try-again' } }
    const slow = { status: 200, body: { health: 'slow' } }
    await redis.config('SET', 'maxmemory', '1')
    const answers = await Promise.all([MEANWHILE, sale].map((one) => origin.checkout(one)))
    expect(answers.map(({ status }) => status)).toEqual([503, 409])
    await edgeReads(neither)
    await redis.config('SET', 'maxmemory', '0')
    await edgeReads(slow)
    await gate.kill()
    await edgeReads(neither)
    await expect.poll(storesUp).toEqual([])
    await gate.start()
    await edgeReads(slow)
  })

  test('it comes back: everyone who was promised an order has it, and their key returns it', async () => {
    await ledger.start()
    for (const { token, key, answer } of promised) {
      const { order_id, order_token } = answer.body
      const ask = () => origin.call('GET', `/orders/${order_id}`, { token: order_token ?? '' })
      expect(await eventually(ask, ({ body }) => body.status === 'reserved')).toMatchObject({
        body: { status: 'reserved', sale },
      })
      const again = await origin.checkout(sale, { token, key })
      expect([again.body.order_id, again.headers.get('idempotency-replayed')]).toEqual([order_id, 'true'])
    }
    expect(await origin.stock(sale)).toMatchObject({ total: 16, available: 0, held: 16, sold: 0 })
    await expect.poll(() => redis.hlen(`{${sale}}:unrecorded`)).toBe(0)
    await edgeReads({ status: 200, body: { health: 'ok' } })
    // The orders that were accepted meanwhile count as reserved.
    await consoleReads({ health: { ledger: true, redis: true }, reserved: 17 })
  })

  test('what operators did meanwhile is in the ledger, once each and in the order of its time', async () => {
    await expect.poll(() => redis.llen('changes noted without the ledger')).toBe(0)
    const { entries } = (await origin.admin('GET', `/audit?sale=${steered}&operator=admin&limit=4`)).body as {
      entries: { action: string; operator: string; at: string; after: object | null }[]
    }
    expect(entries.toReversed().map(({ action, after }) => ({ action, after }))).toMatchObject([
      { action: 'paused', after: { paused: true, pause_reason: REASON } },
      { action: 'announced', after: { level: 'warning', text: SAID } },
      { action: 'resumed', after: { paused: false } },
      { action: 'paused', after: { paused: true, pause_reason: AGAIN } },
    ])
    const times = entries.map(({ at }) => Date.parse(at))
    expect(times).toEqual(times.toSorted((a, b) => b - a))
    const { posts } = (await origin.admin('GET', `/sales/${steered}/feed`)).body as { posts: { at: string }[] }
    expect(posts).toMatchObject([{ n: 1, urgent: true, shown: true, text: SAID, at: entries[2]?.at }])
    await eventuallyMatches(() => edgeOf(steered), {
      body: { phase: 'paused', pause_reason: AGAIN, announcement: { id: '1', text: SAID } },
    })
    const { entries: atOnce } = (await origin.admin('GET', `/audit?sale=${pausedAtOnce}&operator=admin&limit=1`)).body
    expect(atOnce).toMatchObject([{ action: 'paused', after: { pause_reason: REASON } }])
    // The ledger takes changes itself from now on.
    await eventuallyMatches(() => origin.admin('POST', `/sales/${steered}/resume`), { status: 200 })
    expect(await edgeOf(steered)).toMatchObject({ body: { phase: 'open', pause_reason: null } })
  })
})

describe('both answer, and refuse all writes', () => {
  const readOnly = async (isReadOnly: 'on' | 'off') => {
    await origin.sql().unsafe(`alter system set default_transaction_read_only = ${isReadOnly}`)
    await origin.sql()`select pg_reload_conf()`
  }
  const isOpen = async () => new RegExp(`^gate_open\\{sale="${refusing}"\\} (\\d)$`, 'm').exec(await metrics())?.[1]
  const edgeNow = () => edgeOf(refusing)
  let refusing = ''

  test('they count as away, and the edge pauses the queue; each serves again once it takes a write', async () => {
    refusing = await origin.sale({ total: 8, hold_seconds })
    await expect.poll(isOpen).toBe('1')
    await redis.config('SET', 'maxmemory', '1')
    await readOnly('on')
    await expect.poll(() => origin.checkout(refusing)).toMatchObject({ status: 503 })
    await expect.poll(storesUp).toEqual([])
    await expect.poll(() => origin.ops('/readyz')).toMatchObject({ status: 503, body: { ledger: false, gate: false } })
    await expect.poll(isOpen).toBe('0')
    await eventuallyMatches(edgeNow, { status: 503, body: { type: '/problems/try-again' } })
    await consoleReads({ health: { ledger: false, redis: false } }, refusing)
    expect(await redis.ping()).toBe('PONG')
    await redis.config('SET', 'maxmemory', '0')
    await expect.poll(storesUp).toEqual(['redis'])
    await eventuallyMatches(edgeNow, { status: 200, body: { health: 'slow' } })
    await readOnly('off')
    await expect.poll(storesUp).toEqual(['ledger', 'redis'])
    await expect.poll(isOpen).toBe('1')
    await eventuallyMatches(edgeNow, { status: 200, body: { health: 'ok' } })
    // A checkout may have been recorded before the ledger refused all writes.
    const { available } = await origin.stock(refusing)
    expect(sold(await buyers(refusing, 8))).toBe(available)
    expect(await origin.ops('/readyz')).toMatchObject({ status: 200, body: { ledger: true, gate: true } })
  })
})
