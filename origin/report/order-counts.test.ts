/**
 * The ledger counts what happened to orders by the minute. The counts are correct whichever process counts and
 * however often it is interrupted.
 */
import { expect, test } from 'vitest'
import { readToTheEnd } from '../../test/lib/origin-process.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { readEvents } from '../events/reader.ts'
import { advanceOrders, moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { TRANSITIONS } from '../ledger/transitions.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { addSeconds, deleteSeconds, readSeconds } from './by-second/seconds-queries.ts'
import { addFigures, addOrderCounts, minuteTotals, readMinutes } from './report-queries.ts'
import { countOrders } from './sale-counts.ts'

const sql = await useLedger(4)
const totals = async (sale: string) => (await minuteTotals(sql, sale)).counts
const count = (rounds: () => Promise<unknown> = () => countOrders(sql)) => readToTheEnd(sql, 'order counts', rounds)

async function reserve(sale: string, units: number): Promise<string[]> {
  const reservations = Array.from({ length: units }, (_, i) => {
    const own = `${sale}-${i}`
    return { ...reservationOf(sale), visitor: own, key: own }
  })
  await record(sql, sale, reservations, false)
  return reservations.map(({ order }) => order)
}

test('each change of an order counts once, with two counting at a time and one that died', async () => {
  await writeSale(sql, 'counted', saleOf(100))
  const [one = '', two = '', three = ''] = await reserve('counted', 5)
  await moveOrders(sql, [one, two], { from: ['reserved'], to: 'paying' })
  await advanceOrders(sql, [{ order: one, charge: 'ch_1' }], { from: ['paying'], to: 'confirmed' })
  await moveOrders(sql, [three], { from: ['reserved'], to: 'cancelled' })
  const dying = count(() =>
    readEvents(sql, 'order counts', async (tx, events) => {
      await addOrderCounts(tx, events)
      throw new Error('the worker died')
    }),
  )
  await expect(dying).rejects.toThrow('the worker died')
  for (const rounds of [() => Promise.all([countOrders(sql), countOrders(sql)]), undefined]) {
    await count(rounds)
    expect(await totals('counted')).toEqual({ reserved: 5, paying: 2, confirmed: 1, cancelled: 1, paid_minor: 1_000 })
  }
})

test('an order that is not paid counts why: each declined attempt, and what ended it', async () => {
  await writeSale(sql, 'unpaid', saleOf(100))
  const [one = '', two = ''] = await reserve('unpaid', 2)
  for (const [order, transition, codes] of [
    [one, TRANSITIONS.declineAttempt, 'insufficient_funds'],
    [one, TRANSITIONS.declineLast, 'expired_card'],
    [two, TRANSITIONS.abandon, undefined],
  ] as const) {
    await moveOrders(sql, [order], TRANSITIONS.beginPayment)
    await advanceOrders(sql, [{ order, ...(codes && { declineCode: codes }) }], transition)
  }
  await count()
  expect(await totals('unpaid')).toEqual({
    ...{ reserved: 2, paying: 3, declined: 2, cancelled: 2 },
    ...{ 'declined.insufficient_funds': 1, 'declined.expired_card': 1 },
    ...{ 'cancelled.declined': 1, 'cancelled.not_authenticated': 1 },
  })
})

test('a change counts in its own minute, whose gauges are those before it until others are known', async () => {
  await writeSale(sql, 'late', saleOf(100))
  const gauges = { available: 7, waiting: 30, most_waiting: 30, wait_seconds: 12 }
  await addFigures(sql, [{ sale: 'late', counts: { joined: 3 }, gauges }])
  await sql`update sale_minutes set minute = minute - interval '10 minutes' where sale_id = 'late'`
  const [one = '', two = ''] = await reserve('late', 2)
  await sql`update events set at = at - interval '5 minutes' where order_ids @> array[${one}::uuid]`
  await moveOrders(sql, [two], { from: ['reserved'], to: 'cancelled' })
  await count()
  const minutes = await readMinutes(sql, 'late', 10)
  expect(minutes.map(({ counts }) => counts)).toEqual([{ joined: 3 }, { reserved: 2 }, { cancelled: 1 }])
  expect(minutes.map((one) => one.gauges)).toEqual([gauges, ...Array(2).fill({ available: 7, waiting: 30 })])
})

test('the latest quarter of an hour is kept by the second, and that of the opening for good', async () => {
  const opens_at = new Date(Date.now() - 3_600_000)
  await writeSale(sql, 'seconds', saleOf(100))
  await sql`update sales set opens_at = ${opens_at} where sale_id = 'seconds'`
  const [one = ''] = await reserve('seconds', 2)
  await moveOrders(sql, [one], { from: ['reserved'], to: 'paying' })
  await advanceOrders(sql, [{ order: one, charge: 'ch_2' }], { from: ['paying'], to: 'confirmed' })
  await count()
  await addSeconds(sql, [{ sale: 'seconds', counts: { joined: 2 }, gauges: { waiting: 7, edge_at_ms: 1 } }])
  const read = async () => await readSeconds(sql, 'seconds', opens_at, new Date(Date.now() + 60_000))
  const sums: Record<string, number> = {}
  for (const { counts } of await read())
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value
  expect(sums).toEqual({ reserved: 2, confirmed: 1, paid_minor: 1_000, joined: 2 })
  expect((await read()).map(({ gauges }) => gauges)).toContainEqual({ waiting: 7 })

  await sql`delete from sale_seconds where sale_id = 'seconds'`
  for (const minutesAgo of [58, 30, 2])
    await sql`
      insert into sale_seconds
      select 'seconds', date_trunc('second', now()) - make_interval(mins => ${minutesAgo}), '{}',
        ${sql.json({ minutesAgo })}`
  await deleteSeconds(sql)
  expect((await read()).map(({ gauges }) => gauges.minutesAgo)).toEqual([58, 2])
})
