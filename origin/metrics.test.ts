import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { useOrigin } from '../test/origin.ts'
import { useDatabase, useRedis } from '../test/servers.ts'

const database = useDatabase()
const redis = useRedis()
const origin = useOrigin(() => ({ databaseUrl: database.url, redisUrl: redis.url }))

/** The counts of a metric by its labels. */
async function counts(metric: string): Promise<Record<string, number>> {
  const text = String((await origin.call('GET', '/metrics')).body.text)
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, name, labels = '', value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? []
      return name === metric ? [[labels, Number(value)]] : []
    }),
  )
}

test('a checkout is counted once, by how it was answered', async () => {
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
  const counted = await counts('checkouts_total')
  for (const outcome of [
    'not-admitted',
    'wrong-sale',
    'idempotency-key-required',
    'invalid-fields',
    'unknown-product',
    'reserved',
    'live',
    'all-in-carts',
  ]) {
    expect(counted).toMatchObject({ [`sale="${sale}",outcome="${outcome}"`]: 1 })
  }
  expect(Object.keys(counted)).toHaveLength(8)
})

test('sales that somebody made up are counted under one name', async () => {
  const madeUp = Array.from({ length: 5 }, () => randomUUID())
  for (const sale of madeUp) await origin.checkout(sale, { token: 'none' })
  const counted = await counts('checkouts_total')
  expect(counted).toMatchObject({ 'sale="unknown",outcome="not-admitted"': 5 })
  expect(Object.keys(counted).filter((labels) => madeUp.some((sale) => labels.includes(sale)))).toEqual([])
})

test('a checkout that goes on without the ledger is counted as that', async () => {
  const sale = await origin.sale()
  await origin.sql().begin(async (tx) => {
    await tx`select 1 from sales where sale_id = ${sale} for update`
    const answers = await Promise.all([origin.checkout(sale), origin.checkout(sale)])
    expect(answers.map((a) => a.status)).toEqual([202, 202])
  })
  expect(await counts('degraded_total')).toEqual({ 'without="ledger"': 2 })
})
