/**
 * Carts and seats at both gates: all or nothing, no seat twice, and what ends comes back, on a real Redis and a real
 * Postgres.
 */
import { randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addHall, SEATS } from '../../../test/lib/hall.ts'
import { reservationOf, saleOf } from '../../../test/lib/samples.ts'
import { useLedger, useRedis } from '../../../test/lib/servers.ts'
import { createMetrics } from '../../base/metrics.ts'
import { type Cart, type CartPart, isPromoCode, usePromoCode } from '../../ledger/cart.ts'
import { advanceOrders, findOrders } from '../../ledger/order-statements.ts'
import { type Reservation, record } from '../../ledger/record.ts'
import { writeSale } from '../../sales/sale-queries.ts'
import { available } from '../../sales/sale-state.ts'
import { bitsOf, differingSeats } from '../../seats/bits.ts'
import { byDistance, Chart, type Seat } from '../../seats/chart.ts'
import { blockedSeats, readChart, takenSeats } from '../../seats/seat-queries.ts'
import { recordIntents } from '../intent-recorder.ts'
import { ordersOf, readCounters } from '../reconciliation-queries.ts'
import { defineScripts, type Store } from '../scripts.ts'
import { Gate, type Gates } from './gate.ts'
import { holdEnd } from './hold-ends.ts'

const sql = await useLedger()
const server = useRedis()
let redis: Store
/** The connection of another process. */
let elsewhere: Store
beforeAll(() => {
  redis = defineScripts(new Redis(server.url))
  elsewhere = defineScripts(new Redis(server.url))
})
afterAll(() => {
  redis.disconnect()
  elsewhere.disconnect()
})

const LIMIT = 12
const TERMS = { holdMs: 60_000, limit: LIMIT, demand: [] }
let sales = 0

/** A sale of ten units of `one`, five places of `floor` and two rows of six seats, `stalls`. */
async function openHall(limits: Readonly<Record<string, number>> = {}) {
  const sale = `hall-${++sales}`
  await writeSale(sql, sale, saleOf(10, { limit_per_visitor: LIMIT }))
  await addHall(sql, sale)
  for (const [product, limit] of Object.entries(limits))
    await sql`update products set limit_per_visitor = ${limit} where sale_id = ${sale} and product_id = ${product}`
  const gate = new Gate(redis, sale)
  await rebuild(sale, gate)
  const row = await readChart(sql, sale)
  return { sale, gate, chart: new Chart(row?.seats ?? [], row?.focalPoint ?? { x: 0, y: 0 }) }
}

const TEN = usePromoCode('TEN')

/** A code of so many uses, and so many of one visitor. */
async function addCode(sale: string, gate: Gate, uses: number, ofVisitor: number | null = null): Promise<void> {
  await sql`
    insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, limit_per_visitor,
      is_promo_code)
    values (${sale}, ${TEN.product}, 1, 'TEN', 0, 'EUR', ${uses}, ${ofVisitor}, true)`
  await rebuild(sale, gate)
}

async function rebuild(sale: string, gate: Gate): Promise<void> {
  const fence = await gate.fence()
  await sql.begin('isolation level repeatable read', async (moment) => {
    for await (const orders of ordersOf(moment, sale)) await fence.restore(orders)
    await fence.block(await blockedSeats(moment, sale))
    const counters = await readCounters(moment, sale)
    await fence.open(counters.map((p) => ({ ...p, available: available(p) })))
  })
}

const seats = (...indexes: number[]): CartPart => ({ product: 'stalls', quantity: indexes.length, seats: indexes })
const floor = (quantity: number): CartPart => ({ product: 'floor', quantity })
const units = (quantity: number): CartPart => ({ product: 'one', quantity })

function cartOf(sale: string, cart: Cart, visitor: string = randomUUIDv7()): Reservation {
  const r = reservationOf(sale)
  const quantity = cart.reduce((sum, part) => sum + (isPromoCode(part.product) ? 0 : part.quantity), 0)
  return { ...r, product: cart[0]?.product ?? '', visitor, key: r.order, quantity, cart }
}

/** The gate and the ledger say the same of the stock, seat by seat. */
async function expectAgreement(sale: string, gate: Gate): Promise<void> {
  const stock = await gate.stock()
  for (const { product, total, held, sold } of await readCounters(sql, sale))
    expect({ product, ...stock?.get(product) }).toEqual({ product, available: total - held - sold, held })
  expect(differingSeats(await gate.seats(), bitsOf(await takenSeats(sql, sale)))).toEqual([])
}

test('takes all of a cart or nothing, and says what is missing', async () => {
  const { sale, gate } = await openHall()
  const reserve = (...cart: CartPart[]) => gate.reserve(cartOf(sale, cart), TERMS)
  expect(await reserve(units(2), floor(3), seats(0, 1))).toMatchObject({ verdict: 'reserved', available: 8, held: 2 })
  expect(await reserve(units(1), seats(2, 1, 0))).toEqual({ verdict: 'seat_taken', seats: [1, 0] })
  expect(await reserve(units(1), floor(3))).toMatchObject({ verdict: 'none', product: 'floor', available: 2, held: 3 })
  expect(await gate.stock()).toEqual(
    new Map([
      ['one', { available: 8, held: 2 }],
      ['floor', { available: 2, held: 3 }],
      ['stalls', { available: 10, held: 2 }],
    ]),
  )
})

const asking = (people: number) => ({ wish: { quantity: people, together: true, accessible: false } })

test.each(['one process', 'two processes'])(
  'chooses neighbours for those who leave the choice to the system, until the hall is full: %s',
  async (who) => {
    const { sale, gate, chart } = await openHall()
    const other = who === 'one process' ? gate : new Gate(elsewhere, sale)
    const ask = (at: Gate) => {
      const { cart: _, ...r } = cartOf(sale, [seats(0, 1)])
      return at.reserve({ ...r, choice: { chart, wants: [asking(2)] } }, TERMS)
    }
    // Each has read the seats before either has taken any.
    const verdicts = await Promise.all([gate, other, gate, other, gate, other].map(ask))
    const pairs = verdicts.map((v) => ('cart' in v && v.cart?.[0]?.seats) || [])
    expect(pairs.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: SEATS }, (_, i) => i))
    for (const pair of pairs) {
      const [a, b] = pair.map((seat) => chart.at(seat)) as [Seat, Seat]
      expect([a.row, Math.abs(a.place - b.place)]).toEqual([b.row, 1])
    }
    expect(await ask(gate)).toMatchObject({ verdict: 'none', product: null })
  },
)

test('keeps the best seats for the first callers, by name and by choice, and leaves the rest to others', async () => {
  const { sale, gate, chart } = await openHall()
  const best = chart.seats.toSorted(byDistance(chart.focalPoint)).map(({ index }) => index)
  const ask = async (visitor: string, demand: number, cart?: Cart) => {
    const r = cartOf(sale, cart ?? [seats(0)], visitor)
    const choice = { chart, wants: cart ?? [asking(1)] }
    const { cart: named, ...open } = r
    const verdict = await gate.reserve({ ...(cart ? r : open), choice }, { ...TERMS, demand: [demand] })
    return 'cart' in verdict ? { ...verdict, cart: verdict.cart?.[0]?.seats } : verdict
  }
  await gate.learnUnpaid('ann', 1)
  expect(await ask('ann', 4, [seats(best[3] ?? 0)])).toMatchObject({ verdict: 'unpaid', unpaid: 1 })
  expect(await ask('ann', 4, [seats(best[4] ?? 0)])).toMatchObject({ verdict: 'reserved' })
  const [late, bob] = await Promise.all([ask('ann', 4), ask('bob', 4)])
  expect([late, bob]).toMatchObject([{ verdict: 'reserved' }, { verdict: 'reserved' }])
  expect(best.slice(0, 5)).not.toContain('cart' in late && late.cart?.[0])
  expect(await ask('ann', SEATS)).toMatchObject({ verdict: 'unpaid', unpaid: 1 })
  expect(await ask('ann', 0)).toMatchObject({ verdict: 'reserved' })
})

test('whatever two processes take and record at once, every seat has one owner and every cart is whole', async () => {
  const asked = fc.record({
    isElsewhere: fc.boolean(),
    one: fc.integer({ min: 0, max: 2 }),
    seats: fc.oneof(fc.uniqueArray(fc.nat(SEATS - 1), { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 3 })),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 2, maxLength: 12 }), async (all) => {
      const { sale, gate, chart } = await openHall()
      const gates = [gate, new Gate(elsewhere, sale)] as const
      const taken = await Promise.all(
        all.map(async ({ isElsewhere, one, seats: of }) => {
          const also = one > 0 ? [units(one)] : []
          const named = typeof of === 'number' ? [] : [seats(...of)]
          const { cart: _, ...r } = cartOf(sale, [...also, ...named])
          const people = typeof of === 'number' ? of : of.length
          const reservation = { ...r, product: 'stalls', quantity: one + people }
          const wants = [...also, ...named, ...(typeof of === 'number' ? [asking(of)] : [])]
          const call = {
            ...reservation,
            choice: { chart, wants },
            ...(named.length > 0 && { cart: [...also, ...named] }),
          }
          const verdict = await gates[isElsewhere ? 1 : 0].reserve(call, TERMS)
          if (verdict.verdict !== 'reserved') return []
          const cart = verdict.cart ?? []
          expect(cart.reduce((sum, part) => sum + part.quantity, 0)).toBe(one + people)
          return [{ isElsewhere, r: { ...reservation, cart } }]
        }),
      )
      const reserved = taken.flat()
      const given = reserved.flatMap(({ r }) => r.cart.flatMap((part) => part.seats ?? []))
      expect(new Set(given).size).toBe(given.length)
      const batches = [true, false].map((where) =>
        reserved.flatMap(({ isElsewhere, r }) => (isElsewhere === where ? [r] : [])),
      )
      const recorded = await Promise.all(
        batches.map((batch) => (batch.length > 0 ? record(sql, sale, batch, false) : [])),
      )
      expect(recorded.flat().map(({ verdict }) => verdict)).toEqual(reserved.map(() => 'recorded'))
      expect((await takenSeats(sql, sale)).toSorted((a, b) => a - b)).toEqual(given.toSorted((a, b) => a - b))
      await expectAgreement(sale, gate)
    }),
    { numRuns: 20 },
  )
})

test('the limit of a product is exact at both gates, and comes back with the order', async () => {
  const { sale, gate } = await openHall({ one: 3 })
  const terms = { ...TERMS, limits: { one: 3 } }
  const first = cartOf(sale, [units(2), floor(1)], 'ann')
  expect(await gate.reserve(first, terms)).toMatchObject({ verdict: 'reserved' })
  const refused = { verdict: 'product_limit', product: 'one', units: 2 }
  expect(await gate.reserve(cartOf(sale, [units(2)], 'ann'), terms)).toMatchObject(refused)
  const [, second] = await record(sql, sale, [first, cartOf(sale, [units(2)], 'ann')], false)
  expect(second).toMatchObject({ verdict: 'limit', product: 'one', units: 3 })
  await gate.settle([{ ...first, how: 'release' }])
  expect(await gate.reserve(cartOf(sale, [units(3)], 'ann'), terms)).toMatchObject({ verdict: 'reserved' })
})

test('a promo code is used as often as it allows, in all and by one visitor, and is no unit of the order', async () => {
  const { sale, gate } = await openHall()
  await addCode(sale, gate, 2, 1)
  const terms = { ...TERMS, limit: 2, limits: { [TEN.product]: 1 } }
  const first = cartOf(sale, [units(2), TEN], 'ann')
  expect(await gate.reserve(first, terms)).toMatchObject({ verdict: 'reserved', available: 8 })
  const again = cartOf(sale, [TEN], 'ann')
  expect(await gate.reserve(again, terms)).toMatchObject({ verdict: 'product_limit', product: TEN.product })
  // A batch shares its terms, except for the codes that its callers use.
  const [plain, second] = [cartOf(sale, [units(1)], 'bob'), cartOf(sale, [units(1), TEN], 'cid')]
  const batch = [gate.reserve(plain, { ...terms, limits: {} }), gate.reserve(second, terms)]
  expect(await Promise.all(batch)).toMatchObject([{ verdict: 'reserved' }, { verdict: 'reserved' }])
  const late = cartOf(sale, [units(1), TEN], 'dan')
  expect(await gate.reserve(late, terms)).toMatchObject({ verdict: 'none', product: TEN.product })
  expect(await record(sql, sale, [first, again, plain, second, late], false)).toMatchObject([
    { verdict: 'recorded' },
    { verdict: 'limit', product: TEN.product },
    { verdict: 'recorded' },
    { verdict: 'recorded' },
    { verdict: 'no_stock', product: TEN.product },
  ])
  await expectAgreement(sale, gate)
})

test('those who come last for what is left come last for a promo code too, and may buy without it', async () => {
  const { sale, gate } = await openHall()
  await addCode(sale, gate, 5)
  await gate.learnUnpaid('ann', 1)
  const ask = (cart: Cart, demand: number, demandForUses: number) =>
    gate.reserve(cartOf(sale, cart, 'ann'), { ...TERMS, demand: [demand], demandForUses })
  for (const [demand, forUses] of [
    [5, 0],
    [3, 2],
  ] as const)
    expect(await ask([units(1), TEN], demand, forUses)).toMatchObject({
      verdict: 'none',
      unpaid: 1,
      product: TEN.product,
    })
  expect(await ask([units(1)], 4, 9)).toMatchObject({ verdict: 'reserved' })
  expect(await ask([units(1), TEN], 2, 2)).toMatchObject({ verdict: 'reserved' })
  const failed = cartOf(sale, [units(1)], 'bob')
  await record(sql, sale, [failed], false)
  await advanceOrders(sql, [{ order: failed.order }], { from: ['reserved'], to: 'expired' })
  const withCode = cartOf(sale, [units(1), TEN], 'bob')
  const used = { verdict: 'no_stock', unpaid: 1, product: TEN.product }
  expect(await record(sql, sale, [withCode], false, [5])).toMatchObject([used])
  expect(await record(sql, sale, [withCode], false, [4])).toMatchObject([{ verdict: 'recorded' }])
})

test('an order is recorded at the prices and terms that it was computed with, or not at all', async () => {
  const { sale } = await openHall()
  const [{ terms = 0 } = {}] = await sql<{ terms: number }[]>`
    select terms_version as terms from sales where sale_id = ${sale}`
  const billed = (at: number) => ({ terms: at, bill: [], shares: [1_000] })
  const plain = (price: number) => {
    const { cart: _, ...r } = cartOf(sale, [units(1)])
    return { ...r, charge: { prices: [price] } }
  }
  const priced = (price: number, at = terms, cart: Cart = [units(1)]) => ({
    ...cartOf(sale, cart),
    charge: { prices: [price], billed: billed(at) },
  })
  const verdicts = async (...batch: Reservation[]) =>
    (await record(sql, sale, batch, false)).map(({ verdict }) => verdict)
  expect(await verdicts(plain(1_000))).toEqual(['recorded'])
  expect(await verdicts(plain(999))).toEqual(['price_changed'])
  expect(await verdicts(plain(999), plain(1_000))).toEqual(['price_changed', 'recorded'])
  const batch = [priced(1_000), priced(999), priced(1_000, terms + 1), plain(1), plain(1_000)]
  expect(await verdicts(...batch)).toEqual(['recorded', ...Array(3).fill('price_changed'), 'recorded'])
  const ofSeats = [7, 8].map((seat) => priced(2_007, terms, [seats(seat)]))
  expect(await verdicts(...ofSeats)).toEqual(['recorded', 'price_changed'])
  const [row] = await sql`select held from products where sale_id = ${sale} and product_id = 'one'`
  expect(row).toEqual({ held: 4 })
})

test('orders are numbered, each with a number of its own', async () => {
  const { sale } = await openHall()
  const plain = () => ({ ...reservationOf(sale), visitor: randomUUIDv7() })
  const batches = [[plain()], [cartOf(sale, [units(1)]), cartOf(sale, [floor(1)])], [plain(), cartOf(sale, [units(1)])]]
  const numbers = new Set<number | undefined>()
  for (const batch of batches) {
    const verdicts = await record(sql, sale, batch, false)
    for (const [i, { order }] of batch.entries()) {
      const [stored] = await findOrders(sql, [order])
      expect(verdicts[i]).toMatchObject({ verdict: 'recorded', numbers: { [order]: stored?.number } })
      numbers.add(stored?.number)
    }
  }
  expect(numbers.size).toBe(5)
})

test('the ledger refuses seats that are sold, blocked or removed since the choice, and nothing else', async () => {
  const { sale } = await openHall()
  await sql`insert into seat_claims (sale_id, seat_index, reason) values (${sale}, 5, 'for the press')`
  await sql`delete from seats where sale_id = ${sale} and seat_index = 3`
  const batch = [
    [seats(0, 1)],
    [seats(1, 2)],
    [units(1), seats(5)],
    [seats(3)],
    [seats(2, 3)],
    [seats(2)],
    [units(1), { product: 'balcony', quantity: 1 }],
  ].map((cart) => cartOf(sale, cart))
  expect(await record(sql, sale, batch, false)).toMatchObject([
    { verdict: 'recorded' },
    ...[1, 5, 3, 3].map((seat) => ({ verdict: 'seat_taken', seats: [seat] })),
    { verdict: 'recorded' },
    { verdict: 'no_stock' },
  ])
  const again = sql`insert into seat_claims (sale_id, seat_index, order_id) values (${sale}, 0, ${randomUUIDv7()})`
  await expect(again).rejects.toMatchObject({ code: '23505' })
})

test('what the box office sells has no limit of the sale, at either gate', async () => {
  const { sale, gate } = await openHall({ one: 1 })
  const terms = { ...TERMS, limit: 1, limits: { one: 1 } }
  await sql`update sales set limit_per_visitor = 1 where sale_id = ${sale}`
  for (const cart of [[units(3)], [seats(0, 1, 2)]]) {
    const r = { ...cartOf(sale, cart, 'ann'), isBoxOffice: true as const }
    expect(await gate.reserve(r, terms)).toMatchObject({ verdict: 'reserved' })
    expect(await gate.intents.find(r.order)).toMatchObject({ isBoxOffice: true })
    expect(await record(sql, sale, [r], false)).toMatchObject([{ verdict: 'recorded' }])
  }
  // The right is no name.
  const other = cartOf(sale, [units(2)], 'box office:bob')
  expect(await gate.reserve(other, terms)).toMatchObject({ verdict: 'limit' })
  expect(await record(sql, sale, [other], false)).toMatchObject([{ verdict: 'limit' }])
  await expectAgreement(sale, gate)
})

test('an order is stored with its lines, priced by the ledger', async () => {
  const { sale } = await openHall()
  const cart = cartOf(sale, [units(2), seats(7)])
  const plain = { ...reservationOf(sale), visitor: 'bob' }
  const [verdict] = await record(sql, sale, [cart, plain], false)
  const seat = { section: true, seat: 7, seat_id: 'S7', row: '1', number: '1' }
  const lines = [
    { product: 'one', name: 'One', quantity: 2, unit_price_minor: 1000 },
    { product: 'stalls', name: 'Stalls', quantity: 1, unit_price_minor: 2007, ...seat },
  ]
  expect(verdict).toMatchObject({ verdict: 'recorded', carts: { [cart.order]: lines } })
  const carts = async ({ order }: Reservation) => (await findOrders(sql, [order])).map((stored) => stored.cart)
  expect([await carts(cart), await carts(plain)]).toEqual([[lines], [null]])
  const totals = await sql`
    select order_total(unit_price_minor, quantity, cart, bill)::int as total from orders where sale_id = ${sale}
      order by 1`
  expect(totals).toEqual([{ total: 1000 }, { total: 4007 }])
})

/** Records what is only promised, as a worker does. */
const recordPromised = (sale: string, gate: Gate) => {
  const gates = { of: () => gate } as unknown as Gates
  return recordIntents({ sql, gates, metrics: createMetrics(), log: pino({ level: 'silent' }) }, sale, 0)
}

test('a worker records carts that were only promised, and gives back what the ledger refuses', async () => {
  const { sale, gate } = await openHall()
  const [kept, refused] = [cartOf(sale, [units(2), floor(1), seats(2, 3)]), cartOf(sale, [units(1), seats(4)])]
  for (const one of [kept, refused]) expect(await gate.reserve(one, TERMS)).toMatchObject({ verdict: 'reserved' })
  // The order is recorded by another origin that has no gate.
  const other = cartOf(sale, [seats(4)], 'ann')
  await record(sql, sale, [other], false)
  await gate.adopt(other, Date.now() + 60_000)
  await recordPromised(sale, gate)
  expect(await findOrders(sql, [kept.order])).toMatchObject([{ status: 'reserved', quantity: 5, cart: { length: 4 } }])
  expect(await findOrders(sql, [refused.order])).toMatchObject([{ status: 'cancelled', reason: 'seat_taken' }])
  expect(await gate.intents.count()).toBe(0)
  expect(differingSeats(await gate.seats(), bitsOf(await takenSeats(sql, sale)))).toEqual([])
  expect((await gate.stock())?.get('one')).toEqual({ available: 8, held: 2 })
})

test('what was only promised is recorded at the price that was promised, or given back', async () => {
  const { sale, gate } = await openHall()
  await addCode(sale, gate, 5)
  const bill = [{ kind: 'discount' as const, name: 'TEN', amount_minor: -100 }]
  const charge = { prices: [1_000], billed: { terms: 1, bill, shares: [900] } }
  const kept = { ...cartOf(sale, [units(1), TEN]), charge }
  const refused = { ...cartOf(sale, [units(1), TEN]), charge: { ...charge, prices: [999] } }
  for (const one of [kept, refused]) expect(await gate.reserve(one, TERMS)).toMatchObject({ verdict: 'reserved' })
  expect((await gate.intents.find(kept.order))?.charge).toEqual(charge)
  await recordPromised(sale, gate)
  const stored = { status: 'reserved', bill, cart: [{ share_minor: 900 }, {}] }
  expect(await findOrders(sql, [kept.order])).toMatchObject([stored])
  expect(await findOrders(sql, [refused.order])).toMatchObject([{ status: 'cancelled', reason: 'price_changed' }])
  await expectAgreement(sale, gate)
})

/** A step of a sale: a cart comes, or the nth order so far goes a step on, or the gate is rebuilt from the ledger. */
const cart = fc.record({
  one: fc.integer({ min: 0, max: 3 }),
  floor: fc.integer({ min: 0, max: 2 }),
  seats: fc.uniqueArray(fc.nat(SEATS - 1), { maxLength: 3 }),
  code: fc.boolean(),
})
const next = fc.constantFrom('expired' as const, 'cancelled' as const, 'confirmed' as const)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ visitor: fc.constantFrom('ann', 'bob', 'cid', 'dan'), cart }) },
  { weight: 3, arbitrary: fc.record({ order: fc.nat(30), to: next }) },
  { weight: 1, arbitrary: fc.constant('rebuild' as const) },
)
const EXACT_NAMES: Readonly<Record<string, string>> = { none: 'no_stock', reserved: 'recorded', product_limit: 'limit' }

test('whatever comes and goes, both gates agree on every count and every seat', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const { sale, gate } = await openHall()
      await addCode(sale, gate, 4, 2)
      const orders: string[] = []
      for (const one of steps) {
        if (one === 'rebuild') {
          await rebuild(sale, gate)
        } else if ('cart' in one) {
          const parts = [
            ...(one.cart.one ? [units(one.cart.one)] : []),
            ...(one.cart.floor ? [floor(one.cart.floor)] : []),
            ...(one.cart.seats.length > 0 ? [seats(...one.cart.seats)] : []),
          ]
          if (parts.length === 0) continue
          const r = cartOf(sale, one.cart.code ? [...parts, TEN] : parts, one.visitor)
          const fast = await gate.reserve(r, one.cart.code ? { ...TERMS, limits: { [TEN.product]: 2 } } : TERMS)
          const [exact] = await record(sql, sale, [r], false)
          expect(exact?.verdict).toBe(EXACT_NAMES[fast.verdict] ?? fast.verdict)
          if (exact?.verdict === 'recorded') orders.push(r.order)
        } else if (orders.length > 0) {
          const order = orders[one.order % orders.length] as string
          const from = one.to === 'confirmed' ? (['reserved'] as const) : (['reserved', 'confirmed'] as const)
          const [before] = await findOrders(sql, [order])
          const moved = await advanceOrders(sql, [{ order }], { from, to: one.to })
          // What was sold and is cancelled the gate learns by a rebuild, as in the origin.
          if (moved.length > 0 && before?.status === 'confirmed') await rebuild(sale, gate)
          else await gate.settle(moved.map(holdEnd))
        }
        await expectAgreement(sale, gate)
      }
    }),
    { numRuns: 15 },
  )
})
