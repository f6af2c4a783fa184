/** These tests cover which sales are kept in memory, and how a call for any other sale is served. */
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { Sales } from './sales.ts'

const origin = useOrigin()
let statements = 0
let sql: postgres.Sql
let sales: Sales
beforeAll(async () => {
  sql = postgres(origin.databaseUrl(), { onnotice: () => {}, debug: () => void statements++ })
  sales = new Sales(sql)
  await sales.start()
})
afterAll(async () => {
  await sales.stop()
  await sql.end({ timeout: 1 })
})

async function over(sale: string, hours: number): Promise<string> {
  await origin.sql()`
    update sales set ended_at = now() - ${hours} * interval '1 hour' where sale_id = ${sale}`
  await sales.refresh()
  return sale
}

test('keeps a sale for a day after its end, and for as long as it holds units', async () => {
  const open = await origin.sale()
  const [lately, long, holding] = [await origin.sale(), await origin.sale(), await origin.sale()]
  expect((await origin.checkoutDecided(holding)).status).toBe(201)
  await over(lately, 23)
  await over(long, 25)
  await over(holding, 25)
  const inUse = sales.inUse().map(({ sale_id }) => sale_id)
  expect(inUse).toEqual(expect.arrayContaining([open, lately, holding]))
  expect(inUse).not.toContain(long)
  expect(sales.get(long)).toBeUndefined()
})

test('a visitor of a sale long over hears that it ended and finds their order', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const { body: order } = await origin.checkout(sale, { token, body: { payment_method: 'pm_ok' } })
  await expect.poll(() => origin.stock(sale)).toMatchObject({ sold: 1 })
  await over(sale, 25)
  // The origin must have read that the sale is over.
  await expect.poll(() => origin.checkout(sale)).toMatchObject({ status: 410, body: { type: '/problems/ended' } })
  const found = await origin.call('GET', `/orders/${order.order_id}`, { token })
  expect(found).toMatchObject({ status: 200, body: { status: 'confirmed' } })
  expect(await origin.admin('GET', `/sales/${sale}`)).toMatchObject({ status: 200, body: { phase: 'ended' } })
  const reconciled = await origin.admin('POST', `/sales/${sale}/reconcile`)
  expect(reconciled).toMatchObject({ body: { findings: [{ product_id: 'one' }] } })
})

test('keeps a sale long over current once somebody asked for it', async () => {
  const sale = await over(await origin.sale(), 25)
  expect(await sales.find(sale)).toMatchObject({ sale_id: sale, in_use: false })
  expect(sales.inUse()).not.toContainEqual(expect.objectContaining({ sale_id: sale }))
  await origin.sql()`update sales set name = 'Another' where sale_id = ${sale}`
  await sales.refresh()
  expect(sales.get(sale)?.name).toBe('Another')
})

test('invented names cost no statement and delay nobody', async () => {
  const sale = await over(await origin.sale(), 25)
  let reads = 0
  onTestFinished(sales.onRead(() => reads++))
  const before = statements
  const made = Array.from({ length: 300 }, () => randomUUID() as string)
  expect(new Set(await Promise.all([...made, 'no\0name'].map((name) => sales.find(name))))).toEqual(
    new Set([undefined]),
  )
  expect(await sales.find(sale)).toBeDefined()
  // The statements are the regular reads and one lookup.
  expect(statements - before).toBeLessThanOrEqual(reads + 1)
  const many = await Promise.allSettled(Array.from({ length: 600 }, () => sales.find(randomUUID())))
  expect(many.filter(({ status }) => status === 'rejected')).toHaveLength(100)
  const kept = await origin.sale()
  await expect.poll(() => sales.get(kept)).toMatchObject({ sale_id: kept })
})
