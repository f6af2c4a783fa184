import { randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { LIVE } from '../../shared/api/order-status.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { untilLocked, useLedger, useRedis } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { note } from '../findings/finding-queries.ts'
import { restock } from '../sales/restock.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Sales } from '../sales/sales.ts'
import { Gate } from '../stock/gate/gate.ts'
import { recount } from '../stock/oversell.ts'
import { defineScripts } from '../stock/scripts.ts'
import { findByKeys, moveOrders } from './order-statements.ts'
import { type RecordVerdict, type Reservation, record } from './record.ts'

const sql = await useLedger()
const redisServer = useRedis()
const PRODUCTS = ['one', 'two']

interface Request {
  readonly visitor: string
  readonly key: string
  readonly product: string
  readonly quantity: number
  /** Repeats an earlier reservation, as an intent that is read again. */
  readonly repeats: number | null
}
type Step = { readonly batch: readonly Request[]; readonly noteRefusals: boolean } | { readonly cancel: number }
interface Verdict {
  readonly verdict: string
  readonly order?: string | null
  readonly units?: number
}

interface ModelOrder {
  readonly order: string
  readonly visitor: string
  readonly key: string
  readonly product: string
  /** The verdict of a noted refusal. */
  readonly refusal: string | null
  units: number
}

/** The exact gate's promises in their simplest form. */
class Model {
  readonly limit: number
  /** Units by product, without its buffer. */
  readonly forSale: ReadonlyMap<string, number>
  readonly orders: ModelOrder[] = []

  constructor(limit: number, forSale: ReadonlyMap<string, number>) {
    this.limit = limit
    this.forSale = forSale
  }

  held(product: string): number {
    return this.orders.reduce((sum, o) => sum + (o.product === product ? o.units : 0), 0)
  }

  /**
   * Each reservation gets the verdict that it would get alone, after those before it. A key that comes twice gets its
   * first verdict, and a noted refusal repeats itself.
   */
  record(batch: readonly Reservation[], noteRefusals: boolean): Verdict[] {
    const known = new Map(this.orders.map((o) => [`${o.visitor} ${o.key}`, o]))
    const verdicts = new Map<string, Verdict>()
    const before = this.orders.length
    const results = batch.map((r): Verdict => {
      const key = `${r.visitor} ${r.key}`
      const first = known.get(key)?.order
      const noted = known.get(`${key} ${r.order}`)
      const refuse = (refusal: Verdict): Verdict => {
        // Under a key of its own, so the key stays free.
        const own = { key: `${r.key} ${r.order}`, refusal: refusal.verdict, units: 0 }
        if (noteRefusals && !noted && first !== r.order) this.orders.push({ ...r, ...own })
        return refusal
      }
      if (first !== undefined) return refuse({ verdict: 'replay', order: first })
      const earlier = noted ? undefined : verdicts.get(key)
      if (earlier) return refuse(earlier)
      const live = this.orders.filter((o) => o.visitor === r.visitor && o.units > 0)
      const units = live.reduce((sum, o) => sum + o.units, 0)
      const verdict =
        noted?.refusal ??
        (units + r.quantity > this.limit
          ? 'limit'
          : this.held(r.product) + r.quantity > (this.forSale.get(r.product) ?? 0)
            ? 'no_stock'
            : 'recorded')
      if (verdict === 'recorded') {
        this.orders.push({ ...r, refusal: null, units: r.quantity })
        verdicts.set(key, { verdict: 'replay', order: r.order })
        return { verdict }
      }
      const refusal =
        verdict === 'limit' ? { verdict, order: live.at(-1)?.order ?? null, units } : { verdict, order: null }
      if (!verdicts.has(key)) verdicts.set(key, refusal)
      return refuse(refusal)
    })
    // The orders of a batch have the same time: to later batches the highest id is the latest.
    this.orders.push(...this.orders.splice(before).sort((a, b) => a.order.localeCompare(b.order)))
    return results
  }
}

const request = fc.record({
  visitor: fc.constantFrom('ann', 'bob', 'cem', 'dee', 'eve', 'fay'),
  key: fc.constantFrom('k1', 'k2', 'k3'),
  product: fc.constantFrom(...PRODUCTS),
  quantity: fc.integer({ min: 1, max: 3 }),
  repeats: fc.option(fc.nat(20)),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ batch: fc.array(request, { minLength: 1, maxLength: 6 }), noteRefusals: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ cancel: fc.nat(20) }) },
)

test('gives every batch the verdicts of the model, and counts what it recorded', async () => {
  let sales = 0
  const units = fc.integer({ min: 0, max: 8 })
  const buffer = fc.integer({ min: 0, max: 2 })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.tuple(units, units),
      fc.tuple(buffer, buffer),
      fc.array(step, { minLength: 1, maxLength: 8 }),
      async (limit, forSale, buffers, steps) => {
        const sale = `model-${++sales}`
        const model = new Model(limit, new Map(PRODUCTS.map((p, i) => [p, forSale[i] ?? 0])))
        await createSale(sale, limit, forSale, buffers)
        const earlier: Reservation[] = []
        for (const one of steps) {
          if ('cancel' in one) {
            const live = model.orders.filter((o) => o.units > 0)
            const order = live[one.cancel % live.length]
            if (order) {
              await moveOrders(sql, [order.order], { from: ['reserved'], to: 'cancelled' })
              order.units = 0
            }
            continue
          }
          const reservations = one.batch.map(({ repeats, ...r }): Reservation => {
            const repeated = repeats === null ? undefined : earlier[repeats % earlier.length]
            return repeated ?? { ...reservationOf(sale), ...r }
          })
          const batch = [...new Set(reservations)]
          earlier.push(...batch)
          const verdicts = await record(sql, sale, batch, one.noteRefusals)
          expect(
            verdicts.map((one) => ({
              verdict: one.verdict,
              ...('order' in one && { order: one.order }),
              ...(one.verdict === 'limit' && { units: one.units }),
            })),
          ).toEqual(model.record(batch, one.noteRefusals))
        }
        expect(await countersOf(sale)).toEqual(
          PRODUCTS.map((p) => ({ product_id: p, held: model.held(p), live: model.held(p) })),
        )
        expect(await refusalsOf(sale)).toEqual(new Map(model.orders.map((o) => [o.order, o.refusal])))
        const byKey = new Map(model.orders.map((o) => [`${o.visitor} ${o.key}`, o.order]))
        const found = earlier.map((r) => byKey.get(`${r.visitor} ${r.key}`) ?? null)
        expect(await findByKeys(sql, earlier)).toEqual(found)
      },
    ),
    { numRuns: 30 },
  )
})

test('sells no unit of an oversold product before all live orders have theirs', async () => {
  await createSale('oversold', 1, [12])
  const batch = Array.from({ length: 12 }, (_, i) => reservation('oversold', `visitor-${i}`))
  await record(sql, 'oversold', batch, false)
  // This is the state after a restore and a recount: two orders too many, a full row, and a finding.
  await sql`update products set total = 10, held = 10 where sale_id = 'oversold' and product_id = 'one'`
  await note(sql, { sale: 'oversold', product: 'one', kind: 'oversold', units: 2 })
  const late = async (visitor: string) =>
    (await record(sql, 'oversold', [reservation('oversold', visitor)], false))[0]?.verdict
  const cancel = (i: number) =>
    moveOrders(sql, [batch[i]?.order ?? ''], { from: ['reserved'], to: 'cancelled', reason: 'given_back' })
  await cancel(0)
  expect(await late('first')).toBe('no_stock')
  await restock(sql, 'oversold', 'one', { quantity: 1, key: null, max: 100 })
  expect(await late('second')).toBe('no_stock')
  await cancel(1)
  expect(await late('third')).toBe('recorded')
  expect(await countersOf('oversold')).toMatchObject([{ held: 11, live: 11 }, {}])
})

test('closes the finding of an oversell only once the counters are right', async () => {
  await createSale('ended', 1, [10])
  const batch = Array.from({ length: 10 }, (_, i) => reservation('ended', `visitor-${i}`))
  await record(sql, 'ended', batch, false)
  // This is the state after the last order too many ended: the full row has lost a unit that does not exist.
  await sql`update products set held = 9 where sale_id = 'ended' and product_id = 'one'`
  await note(sql, { sale: 'ended', product: 'one', kind: 'oversold', units: 1 })
  const findings = () => sql`select 1 from findings where sale_id = 'ended' and kind = 'oversold' and closed_at is null`
  const log = pino({ level: 'silent' })
  const refunds = { addRefunds: async () => [] }
  const deps = { sql, log, metrics: createMetrics(), sales: new Sales(sql), refunds }
  const { recounted } = await sql.begin(async (tx) => {
    await tx`select 1 from products where sale_id = 'ended' for update`
    const recounted = recount(deps, { sale: 'ended', product: 'one' })
    await untilLocked(sql)
    expect(await findings()).toHaveLength(1)
    return { recounted }
  })
  expect(await recounted).toMatchObject({ found: 'miscounted', healed: true })
  expect(await findings()).toHaveLength(0)
  expect(await countersOf('ended')).toMatchObject([{ held: 10, live: 10 }, {}])
})

test.each([
  ['takes no unit that another transaction takes first', 1, 'no_stock', 2],
  ['takes the unit that another transaction gives back first', -1, 'recorded', 2],
])('%s', async (name, heldBefore, verdict, held) => {
  const sale = `waits-${verdict}`
  await createSale(sale, 1, [2, 5])
  await sql`update products set held = ${heldBefore === 1 ? 1 : 2} where sale_id = ${sale} and product_id = 'one'`
  const waiting = await sql.begin(async (tx) => {
    await tx`update products set held = held + ${heldBefore} where sale_id = ${sale} and product_id = 'one'`
    const recorded = record(sql, sale, [reservation(sale, name)], false)
    await untilLocked(sql)
    return { recorded }
  })
  expect(await waiting.recorded).toMatchObject([{ verdict }])
  expect(await countersOf(sale)).toMatchObject([{ held }, { held: 0 }])
})

test('counts against a visitor the orders that they gave up, however long ago, and no others', async () => {
  await createSale('squatted', 1, [10, 10])
  const ask = async (visitor: string, demand: number[], noteRefusals = false) => {
    const r = { ...reservation('squatted', visitor), key: randomUUIDv7() }
    const [verdict] = await record(sql, 'squatted', [r], noteRefusals, demand)
    return { order: r.order, ...(verdict as RecordVerdict) }
  }
  const churn = async (visitor: string, reason: string) => {
    const { order, verdict } = await ask(visitor, [])
    expect(verdict).toBe('recorded')
    await moveOrders(sql, [order ?? ''], { from: ['reserved'], to: 'cancelled', reason })
  }
  for (const reason of ['oversold', 'payment_timeout', 'no_stock', 'blocked', 'by_shop']) await churn('ann', reason)
  // The first decline is no squatter's order.
  await churn('ann', 'declined: no_funds')
  for (const reason of ['declined: no_funds', 'declined', 'given_back', 'not_authenticated']) await churn('bob', reason)
  await sql`update orders set updated_at = now() - interval '1 day' where sale_id = 'squatted' and visitor = 'bob'`
  for (const isNoted of [false, true])
    expect(await ask('bob', [10], isNoted)).toMatchObject({ verdict: 'unpaid', unpaid: 3 })
  expect(await ask('ann', [10])).toMatchObject({ verdict: 'recorded' })
})

test('decides as the fast gate does who comes first', async () => {
  const redis = defineScripts(new Redis(redisServer.url))
  onTestFinished(() => redis.disconnect())
  const gate = new Gate(redis, 'alike')
  const reserved = (times: number) => ({ ...reservation('alike', `${times}`), key: randomUUIDv7() })
  await createSale('alike', 1, [9])
  const failed = [0, 1, 2, 3, 4]
  for (const times of failed) {
    for (let i = 0; i < times; i++) {
      const r = reserved(times)
      await record(sql, 'alike', [r], false)
      await moveOrders(sql, [r.order], { from: ['reserved'], to: 'expired' })
    }
    if (times > 0) await gate.learnUnpaid(`${times}`, times)
  }
  const alike = async (times: number, left: number, demand: number[]) => {
    const r = reserved(times)
    await (await gate.fence()).open([{ product: 'one', available: left, held: 0 }])
    await sql`update products set held = total - ${left} where sale_id = 'alike' and product_id = 'one'`
    const fast = await gate.reserve(r, { holdMs: 60_000, limit: 1, demand })
    const [exact] = await record(sql, 'alike', [r], false, demand)
    await moveOrders(sql, [r.order], { from: ['reserved'], to: 'cancelled', reason: 'oversold' })
    const nameOf = { reserved: 'recorded', none: 'no_stock' } as Record<string, string>
    const said = { verdict: nameOf[fast.verdict] ?? fast.verdict, unpaid: 'unpaid' in fast ? fast.unpaid : 0 }
    expect(said).toEqual({ verdict: exact?.verdict, unpaid: exact && 'unpaid' in exact ? exact.unpaid : 0 })
    const first = demand[Math.min(times, demand.length) - 1] ?? 0
    expect(said.verdict).toBe(left === 0 ? 'no_stock' : left - 1 < first ? 'unpaid' : 'recorded')
  }
  for (const demand of [[], [0], [2], [0, 2], [1, 2, 3], [0, 0, 3]])
    for (const times of failed) for (let left = 0; left < 4; left++) await alike(times, left, demand)
})

test('returns the prices as written', async () => {
  await createSale('priced', 2, [5])
  await sql`update products set unit_price_minor = 1500, currency = 'CHF' where sale_id = 'priced'
    and product_id = 'one'`
  for (const key of ['first', 'second']) {
    const [verdict] = await record(sql, 'priced', [{ ...reservation('priced', 'ann'), key }], false)
    expect(verdict).toMatchObject({ prices: { one: { unit_price_minor: 1500, currency: 'CHF' } } })
  }
})

/** Numbers of the orders that follow one another from that count on, under a key. */
async function numbersFrom(count: number, many: number, key: string): Promise<readonly number[]> {
  const rows = await sql<{ number: string }[]>`
    select order_number(n, uuid_send(${key}::uuid)) as number
      from generate_series(${count}::bigint, ${count + many - 1}::bigint) n`
  return rows.map(({ number }) => Number(number))
}

test('an order number says how many came before to those alone who have the key of the ledger', async () => {
  const [few, many] = [2 ** 30, 2_000]
  const [key, another] = [randomUUIDv7(), randomUUIDv7()]
  const [first, later] = [await numbersFrom(1, many, key), await numbersFrom(few, many, key)]
  expect([new Set(first).size, new Set(later).size]).toEqual([many, many])
  expect([Math.max(...first) < few, Math.min(...later) >= few, Math.max(...later) < 2 ** 40]).toEqual([
    true,
    true,
    true,
  ])
  // Neither neighbours nor the same count of another ledger have anything in common.
  expect(new Set(first.map((number, i) => number - (first[i - 1] ?? 0))).size).toBeGreaterThan(many - 10)
  const elsewhere = await numbersFrom(1, many, another)
  expect(first.filter((number, i) => number === elsewhere[i]).length).toBeLessThan(10)

  await createSale('numbered', 1, [10])
  const batch = ['ann', 'bob', 'cid'].map((visitor) => reservation('numbered', visitor))
  const [recorded] = await record(sql, 'numbered', batch, false)
  const [row] = await sql<{ key: string; last: string }[]>`
    select key, last_value as last from order_number_key, orders_number_seq`
  const expected = await numbersFrom(Number(row?.last) - 2, 3, row?.key ?? '')
  expect(batch.map(({ order }) => recorded?.verdict === 'recorded' && recorded.numbers[order])).toEqual(expected)
})

const reservation = (sale: string, visitor: string): Reservation => ({ ...reservationOf(sale), visitor })

async function createSale(sale: string, limit: number, forSale: readonly number[], buffers: readonly number[] = []) {
  const products = PRODUCTS.map((product_id, i) => ({
    product_id,
    name: product_id,
    unit_price_minor: 100,
    currency: 'EUR',
    total: (forSale[i] ?? 0) + (buffers[i] ?? 0),
    buffer: buffers[i] ?? 0,
  }))
  await writeSale(sql, sale, saleOf(0, { limit_per_visitor: limit, products }))
}

const countersOf = async (sale: string) => [
  ...(await sql`
    select p.product_id, p.held, (
      select coalesce(sum(o.quantity), 0)::int from orders o
      where o.sale_id = p.sale_id and o.product_id = p.product_id and o.status = any(${[...LIVE]})) as live
    from products p where p.sale_id = ${sale} order by p.place`),
]

/** The verdict of each noted refusal, which has no hold; null for each order that began as reserved. */
const refusalsOf = async (sale: string): Promise<Map<string, string | null>> => {
  const rows = await sql<{ order_id: string; held: boolean; reason: string | null }[]>`
    select order_id, reserved_until > created_at as held, reason from orders where sale_id = ${sale}`
  return new Map(rows.map(({ order_id, held, reason }) => [order_id, held ? null : reason]))
}

const productOf = (product_id: string) => ({
  product_id,
  name: product_id,
  unit_price_minor: 1000,
  currency: 'EUR',
  total: 100,
  buffer: 0,
})

test('each order has the source of its visitor, whichever path records it', async () => {
  const sale = 'sources'
  await writeSale(sql, sale, saleOf(100, { products: PRODUCTS.map(productOf) }))
  const one = (visitor: string, product: string, source?: string): Reservation => ({
    ...reservationOf(sale),
    visitor,
    product,
    ...(source && { source }),
  })
  const cart = [{ product: 'one', quantity: 1 }]
  const again = { ...one('eve', 'one', 'again'), key: 'another' }
  const batches: Reservation[][] = [
    [one('ann', 'one', 'ads'), one('bob', 'one')],
    [one('cid', 'one', 'mail'), one('dan', 'two', 'blog post')],
    [
      { ...one('eve', 'one', 'shop'), cart },
      { ...one('fay', 'two'), cart },
    ],
    [again, one('gus', 'two', 'late')],
    [
      { ...again, order: randomUUIDv7(), key: 'third', cart },
      { ...one('hal', 'two', 'cart'), cart },
    ],
  ]
  for (const batch of batches) await record(sql, sale, batch, true)
  const rows =
    await sql`select visitor, source, status from orders where sale_id = ${sale} order by visitor, created_at`
  expect(rows.map(({ visitor, source, status }) => [visitor, source, status].join(' '))).toEqual([
    'ann ads reserved',
    'bob  reserved',
    'cid mail reserved',
    'dan blog post reserved',
    'eve shop reserved',
    'eve again cancelled',
    'eve again cancelled',
    'fay  reserved',
    'gus late reserved',
    'hal cart reserved',
  ])
})
