/** Once a sale is sold out, newcomers are answered from memory, with the same answers as before. */
import { expect, test } from 'vitest'
import { startRedis } from '../../dev/servers/redis.ts'
import { type Answer, useOwnOrigin } from '../../test/origin-process.ts'
import { useDatabase, useReturning } from '../../test/servers.ts'

const database = useDatabase()
const gate = await useReturning(startRedis)
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: gate.url }))

const PAID = { payment_method: 'pm_ok' }
const SOLD_OUT = { status: 410, body: { type: '/problems/sold-out', status: 410 } }

/** Checkouts that the origin made without the fast gate. */
async function withoutGate(): Promise<number> {
  const text = String((await origin.ops('/metrics')).body.text)
  return Number(/^degraded_total\{without="gate"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

/** The gate hears of it a moment after the ledger. */
async function allSold(sale: string, units: number): Promise<void> {
  await expect.poll(() => origin.stock(sale)).toMatchObject({ sold: units, held: 0 })
  await expect.poll(() => origin.checkout(sale)).toMatchObject(SOLD_OUT)
}

/** Stops Redis, and checks out as a newcomer until the answer needs none. */
async function withoutRedis(sale: string): Promise<void> {
  await gate.kill()
  const asked = async () => {
    const before = await withoutGate()
    expect(await origin.checkout(sale)).toMatchObject(SOLD_OUT)
    return (await withoutGate()) - before
  }
  await expect.poll(asked).toBe(0)
  await gate.start()
}

test('answers newcomers without the stores, and visitors with an order as before', async () => {
  const sale = await origin.sale({ total: 2 })
  const buyer = await origin.token(sale, 'buyer')
  const other = await origin.token(sale, 'other')
  const gaveBack = await origin.token(sale, 'gave-back')
  const first = await origin.checkout(sale, { token: gaveBack, key: 'g' })
  await origin.call('DELETE', `/orders/${first.body.order_id}`, { token: gaveBack })
  await origin.checkout(sale, { token: buyer, key: 'b', body: PAID })
  await origin.checkout(sale, { token: other, key: 'o', body: PAID })
  await allSold(sale, 2)

  const newcomer = await origin.token(sale, 'newcomer')
  const calls = [
    { token: buyer, key: 'b', body: PAID },
    { token: buyer, key: 'b', body: { quantity: 1 } },
    { token: buyer, key: 'another', body: PAID },
    { token: gaveBack, key: 'g' },
    { token: gaveBack, key: 'another' },
    { token: newcomer, key: 'n', body: { quantity: 2 } },
    { token: newcomer, key: 'n', body: { product_id: 'two' } },
    { token: newcomer, key: 'n', body: '{' },
    { token: newcomer, key: '' },
    { token: await origin.token('another-sale'), key: 'n' },
    { token: 'none', key: 'n' },
    { token: newcomer, key: 'n' },
  ]
  const OTHER_KEY = 2
  const responses = async () => {
    const answers: Answer[] = []
    for (const call of calls) answers.push(await origin.checkout(sale, call))
    return answers.map(({ status, headers, body: { order_token, ...body } }, index) => ({
      status,
      body,
      // Only the gate knows the key that was answered with another key's order: a rebuild may forget it.
      replayed: index === OTHER_KEY ? null : headers.get('idempotency-replayed'),
    }))
  }
  const before = await responses()
  expect(before.map(({ status }) => status)).toEqual([201, 422, 200, 201, 410, 422, 404, 400, 400, 403, 429, 410])

  await withoutRedis(sale)
  const ready = () => origin.ops('/readyz')
  await expect.poll(ready).toMatchObject({ body: { gate: true } })
  expect(await responses()).toEqual(before)
})

test('sells a restock at once, and knows its buyers after it is sold out again', async () => {
  const sale = await origin.sale({ total: 1 })
  await origin.checkout(sale, { body: PAID })
  await allSold(sale, 1)
  expect(await origin.checkout(sale)).toMatchObject(SOLD_OUT)
  await withoutRedis(sale)

  const late = { token: await origin.token(sale, 'late'), key: 'l', body: PAID }
  const restocked = await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })
  expect(restocked).toMatchObject({ status: 200 })
  const { status, body } = await origin.checkout(sale, late)
  expect(status).toBe(201)
  await allSold(sale, 2)
  expect(await origin.checkout(sale)).toMatchObject(SOLD_OUT)
  await withoutRedis(sale)
  expect(await origin.checkout(sale, late)).toMatchObject({ status, body: { order_id: body.order_id } })
})

test('asks the gate while another product is available', async () => {
  const product = { name: 'One', unit_price_minor: 1000, currency: 'EUR', total: 1 }
  const products = ['one', 'two'].map((product_id) => ({ ...product, product_id }))
  const sale = await origin.sale({ products })
  await origin.checkout(sale, { body: PAID })
  await allSold(sale, 1)
  expect(await origin.checkout(sale)).toMatchObject(SOLD_OUT)
  const two = await origin.checkout(sale, { body: { product_id: 'two', ...PAID } })
  expect(two).toMatchObject({ status: 201 })
})
