import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIVE } from '../../shared/order-status.ts'
import { emptyDatabase, useDatabase } from '../../test/servers.ts'
import { isAway } from '../app.ts'
import { createMetrics } from '../lib/metrics.ts'
import { Sales } from '../sales/sales.ts'
import { recount } from '../stock/oversell.ts'
import { connect, prepare, type Queryable, type Sql } from './connection.ts'
import { note } from './findings.ts'
import { findByKeys, findOrder, moveOrders } from './orders.ts'
import { type Reservation, record } from './record.ts'
import { restock, writeSale } from './sales.ts'

const database = useDatabase()
let sql: Sql
beforeAll(async () => {
  await prepare(database.url)
  sql = connect(database.url)
})
afterAll(() => sql.end({ timeout: 1 }))

const PRODUCTS = ['one', 'two']

interface Asked {
  readonly visitor: string
  readonly key: string
  readonly product: string
  readonly quantity: number
  /** What comes is an earlier reservation, found again. */
  readonly again: number | null
}
type Step = { readonly batch: readonly Asked[]; readonly noteRefusals: boolean } | { readonly cancel: number }
interface Told {
  readonly verdict: string
  readonly order?: string | null
  readonly units?: number
}

interface ModelOrder {
  readonly order: string
  readonly visitor: string
  readonly key: string
  readonly product: string
  readonly began: 'reserved' | 'cancelled'
  /** What it was refused for, where that was noted. */
  readonly refusal?: string
  units: number
}

/** What the exact gate promises, said again in the plainest way. */
class Model {
  readonly limit: number
  readonly totals: ReadonlyMap<string, number>
  readonly orders: ModelOrder[] = []

  constructor(limit: number, totals: ReadonlyMap<string, number>) {
    this.limit = limit
    this.totals = totals
  }

  held(product: string): number {
    return this.orders.reduce((sum, o) => sum + (o.product === product ? o.units : 0), 0)
  }

  /**
   * Each hears what it would have heard alone, after those before it; a key that comes twice, what its first heard; what was
   * refused and noted, the same again.
   */
  record(batch: readonly Reservation[], noteRefusals: boolean): Told[] {
    const known = new Map(this.orders.map((o) => [`${o.visitor} ${o.key}`, o]))
    const heard = new Map<string, Told>()
    return batch.map((r): Told => {
      const key = `${r.visitor} ${r.key}`
      const first = known.get(key)?.order
      const noted = known.get(`${key} ${r.order}`)
      const refuse = (told: Told): Told => {
        // Under a key of its own, which leaves the key to others.
        const own = {
          key: `${r.key} ${r.order}`,
          began: 'cancelled',
          refusal: told.verdict,
          units: 0,
        } as const
        if (noteRefusals && !noted && first !== r.order) this.orders.push({ ...r, ...own })
        return told
      }
      if (first !== undefined) return refuse({ verdict: 'replay', order: first })
      const again = noted ? undefined : heard.get(key)
      if (again) return refuse(again)
      const live = this.orders.filter((o) => o.visitor === r.visitor && o.units > 0)
      const units = live.reduce((sum, o) => sum + o.units, 0)
      const verdict =
        noted?.refusal ??
        (units + r.quantity > this.limit
          ? 'limit'
          : this.held(r.product) + r.quantity > (this.totals.get(r.product) ?? 0)
            ? 'no_stock'
            : 'recorded')
      if (verdict === 'recorded') {
        this.orders.push({ ...r, began: 'reserved', units: r.quantity })
        heard.set(key, { verdict: 'replay', order: r.order })
        return { verdict }
      }
      const told =
        verdict === 'limit' ? { verdict, order: live.at(-1)?.order ?? null, units } : { verdict, order: null }
      if (!heard.has(key)) heard.set(key, told)
      return refuse(told)
    })
  }
}

const asked = fc.record({
  visitor: fc.constantFrom('ann', 'bob', 'cem', 'dee', 'eve', 'fay'),
  key: fc.constantFrom('k1', 'k2', 'k3'),
  product: fc.constantFrom(...PRODUCTS),
  quantity: fc.integer({ min: 1, max: 3 }),
  again: fc.option(fc.nat(20)),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      batch: fc.array(asked, { minLength: 1, maxLength: 6 }),
      noteRefusals: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ cancel: fc.nat(20) }) },
)

test('the exact gate gives every batch the answers of its model, and counts what it gave', async () => {
  let sales = 0
  const total = fc.integer({ min: 0, max: 8 })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.tuple(total, total),
      fc.array(step, { minLength: 1, maxLength: 8 }),
      async (limit, totals, steps) => {
        const sale = `model-${++sales}`
        const model = new Model(limit, new Map(PRODUCTS.map((p, i) => [p, totals[i] ?? 0])))
        await createSale(sale, model)
        const came: Reservation[] = []
        for (const one of steps) {
          if ('cancel' in one) {
            const given = model.orders.filter((o) => o.units > 0)
            const order = given[one.cancel % given.length]
            if (order) {
              await moveOrders(sql, [order.order], { from: ['reserved'], to: 'cancelled' })
              order.units = 0
            }
            continue
          }
          const reservations = one.batch.map(({ again, ...r }): Reservation => {
            const earlier = again === null ? undefined : came[again % came.length]
            return earlier ?? { ...r, ...identity(), sale }
          })
          const batch = [...new Set(reservations)]
          came.push(...batch)
          const told = await record(sql, sale, batch, one.noteRefusals)
          expect(
            told.map((one) => ({
              verdict: one.verdict,
              ...('order' in one && { order: one.order }),
              ...(one.verdict === 'limit' && { units: one.units }),
            })),
          ).toEqual(model.record(batch, one.noteRefusals))
        }
        expect(await ledgerOf(sale)).toEqual(
          PRODUCTS.map((p) => ({ product_id: p, held: model.held(p), live: model.held(p) })),
        )
        expect(await beginningsOf(sale)).toEqual(new Map(model.orders.map((o) => [o.order, o.began])))
      },
    ),
    { numRuns: 150 },
  )
})

test('who wants more than is left does not take those behind along', async () => {
  await createSale('large', new Model(4, new Map([['one', 3]])))
  const reservations = [4, 1, 1].map((quantity, i): Reservation => {
    const who = `visitor-${i}`
    return { ...identity(), sale: 'large', visitor: who, key: who, product: 'one', quantity }
  })
  const told = await record(sql, 'large', reservations, true)
  expect(told.map(({ verdict }) => verdict)).toEqual(['no_stock', 'recorded', 'recorded'])
})

test('who was told to ask for an order whose key has another finds it cancelled, once however often it is found', async () => {
  await createSale('noted', new Model(1, new Map([['one', 5]])))
  const [first, second] = [identity(), identity()].map(
    (own): Reservation => ({
      ...{ ...own, sale: 'noted', visitor: 'ann', key: 'k', product: 'one', quantity: 1 },
    }),
  ) as [Reservation, Reservation]
  await record(sql, 'noted', [first], false)
  for (let round = 0; round < 2; round++)
    expect(await record(sql, 'noted', [second, first], true)).toMatchObject(
      [first, first].map(({ order }) => ({ verdict: 'replay', order })),
    )
  expect(await findOrder(sql, second.order)).toMatchObject({ status: 'cancelled', reason: 'replay' })
  expect(await findOrder(sql, first.order)).toMatchObject({ status: 'reserved', reason: null })
  expect(await findByKeys(sql, [second])).toEqual([first.order])
})

test('what was refused and noted is refused as often as it is found, and its key is free for another call', async () => {
  await createSale('refused', new Model(1, new Map([['one', 1]])))
  const of = (visitor: string): Reservation => ({
    ...{ ...identity(), sale: 'refused', visitor, key: 'k', product: 'one', quantity: 1 },
  })
  const [sold, late, again] = [of('ann'), of('bob'), of('bob')]
  const told = async (r: Reservation) => (await record(sql, 'refused', [r], true))[0]?.verdict
  expect([await told(sold), await told(late)]).toEqual(['recorded', 'no_stock'])
  await moveOrders(sql, [sold.order], { from: ['reserved'], to: 'cancelled' })
  expect([await told(late), await told(again), await told(late)]).toEqual(['no_stock', 'recorded', 'replay'])
  expect(await findOrder(sql, late.order)).toMatchObject({ status: 'cancelled', reason: 'no_stock' })
  expect(await findByKeys(sql, [late])).toEqual([again.order])
})

test('while it is known that too many were sold, no end of an order and no new unit is sold before all have theirs', async () => {
  await createSale('oversold', new Model(1, new Map([['one', 12]])))
  const of = (visitor: string): Reservation => ({
    ...{ ...identity(), sale: 'oversold', visitor, key: 'k', product: 'one', quantity: 1 },
  })
  const all = Array.from({ length: 12 }, (_, i) => of(`visitor-${i}`))
  await record(sql, 'oversold', all, false)
  // As a backup would leave it, and then the reconciler: two more than there are, a row that is full, and a finding.
  await sql`update products set total = 10, held = 10 where sale_id = 'oversold' and product_id = 'one'`
  await note(sql, { sale: 'oversold', product: 'one', kind: 'oversold', units: 2 })
  const late = async (visitor: string) => (await record(sql, 'oversold', [of(visitor)], false))[0]?.verdict
  const end = (i: number) =>
    moveOrders(sql, [all[i]?.order ?? ''], { from: ['reserved'], to: 'cancelled', reason: 'given_back' })
  await end(0)
  expect(await late('first')).toBe('no_stock')
  await restock(sql, 'oversold', 'one', { quantity: 1, key: null, max: 100 })
  expect(await late('second')).toBe('no_stock')
  await end(1)
  expect(await late('third')).toBe('recorded')
  expect(await ledgerOf('oversold')).toMatchObject([{ held: 11, live: 11 }, {}])
})

test('an oversell that has ended is over only once the counters are right', async () => {
  await createSale('ended', new Model(1, new Map([['one', 10]])))
  const reservations = Array.from({ length: 10 }, (_, i): Reservation => {
    const who = `visitor-${i}`
    return { ...identity(), sale: 'ended', visitor: who, key: who, product: 'one', quantity: 1 }
  })
  await record(sql, 'ended', reservations, false)
  // As it is after the last order too many has ended: the row, which was full, has lost a unit that does not exist.
  await sql`update products set held = 9 where sale_id = 'ended' and product_id = 'one'`
  await note(sql, { sale: 'ended', product: 'one', kind: 'oversold', units: 1 })
  const findings = () =>
    sql`select 1 from findings where sale_id = 'ended' and kind = 'oversold' and closed_at is null`
  const log = pino({ level: 'silent' })
  const payments = { jobs: { addRefunds: async () => [] } }
  const deps = { sql, log, metrics: createMetrics(), sales: new Sales(sql), payments }
  const { recounted } = await sql.begin(async (tx) => {
    await tx`select 1 from products where sale_id = 'ended' for update`
    const recounted = recount(deps, 'ended', 'one')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await findings()).toHaveLength(1)
    return { recounted }
  })
  expect(await recounted).toMatchObject({ found: 'miscounted', healed: true })
  expect(await findings()).toHaveLength(0)
  expect(await ledgerOf('ended')).toMatchObject([{ held: 10, live: 10 }, {}])
})

test('what was recorded is told at the price that was written', async () => {
  await createSale('priced', new Model(2, new Map([['one', 5]])))
  await sql`update products set unit_price_minor = 1500, currency = 'CHF' where sale_id = 'priced' and product_id = 'one'`
  const of = (key: string): Reservation => ({
    ...{ ...identity(), sale: 'priced', visitor: 'ann', key, product: 'one', quantity: 1 },
  })
  for (const key of ['first', 'second']) {
    const [told] = await record(sql, 'priced', [of(key)], false)
    expect(told).toMatchObject({ prices: { one: { unit_price_minor: 1500, currency: 'CHF' } } })
  }
})

test('where others are in the way, or a standby answers, a caller is told to try again', async () => {
  for (const sale of ['here', 'there']) await createSale(sale, new Model(1, new Map([['one', 5]])))
  const change = (tx: Queryable, sale: string) => tx`update sales set name = 'x' where sale_id = ${sale}`
  const codes: unknown[] = []
  const fails = (work: Promise<unknown>) => work.catch((error) => codes.push([error.code, isAway(error)]))
  await sql.begin(async (tx) => {
    await change(tx, 'here')
    await fails(Promise.resolve(sql`select 1 from sales where sale_id = 'here' for update nowait`))
  })
  await fails(sql.begin('read only', (tx) => change(tx, 'here')))
  await fails(
    sql.begin('isolation level repeatable read', async (tx) => {
      await tx`select 1`
      await change(sql, 'here')
      await change(tx, 'here')
    }),
  )
  const both = (one: string, other: string) =>
    sql.begin(async (tx) => {
      await change(tx, one)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await change(tx, other)
    })
  await Promise.all([fails(both('here', 'there')), fails(both('there', 'here'))])
  expect(codes).toEqual(['55P03', '25006', '40001', '40P01'].map((code) => [code, true]))
})

test('what is asked of it keeps to the indexes, though it was planned while the tables were empty', async () => {
  await createSale('planned', new Model(1, new Map([['one', 10_000]])))
  await sql`truncate orders, order_events`
  await sql`vacuum analyze`
  const readWhole = await rowsReadWhole()
  const fresh = connect(database.url)
  for (let round = 0; round < 8; round++) {
    const batch = Array.from({ length: 100 }, (_, i): Reservation => {
      const who = `${round}-${i}`
      return { ...identity(), sale: 'planned', visitor: who, key: who, product: 'one', quantity: 1 }
    })
    await record(fresh, 'planned', batch, false)
    // Some come again, which is the other way through the function.
    await record(fresh, 'planned', batch.slice(0, 5), true)
    await findByKeys(fresh, batch)
    await findOrder(fresh, batch[0]?.order ?? '')
    const some = batch.slice(0, 50).map((r) => r.order)
    await moveOrders(fresh, some, { from: ['reserved'], to: 'cancelled' })
  }
  await fresh.end()
  expect(await rowsReadWhole()).toBe(readWhole)
})

test('orders are vacuumed by how many have changed, however many there ever were', async () => {
  const [table] = await sql`select reloptions from pg_class where oid = 'orders'::regclass`
  expect(table?.reloptions).toEqual([
    'autovacuum_vacuum_scale_factor=0',
    'autovacuum_vacuum_threshold=10000',
    'autovacuum_analyze_scale_factor=0',
    'autovacuum_analyze_threshold=10000',
  ])
})

test('a ledger that a version before has written is brought up to date, and that version still finds its function', async () => {
  const before = await emptyDatabase()
  await prepare(before.url)
  const old = connect(before.url, 1)
  const callOld = () => old`
    select recorded, others from record_reservations('any', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', false)`
  // As it was before it told prices.
  await old.unsafe(`
    create function record_reservations(
      text, uuid[], text[], text[], bigint[], int[], text[], text[], text[], boolean,
      out recorded int, out others jsonb, out created_at timestamptz, out reserved_until timestamptz
    ) language sql begin atomic select 0, null::jsonb, now(), now(); end`)
  await expect(prepare(before.url)).resolves.toBeUndefined()
  await expect(callOld()).resolves.toMatchObject([{ recorded: 0, others: null }])
  await old.end()
  await before.drop()
})

/** Rows of the large tables that were read by going through all of them; as told by connections that have ended. */
async function rowsReadWhole(): Promise<number> {
  const [row] = await sql`
    select pg_stat_clear_snapshot(), sum(seq_tup_read)::int as rows
    from pg_stat_user_tables where relname in ('orders', 'order_events')`
  return row?.rows
}

let orders = 0
const identity = () => ({
  order: `00000000-0000-7000-8000-${String(++orders).padStart(12, '0')}`,
  number: orders,
  hash: 'hash',
  method: null,
})

async function createSale(sale: string, { limit, totals }: Model): Promise<void> {
  const at = new Date().toISOString()
  await writeSale(sql, sale, {
    name: sale,
    opens_at: at,
    ends_at: null,
    pre_queue_opens_at: null,
    hold_seconds: 60,
    limit_per_visitor: limit,
    oversell_policy: 'cancel_latest',
    admission: { rate_per_second: 1, max_inside: null },
    products: PRODUCTS.map((product_id) => ({
      ...{ product_id, name: product_id, unit_price_minor: 100, currency: 'EUR' },
      total: totals.get(product_id) ?? 0,
    })),
  })
}

const ledgerOf = async (sale: string) => [
  ...(await sql`
    select p.product_id, p.held, (
      select coalesce(sum(o.quantity), 0)::int from orders o
      where o.sale_id = p.sale_id and o.product_id = p.product_id and o.status = any(${[...LIVE]})) as live
    from products p where p.sale_id = ${sale} order by p.place`),
]

/** How each order of a sale began, as its event stream tells it. */
const beginningsOf = async (sale: string): Promise<Map<string, string>> => {
  const rows = await sql<{ order_id: string; held: boolean }[]>`
    select order_id, reserved_until > created_at as held from orders where sale_id = ${sale}`
  return new Map(rows.map((row) => [row.order_id, row.held ? 'reserved' : 'cancelled']))
}
