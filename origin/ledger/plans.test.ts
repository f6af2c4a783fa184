/**
 * Queries of one sale read its orders once and no others in a ledger with many, with and without table statistics: a
 * young sale or a restored ledger has none.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { ledgerDatabase, useLedger } from '../../test/lib/servers.ts'
import { firstOrders, orderFigures } from '../report/report-queries.ts'
import { markLongOver, readSales, writeSale } from '../sales/sale-queries.ts'
import { countOrders, ordersOf, readBeside } from '../stock/reconciliation-queries.ts'
import { connect } from './connection.ts'
import { buyersOf, EXPORT_PAGE, exportPages, findByKeys, findOrder, moveOrders } from './order-statements.ts'
import { record } from './record.ts'

const BEFORE = 20_000
const OF_SALE = 12_000

describe.each([
  ['without statistics', false],
  ['with statistics', true],
])('in a ledger %s', async (_, isAnalyzed) => {
  const sql = await useLedger(1)
  beforeAll(async () => {
    // A vacuum or a parallel worker would also read the table, so both are off.
    await sql`alter table orders set (autovacuum_enabled = off)`
    await sql`set max_parallel_workers_per_gather = 0`
    await writeSale(sql, 'young', saleOf(OF_SALE))
    await sql`
      insert into orders (order_id, number, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor,
        currency, status, idempotency_key, request_hash, reserved_until)
      select lpad(to_hex(i), 32, '0')::uuid, number, case when i > ${BEFORE} then 'young' else 'old' end, 'one',
        md5(i::text), i, 1, 1000, 'EUR', 'confirmed', 'k', 'h', now()
      from unnest(next_order_numbers(${BEFORE + OF_SALE})) with ordinality n (number, i)`
    if (isAnalyzed) await sql`analyze orders`
  })

  /** The number of orders read by `what`. */
  async function reads(what: () => Promise<unknown>): Promise<number> {
    const soFar = async () => {
      await sql`select pg_stat_force_next_flush()`
      const [row] = await sql<{ read: number }[]>`
        select seq_tup_read + idx_tup_fetch as read from pg_stat_user_tables where relname = 'orders'`
      return row?.read ?? 0
    }
    const before = await soFar()
    await what()
    return (await soFar()) - before
  }

  test('a gate rebuild reads the orders of the sale once', async () => {
    const restored = new Set<string>()
    const read = await reads(() =>
      sql.begin(async (tx) => {
        for await (const orders of ordersOf(tx, 'young')) for (const { order } of orders) restored.add(order)
      }),
    )
    expect([restored.size, read]).toEqual([OF_SALE, OF_SALE])
  })

  test('a comparison with the gate reads no order that holds nothing', async () => {
    expect(await reads(() => readBeside(sql, 'young', [], []))).toBe(0)
  })

  test('each page of an export reads its own orders only', async () => {
    const exported = new Set<string>()
    const pages = exportPages(sql, 'young')
    for (let page = 0; page < OF_SALE / EXPORT_PAGE; page++) {
      const read = await reads(async () => {
        for (const { order_id } of (await pages.next()).value ?? []) exported.add(order_id)
      })
      expect(read).toBe(EXPORT_PAGE)
    }
    expect(exported.size).toBe(OF_SALE)
  })

  test.each<[string, () => Promise<unknown>]>([
    ['a count of a product', () => countOrders(sql, { sale: 'young', product: 'one' })],
    ['the figures of a report', () => orderFigures(sql, 'young')],
    ['who was served when in a report', () => firstOrders(sql, 'young', 'public', 1)],
  ])('%s reads the orders of its sale once', async (_, what) => {
    expect(await reads(what)).toBe(OF_SALE)
  })

  test('the list of buyers reads the orders of the sale once', async () => {
    const all: string[] = []
    const read = await reads(async () => {
      for await (const some of buyersOf(sql, 'young')) all.push(...some)
    })
    expect(all).toHaveLength(OF_SALE)
    expect(read).toBeLessThanOrEqual(OF_SALE)
  })

  test('a change of a sale reads no orders, even if a product has none', async () => {
    const [one] = saleOf(OF_SALE).products
    if (!one) throw new Error('no product')
    const config = saleOf(OF_SALE, { products: [one, { ...one, product_id: 'two' }] })
    await writeSale(sql, 'young', config)
    expect(await reads(() => writeSale(sql, 'young', config))).toBe(0)
    expect(await writeSale(sql, 'young', saleOf(OF_SALE))).toBe('changed')
    const without = writeSale(sql, 'young', { ...config, products: config.products.slice(1) })
    await expect(without).rejects.toThrow('one has orders and cannot be removed')
  })
})

test('statements keep to the indexes, even if they were planned while the tables were empty', async () => {
  const database = await ledgerDatabase()
  const [sql, fresh] = [connect(database.url), connect(database.url)]
  /** Rows read by sequential scans, as reported by connections that have ended. */
  const rowsScanned = async () => {
    const [row] = await sql`
      select pg_stat_clear_snapshot(), sum(seq_tup_read)::int as rows
      from pg_stat_user_tables where relname in ('orders', 'events')`
    return row?.rows
  }
  await writeSale(sql, 'planned', saleOf(10_000))
  await sql`vacuum analyze`
  const before = await rowsScanned()
  for (let round = 0; round < 8; round++) {
    const batch = Array.from({ length: 100 }, (_, i) => ({ ...reservationOf('planned'), visitor: `${round}-${i}` }))
    await record(fresh, 'planned', batch, false)
    // Repeats take the slow path of the function.
    await record(fresh, 'planned', batch.slice(0, 5), true)
    await findByKeys(fresh, batch)
    await findOrder(fresh, batch[0]?.order ?? '')
    const some = batch.slice(0, 50).map((r) => r.order)
    await moveOrders(fresh, some, { from: ['reserved'], to: 'cancelled' })
  }
  await fresh.end()
  expect(await rowsScanned()).toBe(before)
  await sql.end({ timeout: 1 })
})

test('the sales in use are read without those long over, and what is changed comes back', async () => {
  const database = await ledgerDatabase()
  const sql = connect(database.url, 1)
  // Postgres may analyze by itself: that keeps the vacuum below from cleaning, and the statistics are older than the
  // mark.
  for (const table of ['sales', 'products']) await sql`alter table ${sql(table)} set (autovacuum_enabled = off)`
  const ids = ['one', 'two', 'three']
  for (const id of ids) await writeSale(sql, id, saleOf(5))
  await sql`insert into sales (sale_id, name, opens_at, ends_at, hold_seconds, limit_per_visitor, rate_per_second,
    oversell_policy)
    select 'ended-' || i, 'Ended', now(), now() - interval '2 days', 60, 1, 1, 'alarm' from generate_series(1, 20000) i`
  await sql`insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, held)
    select sale_id, 'one', 0, 'One', 100, 'EUR', 5, (sale_id = 'ended-7')::int from sales where sale_id like 'ended-%'`
  expect(await markLongOver(sql)).toHaveLength(19_999)
  const read = async () => {
    const [row] = await sql`
      select pg_stat_force_next_flush(), pg_stat_clear_snapshot(), sum(seq_tup_read + idx_tup_fetch)::int as rows
      from pg_stat_user_tables where relname in ('sales', 'products')`
    return row?.rows
  }
  // What was just changed is in the index until it is cleaned, which waits for all who read the database: Postgres
  // itself may.
  const readRows = async () => {
    await sql`vacuum analyze sales`
    const before = await read()
    await readSales(sql, ['ended-8'])
    return (await read()) - before
  }
  await expect.poll(readRows).toBeLessThan(50)
  const { sales } = await readSales(sql, ['ended-8'])
  expect(sales.map(({ sale_id, in_use }) => [sale_id, in_use]).sort()).toEqual([
    ['ended-7', true],
    ['ended-8', false],
    ...['one', 'three', 'two'].map((id) => [id, true]),
  ])
  expect(await markLongOver(sql)).toEqual([])
  await writeSale(sql, 'ended-9', saleOf(5))
  expect((await readSales(sql, [])).sales.map(({ sale_id }) => sale_id)).toContain('ended-9')
  await sql.end({ timeout: 1 })
})
