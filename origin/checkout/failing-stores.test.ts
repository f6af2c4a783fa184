/** A checkout on failing stores, without workers: what it promises, refuses, and goes on recording. */

import { createHash, randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { LOOPBACK, type Server } from '../../dev/lib/processes.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import { NO_DELIVERY } from '../../shared/api/goods.ts'
import type { CheckoutLine } from '../../shared/api/public.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { PLACES } from '../../test/lib/hall.ts'
import {
  IN_DOUBT,
  type LoneCheckout,
  NO_LEDGER,
  NO_REDIS,
  orderOf,
  promise,
  said,
  UNTAKEN,
  useLoneCheckouts,
} from '../../test/lib/lone-checkout.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { untilLocked } from '../../test/lib/servers.ts'
import type { Sql } from '../ledger/connection.ts'
import { moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Sales } from '../sales/sales.ts'
import type { CheckoutReservation } from '../seats/cart-choice.ts'
import { Gate } from '../stock/gate/gate.ts'
import type { Store } from '../stock/scripts.ts'
import type { Outcome } from './outcome.ts'

const { server, database, stores, alone, whileLocked, failingProxy } = useLoneCheckouts()
let sql: Sql
let redis: Store
beforeAll(() => {
  ;({ sql, redis } = stores())
})

test('gives a key that repeats in one batch the same response, and promises no order that is refused', async () => {
  const { sale, buy } = await alone({ total: 1, gate: NO_REDIS })
  expect(said(await buy())).toBe('recorded')
  const { all } = await whileLocked(sale, async () => {
    // While the first waits for the row, the others join one batch.
    const all = [buy(), ...['same', 'same', 'other'].map((key) => buy('ann', key))]
    await untilLocked(sql)
    return { all }
  })
  expect((await Promise.all(all)).map(said)).toEqual(Array(4).fill('/problems/all-in-carts'))
})

test('finds an order that is recorded during the look-up', async () => {
  const { sale, checkout, its, store } = await alone()
  const reservation = reservationOf(sale)
  await its.reserve(reservation, { holdMs: 60_000, limit: 1, demand: [] })
  const [waiting] = await its.intents.read(1)
  // Redis executes what comes on this connection only after the pause.
  await redis.client('PAUSE', 60_000, 'WRITE')
  const acknowledged = store.hdel(`{${sale}}:unrecorded`, waiting?.order ?? '')
  const found = checkout.existing.byId(sale, reservation.order)
  await record(sql, sale, [reservation], false)
  await redis.client('UNPAUSE')
  await acknowledged
  expect(await found).toMatchObject({ order_id: reservation.order, status: 'reserved' })
})

test('stores the contact of an order that the ledger records alone, and of no refused one', async () => {
  const { sale, ask } = await alone({ total: 1, gate: NO_REDIS })
  const contact = { email: 'ada@example.com', address: null, language: 'en' }
  const outcomes = await Promise.all([ask({}, { contact }), ask({}, { contact })])
  expect(outcomes.map(said).sort()).toEqual(['/problems/all-in-carts', 'recorded'])
  expect(await sql`select email, address, language from contacts where sale_id = ${sale}`).toEqual([contact])
})

test('sells carts by the ledger alone while Redis is away: named seats, and the best that are left', async () => {
  const { sale, buyLines } = await alone({ limit: 9, hall: true, gate: NO_REDIS })
  const seats = (...named: string[]): CheckoutLine => ({ section_id: 'stalls', seats: named })
  const first = await buyLines([
    { product_id: 'one', quantity: 2 },
    { section_id: 'floor', quantity: 1 },
    seats('S0', 'S2'),
  ])
  expect(said(first)).toBe('recorded')
  const taken = await buyLines([{ product_id: 'one', quantity: 1 }, seats('S2', 'S3')])
  // What is free nearby, Redis alone tells in time.
  expect(taken).toMatchObject({ problem: { type: '/problems/seat-taken', seats: ['S2'], offer: [] } })
  expect(said(await buyLines([{ section_id: 'floor', quantity: PLACES }]))).toBe('/problems/all-in-carts')
  // At once, so that several are chosen for in one batch.
  const best = await Promise.all(
    Array.from({ length: 3 }, () => buyLines([{ section_id: 'stalls', quantity: 2, together: true }])),
  )
  expect(best.map(said)).toEqual(Array(3).fill('recorded'))
  const claims = await sql<{ seats: number; orders: number }[]>`
    select count(*)::int as seats, count(distinct order_id)::int as orders from seat_claims where sale_id = ${sale}`
  expect(claims).toEqual([{ seats: 8, orders: 4 }])
  const counts = await sql`select held from products where sale_id = ${sale} order by place`
  expect(counts).toEqual([{ held: 2 }, { held: 1 }, { held: 8 }])
})

test('sells the seats that the ledger chooses at their price, and computes again what has changed', async () => {
  const { sale, row, ask } = await alone({ limit: 9, hall: true, gate: NO_REDIS })
  const fees = (percent: number) => [{ name: 'Service', percent, per: 'unit' as const, included: false }]
  await sql`
    update sales set fees = ${sql.json(fees(20))}, terms_version = terms_version + 1 where sale_id = ${sale}`
  const buy = (asked: { total_minor?: number } = {}) =>
    ask({ lines: [{ section_id: 'stalls', quantity: 1 }], ...asked }, { at: { ...row, fees: fees(10) } })
  const refused = await buy({ total_minor: 1 })
  const total_minor = Number(refused.kind === 'problem' && refused.problem.total_minor)
  expect(refused).toMatchObject({ problem: { type: '/problems/price-changed', fees: [{ name: 'Service' }] } })
  expect(await sql`select order_id from orders where sale_id = ${sale}`).toEqual([])
  const bought = await buy({ total_minor })
  const order = bought.kind === 'recorded' ? bought.order : undefined
  const price = order?.unit_price_minor ?? 0
  const bill = [{ kind: 'fee', amount_minor: Math.round(price / 5) }]
  expect(order).toMatchObject({ bill, cart: [{ seat: expect.any(Number) }] })
  expect(total_minor).toBe(price + Math.round(price / 5))
  expect(await buy()).toMatchObject({ kind: 'recorded', order: { bill: [{ kind: 'fee' }] } })
})

test('takes no shipping price of a weight that a product had before', async () => {
  const { sale, ask } = await alone({ gate: NO_REDIS })
  const prices = [{ up_to_grams: 500, amount_minor: 490 }, { amount_minor: 990 }]
  const [one] = saleOf(5).products
  const weighing = async (weight_grams: number) => {
    const products = one ? [{ ...one, weight_grams }] : []
    await writeSale(sql, sale, saleOf(5, { products, delivery: { ...NO_DELIVERY, kind: 'address', prices } }))
    const sales = new Sales(sql)
    await sales.refresh()
    return sales.get(sale) as SaleRow
  }
  const at = await weighing(500)
  const { terms_version } = await weighing(501)
  expect((await weighing(501)).terms_version).toBe(terms_version)
  const buy = (total_minor: number) => ask({ product_id: 'one', delivery: { country: 'DE' }, total_minor }, { at })
  const changed = { type: '/problems/price-changed', shipping_minor: 990, total_minor: 1_990 }
  expect(await buy(1_490)).toMatchObject({ problem: changed })
  const bill = [{ kind: 'shipping', amount_minor: 990 }]
  expect(await buy(1_990)).toMatchObject({ kind: 'recorded', order: { bill } })
})

test('looks up the orders of many callers in one statement', async () => {
  const { sale, checkout } = await alone({ total: 50 })
  const reservations = Array.from({ length: 50 }, () => ({ ...reservationOf(sale), visitor: randomUUID() }))
  await record(sql, sale, reservations, false)
  const { found, statements } = await sql.begin(async (tx) => {
    await tx`lock table orders in access exclusive mode`
    const found = Promise.all(reservations.map(({ order }) => checkout.existing.byId(sale, order)))
    await untilLocked(sql)
    const statements = await sql`
      select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%order_id = any%'`
    return { found, statements }
  })
  expect(statements).toHaveLength(1)
  expect(await found).toMatchObject(reservations.map(({ order }) => ({ order_id: order })))
})

test('returns sold-out without waiting for a ledger that is away', async () => {
  const { buy } = await alone({ total: 0, ledger: NO_LEDGER })
  // No time passes, so a call that waits would hang.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  for (let i = 0; i < 20; i++) expect(said(await buy())).toBe('/problems/sold-out')
})

// The tests run concurrently because most of them wait for the two seconds within which a buyer gets an answer.
describe.concurrent('a checkout', () => {
  describe('where Redis has a replica', () => {
    let master: Server
    let replica: Server
    beforeAll(async () => {
      master = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] })
      replica = await startRedis({ args: ['--replicaof', LOOPBACK, String(master.port)] })
      await online()
    })
    afterAll(() => Promise.all([master.stop(), replica.stop()]))

    const online = async () => {
      const client = new Redis(master.url)
      await eventually(
        () => client.info('replication'),
        (info) => info.includes('state=online'),
      )
      client.disconnect()
    }
    /** The answers to a visitor and a repeated call while the ledger does not commit. */
    const whileSilent = ({ sale, buy }: LoneCheckout) =>
      whileLocked(sale, async () => [await buy('ann'), await buy('ann')])
    const isOnReplica = async (sale: string, order: string) => {
      const client = new Redis(replica.url)
      const stored = await client.hexists(`{${sale}}:unrecorded`, order)
      client.disconnect()
      return stored === 1
    }

    test('promises what the replica has, what Redis alone has once it is gone, and nothing while it is silent', async ({
      expect,
    }) => {
      const away = await alone({ total: 100, gate: master.url, ledger: NO_LEDGER })
      const areOnReplica = async () => {
        const answers = await Promise.all([away.buy(), away.buy()])
        return Promise.all(answers.map(async (one) => [said(one), await isOnReplica(away.sale, orderOf(one))]))
      }
      // A replica that is late is one that does not acknowledge.
      const areSilent = async () => (await whileSilent(await alone({ gate: master.url }))).map(promise)
      await Promise.all([
        expect.poll(areSilent).toEqual(['processing', 'processing']),
        expect.poll(areOnReplica).toEqual(Array(2).fill(['processing', true])),
      ])

      const shop = await alone({ gate: master.url })
      const before = (await away.its.stock())?.get('one')
      process.kill(replica.pid, 'SIGSTOP')
      const answers = (await Promise.all([whileSilent(shop), away.buy('ann')])).flat()
      const left = (await away.its.stock())?.get('one')
      process.kill(replica.pid, 'SIGCONT')
      expect(answers.map(promise)).toEqual([IN_DOUBT, IN_DOUBT, UNTAKEN])
      // The ledger has not heard of it: it was given back.
      expect(left).toEqual(before)
      // The key finds the order.
      await shop.checkout.drain()
      await shop.sales.refresh()
      expect(said(await shop.buy('ann'))).toBe('recorded')
      expect(await sql`select 1 from orders where sale_id = ${shop.sale}`).toHaveLength(1)
      await expect.poll(async () => said(await away.buy('ann'))).toBe('processing')

      await replica.kill()
      await expect.poll(async () => promise(await away.buy())).toBe('processing')
    })
  })

  test('leaves a refused order to the workers after it answered "processing"', async ({ expect }) => {
    const { sale, buy, its, checkout } = await alone({ total: 1 })
    const answer = await whileLocked(sale, async (tx) => {
      const answer = await buy('ann')
      await tx`update products set total = 0 where sale_id = ${sale}`
      return answer
    })
    expect(said(answer)).toBe('processing')
    await checkout.drain()
    const [waiting] = await its.intents.read(10)
    const order = waiting?.order ?? ''
    expect(answer).toMatchObject({ reservation: { order } })
    expect(await checkout.existing.byId(sale, order)).toMatchObject({ visitor: 'ann' })
  })

  test('a key that was answered with the unrecorded order of another key names it for good', async ({ expect }) => {
    const { sale, buy, checkout } = await alone({ limit: 1 })
    const answers = await whileLocked(sale, async () => [await buy('ann', 'k'), await buy('ann', 'l')])
    const [{ reservation }] = answers as [Extract<Outcome, { kind: 'processing' }>]
    const { order } = reservation
    expect(answers).toMatchObject(Array(2).fill({ kind: 'processing', reservation: { order } }))
    await checkout.drain()
    await sql`update orders set status = 'cancelled' where order_id = ${order}`
    const again = { kind: 'live', replayed: true, order: { order_id: order, status: 'cancelled' } }
    expect(await buy('ann', 'l')).toMatchObject(again)
  })

  test('counts unrecorded orders against the limit', async ({ expect }) => {
    const { sale, buy } = await alone({ limit: 2 })
    const [first, more] = await whileLocked(sale, () => Promise.all([buy('ann', 'k'), buy('ann', 'l', 2)]))
    expect(said(first)).toBe('processing')
    expect(more).toMatchObject({ problem: { errors: [{ detail: 'at most 1 more per visitor' }] } })
  })

  test('returns a refusal at once that a faster worker noted', async ({ expect }) => {
    const { sale, buy, its } = await alone({ total: 1 })
    const asked = await sql.begin(async (tx) => {
      await tx`update products set total = 0 where sale_id = ${sale}`
      await tx`select 1 from sales where sale_id = ${sale} for update`
      const asked = buy()
      await expect.poll(() => its.intents.count()).toBe(1)
      const [waiting] = await its.intents.read(1)
      await record(tx, sale, [waiting?.reservation as CheckoutReservation], true)
      return { asked }
    })
    expect(said(await asked.asked)).toBe('/problems/sold-out')
  })

  test('returns the order of a key, not the noted refusal of an earlier promise', async ({ expect }) => {
    const { sale, buy, its, checkout } = await alone()
    const hash = createHash('sha256').update('[null,1,null]').digest('base64url')
    const [kept, promised] = [0, 1].map(() => ({ ...reservationOf(sale), hash })) as [
      CheckoutReservation,
      CheckoutReservation,
    ]
    await its.reserve(promised, { holdMs: 60_000, limit: 1, demand: [] })
    await record(sql, sale, [kept], false)
    await record(sql, sale, [promised], true)
    const answer = await buy(kept.visitor)
    expect(answer).toMatchObject({ kind: 'recorded', replayed: true, order: { order_id: kept.order } })
    expect(await checkout.existing.byId(sale, promised.order)).toMatchObject({ status: 'cancelled' })
  })

  test('promises no order that only Redis may have heard of: its key finds it', async ({ expect }) => {
    const [toGate, toLedger] = await Promise.all([failingProxy(server.url), failingProxy(database.url)])
    const { sale, buy } = await alone({ gate: toGate.url, ledger: toLedger.url })
    toGate.lose('answers')
    toLedger.lose('all')
    expect(promise(await buy('ann'))).toEqual(IN_DOUBT)
    const [waiting] = await new Gate(redis, sale).intents.read(1)
    toGate.back()
    const found = { kind: 'processing', reservation: { order: waiting?.order } }
    await expect.poll(() => buy('ann')).toMatchObject(found)
  })

  test('promises no order that Redis has lost meanwhile', async ({ expect }) => {
    const { sale, buy } = await alone()
    const answer = await whileLocked(sale, async () => {
      const answer = buy()
      await expect.poll(() => redis.del(`{${sale}}:unrecorded`)).toBe(1)
      return answer
    })
    expect(promise(answer)).toEqual(IN_DOUBT)
  })

  test('says that nothing was taken if neither store was reached', async ({ expect }) => {
    const { buy } = await alone({ gate: NO_REDIS, ledger: NO_LEDGER })
    expect(promise(await buy())).toEqual(UNTAKEN)
  })

  test.for(['take', 'give back'])(
    'sells nothing later to a refused buyer, though Redis may %s the unit unheard',
    async (what, { expect }) => {
      const proxy = await failingProxy(server.url)
      const { sale, buy } = await alone({ total: 1, gate: proxy.url })
      const there = new Gate(redis, sale)
      const other = { ...reservationOf(sale), visitor: 'who has the last unit' }
      if (what === 'take') proxy.lose('answers')
      const { asked } = await whileLocked(sale, async (tx) => {
        const asked = buy()
        await expect.poll(() => there.intents.count()).toBe(1)
        // The gate answers before the ledger is asked.
        if (what === 'give back') await untilLocked(sql)
        proxy.lose('answers')
        await record(tx, sale, [other], false)
        return { asked }
      })
      expect(said(await asked)).toBe('/problems/all-in-carts')
      await moveOrders(sql, [other.order], { from: ['reserved'], to: 'cancelled' })
      // A worker would find the intent here. An intent that was given back is removed in the same step.
      const waiting = await there.intents.read(10)
      expect(waiting).toHaveLength(what === 'take' ? 1 : 0)
      for (const { reservation } of waiting)
        expect(await record(sql, sale, [reservation as CheckoutReservation], true)).toMatchObject([
          { verdict: 'no_stock' },
        ])
    },
  )

  test('returns the order that the exact gate made, though its reply was lost', async ({ expect }) => {
    const proxy = await failingProxy(database.url)
    const { sale, sales, buy } = await alone({ gate: NO_REDIS, ledger: proxy.url })
    expect(said(await buy())).toBe('recorded')
    await sales.refresh()
    proxy.lose('answers')
    const asked = buy('ann')
    const [made] = await eventually(
      () => sql`select order_id from orders where sale_id = ${sale} and visitor = 'ann'`,
      (orders) => orders.length === 1,
    )
    proxy.back()
    const answer = await asked
    // Processing if the ledger does not count as back yet: it has the order.
    expect(['recorded', 'processing']).toContain(said(answer))
    expect(orderOf(answer)).toBe(made?.order_id)
  })

  test('promises no order that neither store may have heard of: its key makes one', async ({ expect }) => {
    const [toGate, toLedger] = await Promise.all([failingProxy(server.url), failingProxy(database.url)])
    const { sale, buy, checkout } = await alone({ gate: toGate.url, ledger: toLedger.url })
    expect(said(await buy())).toBe('recorded')
    for (const proxy of [toGate, toLedger]) proxy.lose('all')
    expect(promise(await buy('ann'))).toEqual(IN_DOUBT)
    for (const proxy of [toGate, toLedger]) proxy.back()
    const orders = () => sql`select order_id from orders where sale_id = ${sale} and visitor = 'ann'`
    // The checkout does no work after its answer.
    await checkout.drain()
    expect(await orders()).toHaveLength(0)
    await expect.poll(async () => said(await buy('ann'))).toBe('recorded')
    expect(await orders()).toHaveLength(1)
  })

  test('waits for the order of its key that is recorded without the gate, which came back', async ({ expect }) => {
    const { sale, buy, its } = await alone({ limit: 2 })
    const rebuild = await its.fence()
    await whileLocked(sale, async () => {
      expect(promise(await buy('ann'))).toEqual(IN_DOUBT)
      await rebuild.open([{ product: 'one', available: 5, held: 0 }])
      expect(promise(await buy('ann'))).toEqual(IN_DOUBT)
      expect(said(await buy('ann', 'k', 2))).toBe('/problems/idempotency-key-reused')
    })
    expect(await buy('ann')).toMatchObject({ kind: 'recorded', replayed: true })
    const orders = await sql`select status from orders where sale_id = ${sale}`
    expect(orders).toEqual([{ status: 'reserved' }])
  })

  test('promises a bounded number of unrecorded orders', async ({ expect }) => {
    const { sale, buy, store } = await alone({ total: 100, maxPending: 20 })
    // The ledger fails at once if the sale's row is missing.
    await sql`delete from products where sale_id = ${sale}`
    await sql`delete from sales where sale_id = ${sale}`
    const answers = await Promise.all(Array.from({ length: 60 }, () => buy()))
    const promised = answers.map(promise).filter((answer) => answer === 'processing')
    expect(promised.length).toBeGreaterThan(0)
    expect(promised.length).toBeLessThanOrEqual(20)
    await expect.poll(async () => promise(await buy())).toEqual(UNTAKEN)
    // Workers delete the list after they have recorded the reservations.
    await store.del(`{${sale}}:unrecorded`)
    await expect.poll(async () => said(await buy())).toBe('processing')
  })
})
