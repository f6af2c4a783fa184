/** Filters find the newest orders of a time, a status or with a problem, and counts say how many there are. */
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { readToTheEnd } from '../../test/lib/origin-process.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { note } from '../findings/finding-queries.ts'
import type { Cart } from '../ledger/cart.ts'
import { moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { searchRounds } from './indexer.ts'
import { countByStatus } from './order-filters.ts'
import { findOrderIds, type Search } from './order-search.ts'

const sql = await useLedger(3)
const round = searchRounds(sql, Number.POSITIVE_INFINITY)
const follow = () => readToTheEnd(sql, 'search', round)
const find = async (filters: Partial<Search>) => (await findOrderIds(sql, { text: '', limit: 50, ...filters })).ids

const DAY_MS = 86_400_000
const NOON_MS = Date.UTC(2026, 10, 20, 12)
/** An id as an order has it that is made at this time. */
const idAt = (ms: number) =>
  `${ms.toString(16).padStart(12, '0')}`.replace(/^(.{8})(.{4})$/, '$1-$2-7000-8000-') + randomUUID().slice(-12)

const product = (product_id: string) => ({
  ...{ product_id, name: product_id, unit_price_minor: 1_000, currency: 'EUR', total: 100, buffer: 0 },
})

async function order(sale: string, atMs: number, cart?: Cart): Promise<string> {
  const own = { order: idAt(atMs), visitor: randomUUID(), key: randomUUID() }
  await record(sql, sale, [{ ...reservationOf(sale), ...own, ...(cart && { cart, quantity: cart.length }) }], false)
  return own.order
}

let [first, second, third, other] = ['', '', '', '']
beforeAll(async () => {
  for (const sale of ['spring', 'autumn'])
    await writeSale(sql, sale, saleOf(100, { limit_per_visitor: 9, products: [product('one'), product('two')] }))
  const both: Cart = [
    { product: 'one', quantity: 1 },
    { product: 'two', quantity: 1 },
  ]
  first = await order('spring', NOON_MS)
  second = await order('spring', NOON_MS + DAY_MS, both)
  third = await order('spring', NOON_MS + 2 * DAY_MS)
  other = await order('autumn', NOON_MS + DAY_MS)
  await moveOrders(sql, [first], { from: ['reserved'], to: 'expired' })
  await moveOrders(sql, [third], { from: ['reserved'], to: 'cancelled' })
  await follow()
})

test('orders of a time are found, from its beginning on and before its end', async () => {
  expect(await find({ fromMs: NOON_MS + DAY_MS })).toEqual([third, ...[second, other].sort().reverse()])
  expect(await find({ sale: 'spring', toMs: NOON_MS + DAY_MS })).toEqual([first])
  expect(await find({ sale: 'spring', fromMs: NOON_MS, toMs: NOON_MS + 2 * DAY_MS })).toEqual([second, first])
  expect(await find({ text: 'two', fromMs: NOON_MS + 2 * DAY_MS })).toEqual([])
  const page = await findOrderIds(sql, { text: '', sale: 'spring', fromMs: NOON_MS, limit: 2 })
  expect(page.ids).toEqual([third, second])
  const next = await findOrderIds(sql, {
    ...{ text: '', sale: 'spring', fromMs: NOON_MS, limit: 2 },
    ...(page.next && { after: page.next }),
  })
  expect(next).toEqual({ ids: [first], next: null })
})

test('orders of several statuses are found together, of all sales and of one', async () => {
  expect(await find({ statuses: ['expired', 'cancelled'] })).toEqual([third, first])
  expect(await find({ sale: 'spring', statuses: ['reserved', 'cancelled'] })).toEqual([third, second])
})

test('orders are counted by status: of a sale, of a product in any line, and of a time', async () => {
  const counted = async (filters: Parameters<typeof countByStatus>[1]) => {
    const { counts } = await countByStatus(sql, filters)
    return Object.fromEntries(Object.entries(counts ?? {}).filter(([, orders]) => orders > 0))
  }
  expect(await counted({})).toEqual({ reserved: 2, expired: 1, cancelled: 1 })
  expect(await counted({ sale: 'spring' })).toEqual({ reserved: 1, expired: 1, cancelled: 1 })
  expect(await counted({ sale: 'spring', product: 'two' })).toEqual({ reserved: 1 })
  expect(await counted({ fromMs: NOON_MS + DAY_MS, toMs: NOON_MS + 2 * DAY_MS })).toEqual({ reserved: 2 })
})

test('an order has a problem while a mail to its buyer is given up, or an open finding names it', async () => {
  expect(await countByStatus(sql, {})).toMatchObject({ problems: 0 })
  const data = { order: second, event: '1-1', type: 'order.reserved', snapshot: null }
  await sql`insert into jobs (queue, lane, data, state) values ('mail', ${second}, ${sql.json(data)}, 'dead')`
  await note(sql, {
    ...{ sale: 'spring', product: '', kind: 'refund_failed', subject: 'r', units: 0 },
    detail: { order: first },
  })
  // A finding about a charge of somebody else's names no order.
  await note(sql, {
    ...{ sale: '', product: '', kind: 'unknown_charge', subject: 'c', units: 0 },
    detail: { order: '' },
  })
  expect(await find({ isProblem: true })).toEqual([second, first])
  expect(await find({ isProblem: true, statuses: ['expired'] })).toEqual([first])
  expect(await find({ isProblem: true, fromMs: NOON_MS + DAY_MS })).toEqual([second])
  expect(await find({ isProblem: true, sale: 'autumn' })).toEqual([])
  expect(await countByStatus(sql, { sale: 'spring' })).toMatchObject({ problems: 2 })
  await sql`update jobs set state = 'done' where lane = ${second}`
  await sql`update findings set closed_at = now()`
  expect(await find({ isProblem: true })).toEqual([])
})
