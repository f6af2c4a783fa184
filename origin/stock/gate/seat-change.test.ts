/**
 * The box office beside buyers and rebuilds: the gate hears of what the ledger has decided late, twice, in another
 * order or while it is rebuilt, and counts every unit and every seat as the ledger does. Each story is played by hand
 * on a real Redis and a real Postgres.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { addHall } from '../../../test/lib/hall.ts'
import { reservationOf, saleOf } from '../../../test/lib/samples.ts'
import { useLedger, useRedis } from '../../../test/lib/servers.ts'
import { createMetrics } from '../../base/metrics.ts'
import { blockSeats, moveSeat, releaseSeats } from '../../box-office/seat-changes.ts'
import type { Cart } from '../../ledger/cart.ts'
import { findOrder, moveOrders, returnLines } from '../../ledger/order-statements.ts'
import { type Reservation, record } from '../../ledger/record.ts'
import { connectRedis } from '../../lib/redis/redis.ts'
import { SaleMemory } from '../../sales/sale-memory.ts'
import { writeSale } from '../../sales/sale-queries.ts'
import { SaleWork } from '../../sales/sale-work.ts'
import { Sales } from '../../sales/sales.ts'
import { bitsOf, differingSeats } from '../../seats/bits.ts'
import { takenSeats } from '../../seats/seat-queries.ts'
import { Reconciler } from '../reconciler.ts'
import { readCounters } from '../reconciliation-queries.ts'
import { defineScripts, type Store } from '../scripts.ts'
import { Gates } from './gate.ts'
import { holdEnd, refused } from './hold-ends.ts'
import { Rebuild } from './rebuild.ts'

const sql = await useLedger()
const server = useRedis()
const log = pino({ level: 'silent' })
const metrics = createMetrics()
const memory = new SaleMemory()
let redis: Store
let sales: Sales
let gates: Gates
let reconciler: Reconciler
beforeAll(async () => {
  redis = defineScripts(connectRedis(server.url, log))
  await once(redis, 'ready')
  sales = new Sales(sql)
  await sales.start()
  gates = new Gates(redis, memory)
  const refunds = { addRefunds: async () => [] }
  reconciler = new Reconciler({
    sql,
    sales,
    gates,
    refunds,
    work: new SaleWork(),
    memory,
    metrics,
    log,
    redisWatch: { evicting: null, refusal: null },
  })
})
afterAll(async () => {
  await sales.stop()
  redis.disconnect()
})

/** A hall of the sections `floor`, `stalls` (S0 to S11) and `circle` (K20, K21), and what happens in it. */
async function openHall() {
  const sale = randomUUID()
  await writeSale(sql, sale, saleOf(10, { limit_per_visitor: 9 }))
  await addHall(sql, sale)
  await sql`
    insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, section_type,
      limit_per_visitor)
    values (${sale}, 'circle', 3, 'Circle', 0, 'EUR', 2, 'reserved', 2)`
  await sql`
    insert into seats (sale_id, seat_index, section_id, seat_id, row, number, place, x, y, category, price_minor)
    select ${sale}, n, 'circle', 'K' || n, '1', n::text, n, n, 9, 'front', 2000 from generate_series(20, 21) n`
  const rebuild = () => reconciler.reconcileSale(sale, { force: true })
  await rebuild()
  const gate = gates.of(sale)
  const of = (cart: Cart, visitor: string = randomUUID()): Reservation => {
    const quantity = cart.reduce((sum, part) => sum + part.quantity, 0)
    const r = reservationOf(sale)
    return { ...r, visitor, key: r.order, product: cart[0]?.product ?? '', quantity, cart }
  }
  const seat = (...seats: number[]) =>
    of([{ product: (seats[0] ?? 0) < 20 ? 'stalls' : 'circle', quantity: seats.length, seats }])
  const terms = { holdMs: 60_000, limit: 9, demand: [], limits: { circle: 2 } }
  /** Through both gates. */
  const buy = async (r: Reservation) => {
    expect(await gate.reserve(r, terms)).toMatchObject({ verdict: 'reserved' })
    expect(await record(sql, sale, [r], false)).toMatchObject([{ verdict: 'recorded' }])
    await gate.intents.remove([{ order: r.order, stored: '' }])
    return r
  }
  const named = (seats: readonly number[]) => ({ seats: seats.map((n) => (n < 20 ? `S${n}` : `K${n}`)) })
  /** Returns the changes that the gate must apply. */
  const block = async (...seats: number[]) =>
    (await blockSeats(sql, sale, { ...named(seats), reason: 'press', until: null }, 'olga')).changes
  const release = async (...seats: number[]) => (await releaseSeats(sql, sale, named(seats), 'olga')).changes
  const move = async ({ order }: Reservation, to: number) => {
    const row = await findOrder(sql, order)
    if (!row) throw new Error('no order')
    const [seat_id = ''] = named([to]).seats
    const request = { line: 1, seat_id, section_id: to < 20 ? 'stalls' : 'circle' }
    const { move: change } = await moveSeat(sql, row, request as never, 'olga')
    return change ? [change] : []
  }
  const tell = async (changes: Awaited<ReturnType<typeof block>>) => {
    for (const change of changes) await gate.changeSeats(change)
  }
  /** In the ledger alone. */
  const end = async ({ order }: Reservation, to: 'expired' | 'confirmed' | 'cancelled') =>
    (await moveOrders(sql, [order], { from: ['reserved'], to })).map(holdEnd)
  /** A rebuild, and what happens once it has read the ledger. */
  const rebuilding = async (during: () => Promise<unknown>) => {
    const { open } = Rebuild.prototype
    const spy = vi.spyOn(Rebuild.prototype, 'open').mockImplementationOnce(async function (this: Rebuild, counts) {
      await during()
      return open.call(this, counts)
    })
    onTestFinished(() => spy.mockRestore())
    await rebuild()
  }
  return { sale, gate, terms, of, seat, buy, block, release, move, tell, end, rebuilding, rebuild }
}
type Hall = Awaited<ReturnType<typeof openHall>>

/** They say the same of every count and seat, at once, and no claim is left over. */
async function expectAgreement({ sale, gate }: Hall): Promise<void> {
  const stock = await gate.stock()
  for (const { product, total, buffer, held, sold } of await readCounters(sql, sale))
    expect({ product, ...stock?.get(product) }).toEqual({ product, available: total - buffer - held - sold, held })
  expect(differingSeats(await gate.seats(), bitsOf(await takenSeats(sql, sale)))).toEqual([])
  expect((await redis.hkeys(`{${sale}}:claims`)).filter((field) => !field.startsWith('change '))).toEqual([])
}

test.each<[string, (hall: Hall) => Promise<unknown>]>([
  [
    'a seat is blocked while a buyer takes it, and told before the buyer is refused',
    async ({ sale, gate, terms, seat, block, tell }) => {
      const r = seat(5)
      expect(await gate.reserve(r, terms)).toMatchObject({ verdict: 'reserved' })
      await tell(await block(5, 6))
      expect(await record(sql, sale, [r], false)).toMatchObject([{ verdict: 'seat_taken' }])
      await gate.settle([refused(r)])
    },
  ],
  [
    'the same, told afterwards',
    async ({ gate, terms, seat, block, tell }) => {
      const r = seat(5)
      expect(await gate.reserve(r, terms)).toMatchObject({ verdict: 'reserved' })
      const blocked = await block(5, 6)
      await gate.settle([refused(r)])
      await tell(blocked)
    },
  ],
  [
    'a seat is blocked and released while a buyer takes it, who gets it',
    async ({ sale, gate, terms, seat, block, release, tell }) => {
      const r = seat(5)
      expect(await gate.reserve(r, terms)).toMatchObject({ verdict: 'reserved' })
      const blocked = await block(5)
      await tell(await release(5))
      expect(await record(sql, sale, [r], false)).toMatchObject([{ verdict: 'recorded' }])
      await tell(blocked)
    },
  ],
  [
    'a release is told after a rebuild and a new buyer, twice',
    async ({ seat, buy, block, release, tell, rebuild }) => {
      await tell(await block(5))
      const released = await release(5)
      await rebuild()
      await buy(seat(5))
      for (let again = 0; again < 2; again++) await tell(released)
    },
  ],
  [
    'seats are blocked and released before, during and after a rebuild reads the ledger',
    async ({ block, release, tell, rebuilding }) => {
      await tell(await block(1, 2, 3))
      const before = [...(await block(4, 7)), ...(await release(1))]
      let late: typeof before = []
      await rebuilding(async () => {
        late = [...(await block(5)), ...(await release(2))]
        await tell(before)
        await tell([...(await block(6)), ...(await release(3))])
      })
      await tell([...late, ...before])
    },
  ],
  [
    'a move is told twice, and another one after a rebuild that has read it',
    async ({ seat, buy, move, tell, rebuild }) => {
      const [one, other] = [await buy(seat(5)), await buy(seat(6))]
      const moved = await move(one, 20)
      for (let again = 0; again < 2; again++) await tell(moved)
      const late = await move(other, 21)
      await rebuild()
      await tell(late)
    },
  ],
  [
    'orders are moved while the gate is rebuilt, one before the ledger is read',
    async ({ seat, buy, move, tell, rebuilding }) => {
      const [one, other, third] = [await buy(seat(5)), await buy(seat(6)), await buy(seat(7))]
      const before = await move(one, 20)
      let late: typeof before = []
      await rebuilding(async () => {
        await tell([...before, ...(await move(other, 21))])
        late = await move(third, 8)
      })
      await tell(late)
    },
  ],
  ...(['expired', 'confirmed'] as const).map((to): [string, (hall: Hall) => Promise<unknown>] => [
    `an order that was moved is ${to} before the gate hears of the move`,
    async ({ gate, seat, buy, move, tell, end, rebuilding }) => {
      const [one, other] = [await buy(seat(5)), await buy(seat(6))]
      const moved = await move(one, 20)
      await gate.settle(await end(one, to))
      await tell(moved)
      await rebuilding(async () => {
        const during = await move(other, 21)
        await gate.settle(await end(other, to))
        await tell(during)
      })
    },
  ]),
  [
    'a seat is given back and sold while the gate is rebuilt, and told in the other order',
    async ({ sale, gate, seat, buy, end, rebuilding }) => {
      const [one, other] = [await buy(seat(5)), await buy(seat(6))]
      const [next, last] = [seat(5), seat(6)]
      await rebuilding(async () => {
        const ended = [...(await end(one, 'expired')), ...(await end(other, 'cancelled'))]
        expect(await record(sql, sale, [next, last], false)).toMatchObject(Array(2).fill({ verdict: 'recorded' }))
        for (const r of [next, last]) await gate.adopt(r, Date.now() + 60_000)
        await gate.settle(await end(next, 'confirmed'))
        await gate.settle(ended)
      })
    },
  ],
])('gate and ledger agree after %s', async (_, story) => {
  const hall = await openHall()
  await story(hall)
  await expectAgreement(hall)
  expect((await reconciler.reconcileSale(hall.sale)).findings.every(({ found }) => found === 'ok')).toBe(true)
  expect(await sql`select kind from findings where sale_id = ${hall.sale}`).toEqual([])
})

test('the limit of a product follows an order whose line is cancelled while the gate is rebuilt', async () => {
  const hall = await openHall()
  const { sale, gate, terms, of, buy, rebuilding } = hall
  const seats = (...all: number[]) => ({ product: 'circle', quantity: all.length, seats: all })
  const r = await buy(of([seats(20), { product: 'floor', quantity: 1 }], 'ann'))
  await rebuilding(() => returnLines(sql, r.order, [1], { how: 'unpaid', type: 'order.lines_cancelled' }))
  // The operator's call ends before it has the gate rebuilt: the difference is found.
  await reconciler.reconcileSale(sale)
  await expectAgreement(hall)
  expect(await gate.reserve(of([seats(20, 21)], 'ann'), terms)).toMatchObject({ verdict: 'reserved' })
})

test('what the gate learns of failed orders never lowers what it has counted', async () => {
  const { sale, gate } = await openHall()
  await gate.learnUnpaid('ann', 2)
  await gate.learnUnpaid('ann', 1)
  expect(await redis.hget(`{${sale}}:unpaid_orders`, 'ann')).toBe('2')
})
