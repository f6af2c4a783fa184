/** The metrics of a running origin. */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { useOwnOrigin } from '../test/origin-process.ts'
import { useDatabase, useRedis } from '../test/servers.ts'

const database = useDatabase()
const redis = useRedis()
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: redis.url }))
const quiet = useRedis()
const withoutWorker = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: quiet.url }), { ROLE: 'api' })

/** The values of a metric by its labels, '' for none. */
async function counts(metric: string, at = origin): Promise<Record<string, number>> {
  const text = String((await at.ops('/metrics')).body.text)
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      return name === metric ? [[labels, Number(value)]] : []
    }),
  )
}
/** The values of one sale, without its name in the labels. */
async function countsOf(sale: string, metric: string): Promise<Record<string, number>> {
  const label = `sale="${sale}"`
  const own = Object.entries(await counts(metric)).filter(([labels]) => labels.startsWith(label))
  return Object.fromEntries(own.map(([labels, n]) => [labels.slice(label.length).replace(/^,/, ''), n]))
}

/** Polls a metric until it has the values. */
const becomes = (read: () => Promise<Record<string, number>>, values: Record<string, number>) =>
  expect.poll(read).toEqual(values)

test('counts a checkout once, by its outcome', async () => {
  const [sale, other] = [await origin.sale({ total: 1 }), await origin.sale()]
  const token = await origin.token(sale)
  const path = `/sales/${sale}/checkout`
  await origin.call('POST', path)
  await origin.checkout(sale, { token: await origin.token(other) })
  await origin.call('POST', path, { token })
  await origin.checkout(sale, { token, body: { quantity: 'many' } })
  await origin.checkout(sale, { token, body: { product_id: 'none' } })
  await origin.checkout(sale, { token, key: 'first' })
  await origin.checkout(sale, { token, key: 'other' })
  await origin.checkout(sale)
  const outcomes = [
    ...['not-admitted', 'wrong-sale', 'idempotency-key-required', 'invalid-fields', 'unknown-product'],
    ...['reserved', 'live', 'all-in-carts'],
  ]
  const expected = outcomes.map((outcome) => [`sale="${sale}",outcome="${outcome}"`, 1])
  expect(await counts('checkouts_total')).toEqual(Object.fromEntries(expected))
})

test('counts calls to invented sales under one name', async () => {
  const madeUp = Array.from({ length: 5 }, () => randomUUID())
  for (const sale of madeUp) await origin.checkout(sale, { token: 'none' })
  const counted = await counts('checkouts_total')
  expect(counted).toMatchObject({ 'sale="unknown",outcome="not-admitted"': 5 })
  expect(Object.keys(counted).filter((labels) => madeUp.some((sale) => labels.includes(sale)))).toEqual([])
})

test('counts checkouts without the ledger, and the intents that wait', async () => {
  const sale = await origin.sale()
  const withoutLedger = async () => (await counts('degraded_total'))['without="ledger"'] ?? 0
  const before = await withoutLedger()
  const waiting = () => countsOf(sale, 'intents_waiting')
  await origin.sql().begin(async (tx) => {
    await tx`select 1 from sales where sale_id = ${sale} for update`
    const answers = await Promise.all([origin.checkout(sale), origin.checkout(sale)])
    expect(answers.map((a) => a.status)).toEqual([202, 202])
    await becomes(waiting, { '': 2 })
    // None can be recorded, and one more comes.
    await origin.checkout(sale)
    await becomes(waiting, { '': 3 })
  })
  expect((await withoutLedger()) - before).toBe(3)
  await becomes(waiting, { '': 0 })
})

test('counts checkouts without the fast gate', async () => {
  const sale = await withoutWorker.sale()
  const client = new Redis(quiet.url)
  await client.hdel(`{${sale}}:stock`, 'run')
  client.disconnect()
  expect(await withoutWorker.checkout(sale)).toMatchObject({ status: 201 })
  expect(await counts('degraded_total', withoutWorker)).toEqual({ 'without="gate"': 1 })
})

test('shows the orders, stock, timings and health of a sale', async () => {
  const before = (await counts('record_batch_size_sum'))['']
  const sale = await origin.sale({ total: 5 })
  await origin.checkout(sale)
  await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  await origin.checkout(sale, { body: { payment_method: 'pm_declined' } })
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  await origin.call('DELETE', `/orders/${body.order_id}`, { token })

  await becomes(() => countsOf(sale, 'order_transitions_total'), {
    // One of them again, after its decline.
    'status="reserved"': 5,
    'status="paying"': 2,
    'status="confirmed"': 1,
    'status="cancelled",reason="given_back"': 1,
  })
  const payments = { 'outcome="authorized"': 1, 'outcome="declined"': 1 }
  await expect.poll(() => counts('payment_attempts_total')).toMatchObject(payments)
  await becomes(() => counts('capture_attempts_total'), { 'outcome="succeeded"': 1 })
  await becomes(() => countsOf(sale, 'stock_units'), {
    'product="one",state="available"': 2,
    'product="one",state="held"': 2,
    'product="one",state="sold"': 1,
  })
  const noDrift = { 'product="one",state="available"': 0, 'product="one",state="held"': 0 }
  await becomes(() => countsOf(sale, 'stock_drift_units'), noDrift)
  expect(await countsOf(sale, 'oversold_units')).toEqual({ 'product="one"': 0 })
  await becomes(() => countsOf(sale, 'gate_open'), { '': 1 })
  expect((await counts('record_batch_size_sum'))['']).toBe((before ?? 0) + 4)
  expect((await counts('record_batch_seconds_count'))['']).toBeGreaterThan(0)
  expect((await counts('checkout_seconds_count'))['']).toBeGreaterThanOrEqual(4)
  await becomes(() => counts('arrivals'), expect.objectContaining({ [`sale="${sale}"`]: 4 }))
  expect(await counts('hopeful')).toMatchObject({ [`sale="${sale}"`]: 0 })
  const node = `node="127.0.0.1:${redis.port}"`
  expect((await counts('redis_memory_used_bytes'))[node]).toBeGreaterThan(100_000)
})

test('counts an arrival per ticket number, not per call', async () => {
  const sale = await origin.sale()
  for (const num of [1, 1, 2]) await origin.checkout(sale, { token: await origin.token(sale, 'ann', { num }) })
  await origin.checkout(sale, { token: await origin.token(sale, 'bob', { num: 3 }) })
  await becomes(() => counts('arrivals'), expect.objectContaining({ [`sale="${sale}"`]: 3 }))
})
