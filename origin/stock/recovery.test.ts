/** A gate that is wrong, or promised an order that nobody recorded: the ledger decides, and workers put it right. */
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventuallyMatches } from '../../test/lib/eventually.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { reservationOf } from '../../test/lib/samples.ts'

const origin = useOrigin()
let redis: Redis
beforeAll(() => {
  redis = new Redis(origin.redisUrl())
})
afterAll(() => redis.disconnect())

const gateBecomes = (sale: string, gate: object) => eventuallyMatches(() => redis.hgetall(`{${sale}}:stock`), gate)
const statusesOf = async (sale: string, buyers: number) => {
  const answers = await Promise.all(Array.from({ length: buyers }, () => origin.checkoutDecided(sale)))
  return answers.map(({ status }) => status).sort()
}

test('a gate that counts too many or too few units sells as many as there are, and is counted again', async () => {
  const [many, few] = [await origin.sale({ total: 3 }), await origin.sale({ total: 3 })]
  await redis.hset(`{${few}}:stock`, 'available one', 1)
  await redis.hset(`{${many}}:stock`, 'available one', 1_000)
  expect(await statusesOf(many, 8)).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
  await gateBecomes(many, { 'available one': '0', 'held one': '3' })
  await gateBecomes(few, { 'available one': '3' })
  expect(await statusesOf(few, 4)).toEqual([201, 201, 201, 409])
})

test('an order that was promised is recorded although the sale ended hours ago', async () => {
  const sale = await origin.sale()
  await origin.sql()`update sales set ended_at = now() - interval '12 hours' where sale_id = ${sale}`
  const { order } = reservationOf(sale)
  await redis.hset(`{${sale}}:unrecorded`, order, `${Date.now() - 10_000} 1 one key hash public 1 queue  someone`)
  await eventuallyMatches(
    () => origin.sql()`select status from orders where order_id = ${order}`,
    [{ status: 'reserved' }],
  )
  await expect.poll(() => redis.hlen(`{${sale}}:unrecorded`)).toBe(0)
})
