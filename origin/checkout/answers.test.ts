/**
 * Answers of several processes about one intent, by events in an order that is given: what one has promised, or may
 * be recording, another does not refuse. Real stores.
 */

import { beforeAll, describe, test, vi } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import {
  IN_DOUBT,
  type LoneCheckout,
  NO_LEDGER,
  NO_REDIS,
  orderOf,
  promise,
  said,
  useLoneCheckouts,
} from '../../test/lib/lone-checkout.ts'
import { saleOf } from '../../test/lib/samples.ts'
import { untilLocked } from '../../test/lib/servers.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder, moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { writeSale } from '../sales/sale-queries.ts'
import type { CheckoutReservation } from '../seats/cart-choice.ts'
import { holdEnd } from '../stock/gate/hold-ends.ts'
import type { Outcome } from './outcome.ts'

const { database, stores, alone, whileLocked, failingProxy } = useLoneCheckouts()
let sql: Sql
beforeAll(() => {
  ;({ sql } = stores())
})

/** This is another process of the sale. It regards the ledger as unresponsive and does not wait for it. */
async function without(ledger: LoneCheckout) {
  const other = await alone({ of: ledger.sale })
  vi.spyOn(other.sales, 'isLedgerUnresponsive').mockReturnValue(true)
  return other
}
const statusOf = async (order: string) => (await findOrder(sql, order))?.status
const reservationsOf = async ({ its }: LoneCheckout) => {
  const taken = await its.intents.take(await its.intents.read(10))
  return taken.flatMap(({ reservation }) => reservation ?? []) as CheckoutReservation[]
}

test('says the order that a ledger records which is just back, though its connection broke', async ({ expect }) => {
  const proxy = await failingProxy(database.url)
  const one = await alone({ gate: NO_REDIS, ledger: proxy.url })
  vi.spyOn(one.sales, 'isLedgerUnresponsive').mockReturnValue(true)
  const { asked } = await whileLocked(one.sale, async () => {
    const asked = one.buy('ann')
    await untilLocked(sql)
    proxy.cut()
    return { asked }
  })
  const answer = await asked
  expect(['recorded', 'processing']).toContain(said(answer))
  const orders = () => sql`select order_id from orders where sale_id = ${one.sale}`
  expect(await eventually(orders, (found) => found.length > 0)).toMatchObject([{ order_id: orderOf(answer) }])
})

test('finds the order of a buyer who was refused before, and then bought the unit that came back elsewhere', async ({
  expect,
}) => {
  const one = await alone({ total: 1 })
  const other = await alone({ of: one.sale, gate: NO_REDIS })
  const buy = async (visitor: string) => {
    await one.sales.refresh()
    return one.ask({ quantity: 1 }, { visitor, at: one.sales.get(one.sale) ?? one.row })
  }
  const sold = async (outcome: Outcome) => {
    const [order] = await moveOrders(sql, [orderOf(outcome)], { from: ['reserved'], to: 'confirmed' })
    if (order) await one.its.settle([holdEnd(order)])
  }
  const first = await buy('first')
  await sold(first)
  const asked = vi.spyOn(one.its, 'reserve')
  // After the visitor's name is cached, a checkout asks no store.
  const isAsked = async () => {
    asked.mockClear()
    expect(said(await buy('ann'))).toBe('/problems/sold-out')
    return asked.mock.calls.length > 0
  }
  await expect.poll(isAsked).toBe(false)
  await moveOrders(sql, [orderOf(first)], { from: ['confirmed'], to: 'cancelled' })
  const bought = await other.buy('ann')
  await sold(bought)
  expect(await buy('ann')).toMatchObject({ kind: 'recorded', replayed: true, order: { order_id: orderOf(bought) } })
})

describe.concurrent('a key whose order has ended, and which comes again while the ledger is away,', () => {
  const soldOnce = async () => {
    const one = await alone({ total: 1 })
    const first = await one.buy('ann')
    const [order] = await moveOrders(sql, [orderOf(first)], { from: ['reserved'], to: 'cancelled' })
    if (order) await one.its.settle([holdEnd(order)])
    return one
  }

  test('is not refused by a gate that was rebuilt, which refuses others', async ({ expect }) => {
    const one = await soldOnce()
    const other = await without(one)
    await one.rebuild()
    expect(said(await one.buy('bob'))).toBe('recorded')
    expect(said(await other.buy('ann'))).toBe('/problems/try-again')
    expect(said(await other.buy('cid'))).toBe('/problems/all-in-carts')
  })

  test('is not refused because the sale has ended, nor by a gate that is out of use', async ({ expect }) => {
    const one = await soldOnce()
    const other = await without(one)
    const at = { ...one.row, ended_at: new Date(0) }
    const ask = async (visitor: string) => said(await other.ask({ quantity: 1 }, { visitor, at }))
    expect([await ask('ann'), await ask('cid')]).toEqual(['/problems/try-again', '/problems/ended'])
    await one.its.remove()
    expect([await ask('ann'), await ask('cid')]).toEqual(['/problems/try-again', '/problems/try-again'])
  })
})

describe.concurrent('an answer about an intent', () => {
  test('is the order that the ledger took alone for another call with the key', async ({ expect }) => {
    const one = await alone({ total: 2, limit: 2 })
    const [noLedger, noGate] = [
      await alone({ of: one.sale, ledger: NO_LEDGER }),
      await alone({ of: one.sale, gate: NO_REDIS }),
    ]
    expect(said(await noLedger.buy('ann'))).toBe('processing')
    const recorded = await noGate.buy('ann')
    expect(await one.buy('ann')).toMatchObject({
      kind: 'recorded',
      replayed: true,
      order: { order_id: orderOf(recorded) },
    })
  })

  test('is the promise of another process, where the ledger refuses the order', async ({ expect }) => {
    const one = await alone({ total: 1 })
    const other = await without(one)
    const { asked, promised } = await whileLocked(one.sale, async (tx) => {
      const asked = one.buy('ann')
      await expect.poll(() => one.its.intents.count()).toBe(1)
      const promised = await other.buy('ann')
      await tx`update products set total = 0 where sale_id = ${one.sale}`
      return { asked, promised }
    })
    expect([said(promised), said(await asked)]).toEqual(['processing', 'processing'])
    await one.recordAll()
    expect(await statusOf(orderOf(promised))).toBe('cancelled')
  })

  test('is the promise of a double click, where the seat that was chosen is blocked', async ({ expect }) => {
    const one = await alone({ limit: 2, hall: true })
    const other = await without(one)
    const best = [{ section_id: 'stalls', quantity: 1 }]
    const { asked, promised } = await whileLocked(one.sale, async (tx) => {
      const asked = one.ask({ lines: best }, { visitor: 'ann' })
      await expect.poll(() => one.its.intents.count()).toBe(1)
      const promised = await other.ask({ lines: best }, { visitor: 'ann' })
      const [seat] = ('reservation' in promised && promised.reservation.cart?.[0]?.seats) || []
      await tx`insert into seat_claims (sale_id, seat_index, reason) values (${one.sale}, ${seat ?? -1}, 'broken')`
      return { asked, promised }
    })
    expect([said(promised), said(await asked)]).toEqual(['processing', 'processing'])
    await one.recordAll()
    expect(await statusOf(orderOf(promised))).toBe('cancelled')
  })

  test('is the promise of another process, where its own check of safety fails', async ({ expect }) => {
    const one = await alone({ ledger: NO_LEDGER })
    const other = await alone({ of: one.sale, ledger: NO_LEDGER })
    vi.spyOn(one.its.intents, 'promise').mockImplementationOnce(async () => {
      expect(said(await other.buy('ann'))).toBe('processing')
      return false
    })
    expect(said(await one.buy('ann'))).toBe('processing')
    expect(await one.its.intents.count()).toBe(1)
  })

  test.for(['taken', 'recorded'])('is in doubt once a worker or a rebuild has it %s', async (how, { expect }) => {
    const one = await alone({ ledger: NO_LEDGER })
    const worker = await alone({ of: one.sale })
    vi.spyOn(one.its.intents, 'promise').mockImplementationOnce(async () => {
      await (how === 'taken' ? reservationsOf(worker) : worker.recordAll())
      return false
    })
    expect(promise(await one.buy('ann'))).toEqual(IN_DOUBT)
    await worker.recordAll()
    await worker.sales.refresh()
    expect(said(await worker.buy('ann'))).toBe('recorded')
  })

  test('is a refusal that the ledger has noted, where a rebuild has taken it', async ({ expect }) => {
    const one = await alone({ total: 1 })
    const { asked, taken } = await whileLocked(one.sale, async (tx) => {
      const asked = one.buy('ann')
      await expect.poll(() => one.its.intents.count()).toBe(1)
      const taken = await reservationsOf(one)
      await tx`update products set total = 0 where sale_id = ${one.sale}`
      return { asked, taken }
    })
    expect(said(await asked)).toBe('/problems/sold-out')
    await sql`update products set total = 1 where sale_id = ${one.sale}`
    expect(await record(sql, one.sale, taken, true)).toMatchObject([{ verdict: 'no_stock' }])
  })

  test('is a promise that ends as a cancelled order, where the product is removed meanwhile', async ({ expect }) => {
    const one = await alone({ limit: 2, ledger: NO_LEDGER })
    const worker = await alone({ of: one.sale })
    const lines = [{ product_id: 'one', quantity: 1 }]
    const promised = [await one.buy('ann'), await one.ask({ lines }, { visitor: 'bob' })]
    expect(promised.map(said)).toEqual(['processing', 'processing'])
    const [product] = saleOf(5).products
    await writeSale(sql, one.sale, saleOf(5, { products: product ? [{ ...product, product_id: 'two' }] : [] }))
    await worker.recordAll()
    const found = await Promise.all(
      promised.map((outcome) => worker.checkout.existing.byId(one.sale, orderOf(outcome))),
    )
    const noted = { status: 'cancelled', reason: 'no_stock', product_id: 'one', currency: 'EUR' }
    expect(found).toMatchObject([noted, noted])
  })

  test('is the order of a worker that reaches the ledger, where the process does not', async ({ expect }) => {
    const proxy = await failingProxy(database.url)
    const one = await alone({ total: 5, ledger: proxy.url })
    const worker = await alone({ of: one.sale })
    expect(said(await one.buy('first'))).toBe('recorded')
    proxy.lose('all')
    const asked = one.buy('ann')
    await expect.poll(() => one.its.intents.count()).toBe(1)
    // Before the process answers late.
    await worker.recordAll()
    expect(await one.its.intents.count()).toBe(0)
    const promised = await asked
    expect(said(promised)).toBe('processing')
    expect(await statusOf(orderOf(promised))).toBe('reserved')
    // The key, to a process that has heard of it from Redis alone.
    const other = await alone({ of: one.sale, ledger: NO_LEDGER })
    expect(await other.buy('ann')).toMatchObject({ kind: 'processing', reservation: { order: orderOf(promised) } })
  })
})
