/** What monitors ask: on a port of their own, cheap however often, and the metrics of a running origin. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { useOrigin } from '../test/lib/origin-process.ts'
import { createOpsApp, createStoppingApp } from './ops.ts'

const origin = useOrigin()

test('answers monitors on their own port, and buyers with nothing of it', async () => {
  await expect.poll(() => origin.ops('/readyz')).toMatchObject({ status: 200, body: { ledger: true, gate: true } })
  expect(String((await origin.ops('/metrics')).body.text)).toContain('process_cpu_seconds_total')
  expect(await origin.ops('/healthz')).toMatchObject({ status: 200 })
  for (const path of ['/metrics', '/readyz']) expect(await origin.call('GET', path)).toMatchObject({ status: 404 })
  expect(await origin.call('GET', '/healthz')).toMatchObject({ status: 200 })
})

test('pings the stores once a second, however often readiness is asked', async () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['performance'] })
  let pings = 0
  const ping = async () => pings++
  const app = createOpsApp({ stores: { ledger: ping, gate: ping }, registry: {} as never })
  for (const [laterMs, pinged] of [
    [0, 2],
    [999, 2],
    [1, 4],
  ] as const) {
    vi.advanceTimersByTime(laterMs)
    const answers = await Promise.all(Array.from({ length: 100 }, () => app.request('/readyz')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(pings).toBe(pinged)
  }
})

test('a process that stops is not ready, and answers all else as before', async () => {
  const stores = { ledger: async () => {}, gate: async () => {} }
  const app = createOpsApp({ stores, registry: {} as never })
  expect((await app.request('/readyz')).status).toBe(200)
  const stopping = createStoppingApp(app)
  expect((await stopping.request('/readyz')).status).toBe(503)
  expect((await stopping.request('/healthz')).status).toBe(200)
})

/** The values of a metric by its labels, '' for none. */
async function counts(metric: string): Promise<Record<string, number>> {
  const text = String((await origin.ops('/metrics')).body.text)
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
  const expected = outcomes.map((outcome) => [`outcome="${outcome}"`, 1])
  expect(await countsOf(sale, 'checkouts_total')).toEqual(Object.fromEntries(expected))
})

test('counts calls to invented sales under one name', async () => {
  const madeUp = Array.from({ length: 5 }, () => randomUUID())
  const unknown = async () => (await counts('checkouts_total'))['sale="unknown",outcome="not-admitted"'] ?? 0
  const before = await unknown()
  for (const sale of madeUp) await origin.checkout(sale, { token: 'none' })
  expect((await unknown()) - before).toBeGreaterThanOrEqual(5)
  const counted = await counts('checkouts_total')
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
    await expect.poll(waiting).toEqual({ '': 2 })
  })
  expect((await withoutLedger()) - before).toBeGreaterThanOrEqual(2)
  await expect.poll(waiting).toEqual({ '': 0 })
})

test('shows the orders, stock, timings and health of a sale', async () => {
  // The counts are lower bounds, because other test files make orders too.
  const atLeast = {
    'record_batch_size_sum ': 4,
    'checkout_seconds_count ': 4,
    'payment_attempts_total outcome="authorized"': 1,
    'payment_attempts_total outcome="declined"': 1,
    'capture_attempts_total outcome="succeeded"': 1,
  }
  const totals = () =>
    Promise.all(
      Object.keys(atLeast).map(async (name) => {
        const [metric = '', labels = ''] = name.split(' ')
        return (await counts(metric))[labels] ?? 0
      }),
    )
  const before = await totals()
  const sale = await origin.sale({ total: 5 })
  await origin.checkout(sale)
  await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  await origin.checkout(sale, { body: { payment_method: 'pm_declined' } })
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  await origin.call('DELETE', `/orders/${body.order_id}`, { token })

  await expect
    .poll(() => countsOf(sale, 'order_transitions_total'))
    .toEqual({
      // One of them again, after its decline.
      'status="reserved"': 5,
      'status="paying"': 2,
      'status="confirmed"': 1,
      'status="cancelled",reason="given_back"': 1,
    })
  const grown = async () => (await totals()).map((now, i) => now - (before[i] ?? 0))
  const wanted = Object.values(atLeast)
  await expect.poll(async () => (await grown()).every((by, i) => by >= (wanted[i] ?? 0))).toBe(true)
  await expect
    .poll(() => countsOf(sale, 'stock_units'))
    .toEqual({
      'product="one",state="available"': 2,
      'product="one",state="held"': 2,
      'product="one",state="sold"': 1,
    })
  const noDrift = { 'product="one",state="available"': 0, 'product="one",state="held"': 0 }
  await expect.poll(() => countsOf(sale, 'stock_drift_units')).toEqual(noDrift)
  expect(await countsOf(sale, 'oversold_units')).toEqual({ 'product="one"': 0 })
  await expect.poll(() => countsOf(sale, 'gate_open')).toEqual({ '': 1 })
  expect((await counts('record_batch_seconds_count'))['']).toBeGreaterThan(0)
  await expect.poll(() => counts('arrivals')).toEqual(expect.objectContaining({ [`sale="${sale}"`]: 4 }))
  expect(await counts('hopeful')).toMatchObject({ [`sale="${sale}"`]: 0 })
  const node = `node="${new URL(origin.redisUrl()).host}"`
  expect((await counts('redis_memory_used_bytes'))[node]).toBeGreaterThan(100_000)
})

test('counts an arrival per ticket number, not per call', async () => {
  const sale = await origin.sale()
  for (const num of [1, 1, 2]) await origin.checkout(sale, { token: await origin.token(sale, 'ann', { num }) })
  await origin.checkout(sale, { token: await origin.token(sale, 'bob', { num: 3 }) })
  await expect.poll(() => counts('arrivals')).toEqual(expect.objectContaining({ [`sale="${sale}"`]: 3 }))
})
