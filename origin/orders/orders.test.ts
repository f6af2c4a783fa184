import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { findOrder, moveOrders, type OrderRow } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Orders } from './orders.ts'

const sql = await useLedger(4)
const published: (readonly string[])[] = []
const deps = {
  sql,
  gates: undefined as never,
  changes: { publish: (ids: readonly string[]) => void published.push(ids.toSorted()) },
  metrics: createMetrics(),
  log: pino({ level: 'silent' }),
}
const orders = new Orders({ ...deps, actionSeconds: 300, charges: undefined as never })

async function order(status: OrderRow['status'], quantity = 1) {
  const sale = `sale-${randomUUID().slice(0, 8)}`
  await writeSale(sql, sale, saleOf(5, { limit_per_visitor: 5 }))
  const reservation = { ...reservationOf(sale), quantity }
  const id = reservation.order
  await record(sql, sale, [reservation], false)
  if (status !== 'reserved') await moveOrders(sql, [id], { from: ['reserved'], to: status })
  return { sale, id }
}
const events = (id: string) => sql<{ status: string }[]>`select status from events where order_id = ${id} order by seq`

test('confirms an order together with its capture, and queues no capture for any other', async () => {
  const [paying, cancelled] = [await order('paying'), await order('cancelled')]
  const paid = [paying, cancelled].map(({ id }) => ({ order: id, charge: `charge of ${id}` }))
  await sql`alter table captures add constraint away check (false) not valid`
  await expect(orders.confirm(paid)).rejects.toThrow('away')
  expect(await findOrder(sql, paying.id)).toMatchObject({ status: 'paying', charge_id: null })
  await sql`alter table captures drop constraint away`
  const settled: unknown[] = []
  const gates = { of: () => ({ settle: async (ends: unknown[]) => settled.push(...ends) }) } as never
  const confirming = new Orders({ ...deps, gates, actionSeconds: 300, charges: undefined as never })
  expect(await confirming.confirm(paid)).toMatchObject([{ order_id: paying.id, status: 'confirmed' }])
  expect(settled).toMatchObject([{ order: paying.id, how: 'sell' }])
  expect(await sql`select charge_id as charge, order_id as order from captures`).toEqual([paid[0]])
  expect(await sql`select queue, data from jobs`).toEqual([{ queue: 'capture', data: paid[0] }])
})

test('begins concurrent payments in one transaction with their charges, and publishes them at once', async () => {
  const { sale, id } = await order('reserved')
  const others = Array.from({ length: 3 }, () => ({ ...reservationOf(sale), key: randomUUID() }))
  await record(sql, sale, others, false)
  const ids = [id, ...others.map(({ order }) => order)].sort()
  published.length = 0
  const begun = await Promise.all(ids.map((id) => orders.pay(sale, id, 'pm_ok')))
  expect(begun).toMatchObject(ids.map((order_id) => ({ order_id, status: 'paying' })))
  expect(await sql`select distinct xid from events where order_id = any(${ids}::uuid[])`).toHaveLength(1)
  const queued = await sql`select data ->> 'order' as order from jobs where queue = 'charge'`
  expect(queued.map((job) => job.order).sort()).toEqual(ids)
  expect(published).toEqual([ids])
})

test('fulfils a confirmed order once, and repeats the response', async () => {
  const { sale, id } = await order('confirmed')
  const answers = await Promise.all([orders.fulfil(id, 'admin'), orders.fulfil(id, 'admin')])
  answers.push(await orders.fulfil(id, 'admin'))
  expect(answers).toMatchObject(Array(3).fill({ order_id: id, sale_id: sale, status: 'fulfilled' }))
  expect((await events(id)).map((e) => e.status)).toEqual(['confirmed', 'fulfilled'])
  expect(await sql`select held, sold from products where sale_id = ${sale}`).toEqual([{ held: 0, sold: 1 }])
})

test('does not fulfil an order that is not paid or unknown', async () => {
  for (const status of ['reserved', 'paying', 'expired', 'cancelled'] as const) {
    const { id } = await order(status)
    expect(await orders.fulfil(id, 'admin')).toBeUndefined()
    // Nor does an order expire whose charge is in progress.
    if (status === 'paying') expect(await orders.expire([id])).toEqual([])
    expect(await findOrder(sql, id)).toMatchObject({ status })
  }
  expect(await orders.fulfil(randomUUID(), 'admin')).toBeUndefined()
})

test('holds and sells all units of an order', async () => {
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
