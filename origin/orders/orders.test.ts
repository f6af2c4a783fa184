import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reservationOf, saleOf } from '../../test/origin-process.ts'
import { useDatabase } from '../../test/servers.ts'
import { connect, prepare, type Sql } from '../ledger/connection.ts'
import { findOrder, moveOrders, type OrderRow } from '../ledger/orders.ts'
import { record } from '../ledger/record.ts'
import { writeSale } from '../ledger/sales.ts'
import { createMetrics } from '../lib/metrics.ts'
import type { ChargeOf } from '../payments/provider.ts'
import { Orders } from './orders.ts'

const database = useDatabase()
let sql: Sql
let orders: Orders
beforeAll(async () => {
  await prepare(database.url)
  sql = connect(database.url, 4)
  // What is handed over ends no hold and asks for no charge.
  const unasked = { gates: undefined as never, charges: undefined as never }
  orders = new Orders({ ...unasked, sql, metrics: createMetrics(), log: pino({ level: 'silent' }) })
})
afterAll(() => sql.end({ timeout: 1 }))

async function order(status: OrderRow['status'], quantity = 1) {
  const sale = `sale-${randomUUID().slice(0, 8)}`
  await writeSale(sql, sale, saleOf(5, { limit_per_visitor: 5 }))
  const asked = { ...reservationOf(sale), quantity }
  const id = asked.order
  await record(sql, sale, [asked], false)
  if (status !== 'reserved') await moveOrders(sql, [id], { from: ['reserved'], to: status })
  return { sale, id }
}
const events = (id: string) =>
  sql<{ status: string }[]>`select status from order_events where order_id = ${id} order by seq`

test('for orders that are confirmed, and no others, the money is asked for, and none is confirmed without', async () => {
  const [waiting, over] = [await order('paying'), await order('cancelled')]
  let asked: readonly ChargeOf[] = []
  const charges = {
    addCharges: async () => {},
    addCaptures: async (_: unknown, captures: readonly ChargeOf[]) => {
      asked = captures
      throw new Error('the queue is away')
    },
  }
  const log = pino({ level: 'silent' })
  const confirming = new Orders({ gates: undefined as never, charges, sql, metrics: createMetrics(), log })
  const paid = [waiting, over].map(({ id }) => ({ order: id, charge: `charge of ${id}` }))
  await expect(confirming.confirm(paid)).rejects.toThrow('the queue is away')
  expect(asked).toEqual([{ order: waiting.id, charge: `charge of ${waiting.id}` }])
  expect(await findOrder(sql, waiting.id)).toMatchObject({ status: 'paying', charge_id: null })
})

test('an order is fulfilled once, and whoever says so again is told the same', async () => {
  const { sale, id } = await order('confirmed')
  const answers = await Promise.all([orders.fulfil(id), orders.fulfil(id)])
  answers.push(await orders.fulfil(id))
  expect(answers).toMatchObject(Array(3).fill({ order_id: id, sale_id: sale, status: 'fulfilled' }))
  expect((await events(id)).map((e) => e.status)).toEqual(['confirmed', 'fulfilled'])
  expect(await sql`select held, sold from products where sale_id = ${sale}`).toEqual([{ held: 0, sold: 1 }])
})

test.each(['reserved', 'paying', 'expired', 'cancelled'] as const)(
  'one that is %s is not',
  async (status) => {
    const { id } = await order(status)
    expect(await orders.fulfil(id)).toBeUndefined()
    expect(await findOrder(sql, id)).toMatchObject({ status })
  },
)

test('nor is one that there is not', async () => {
  expect(await orders.fulfil(randomUUID())).toBeUndefined()
})

test('a hold does not end while its charge is under way, though a sweeper found it due before that began', async () => {
  const { id } = await order('paying')
  expect(await orders.expire([id])).toEqual([])
  expect(await findOrder(sql, id)).toMatchObject({ status: 'paying' })
})

test('an order of several units holds and sells as many', async () => {
  const { sale, id } = await order('reserved', 3)
  for (const [from, to, counts] of [
    ['reserved', 'paying', { held: 3, sold: 0 }],
    ['paying', 'confirmed', { held: 0, sold: 3 }],
    ['confirmed', 'cancelled', { held: 0, sold: 0 }],
  ] as const) {
    await moveOrders(sql, [id], { from: [from], to })
    expect(await sql`select held, sold from products where sale_id = ${sale}`, to).toEqual([counts])
  }
})
