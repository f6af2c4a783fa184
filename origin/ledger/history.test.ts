/**
 * A ledger with a history: what reads a sale reads its orders, each once, and those of no other sale; whether Postgres has
 * counted what there is or not, since it has not when a sale is young, or the ledger was restored.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { saleOf } from '../../test/origin-process.ts'
import { useDatabase } from '../../test/servers.ts'
import { PAGE, readPage } from '../http/export.ts'
import { count } from '../stock/oversell.ts'
import { liveOrdersOf } from '../stock/reconciler.ts'
import { connect, prepare, type Sql } from './connection.ts'
import { buyersOf } from './orders.ts'
import { writeSale } from './sales.ts'

const BEFORE = 20_000
const OF_SALE = 12_000

describe.each([
  ['that nobody has counted', false],
  ['that is counted', true],
])('of a ledger %s', (_, isCounted) => {
  const database = useDatabase()
  let sql: Sql
  beforeAll(async () => {
    await prepare(database.url)
    sql = connect(database.url, 1)
    // Nobody else reads: no vacuum, and no process that counts what it has read when it ends.
    await sql`alter table orders set (autovacuum_enabled = off)`
    await sql`set max_parallel_workers_per_gather = 0`
    await writeSale(sql, 'young', saleOf(OF_SALE))
    await sql`
      insert into orders (order_id, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor, currency,
                          status, idempotency_key, request_hash, reserved_until)
      select lpad(to_hex(i), 32, '0')::uuid, case when i > ${BEFORE} then 'young' else 'old' end, 'one', md5(i::text), i, 1,
        1000, 'EUR', 'confirmed', 'k', 'h', now()
      from generate_series(1, ${BEFORE + OF_SALE}) i`
    if (isCounted) await sql`analyze orders`
  })
  afterAll(() => sql.end({ timeout: 1 }))

  /** How many orders were read by the way. */
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

  test('a gate that is rebuilt reads the live orders of its sale once', async () => {
    const live = new Set<string>()
    const read = await reads(() =>
      sql.begin(async (tx) => {
        for await (const orders of liveOrdersOf(tx, 'young', 'one'))
          for (const { order } of orders) live.add(order)
      }),
    )
    expect([live.size, read]).toEqual([OF_SALE, OF_SALE])
  })

  test('each page of an export reads what is in it', async () => {
    const exported = new Set<string>()
    let after = { visitor: '', idempotency_key: '' }
    for (let pages = 0; pages < OF_SALE / PAGE; pages++) {
      const read = await reads(async () => {
        const orders = await sql.begin((tx) => readPage(tx, 'young', after))
        for (const { order_id } of orders) exported.add(order_id)
        after = orders.at(-1) ?? after
      })
      expect(read).toBe(PAGE)
    }
    expect(exported.size).toBe(OF_SALE)
  })

  test('a count of the orders of a product reads those of its sale once', async () => {
    expect(await reads(() => count(sql, 'young', 'one'))).toBe(OF_SALE)
  })

  test('who has had an order of a sale is known by reading those of the sale once', async () => {
    const all: string[] = []
    const read = await reads(async () => {
      for await (const some of buyersOf(sql, 'young')) all.push(...some)
    })
    expect(all).toHaveLength(OF_SALE)
    expect(read).toBeLessThanOrEqual(OF_SALE)
  })

  test('a sale is changed without reading its orders, though nobody has ordered some product of it', async () => {
    const [one] = saleOf(OF_SALE).products
    if (!one) throw new Error('no product')
    const config = saleOf(OF_SALE, { products: [one, { ...one, product_id: 'two' }] })
    await writeSale(sql, 'young', config)
    expect(await reads(() => writeSale(sql, 'young', config))).toBe(0)
    expect(await writeSale(sql, 'young', saleOf(OF_SALE))).toMatchObject({ result: 'changed' })
    expect(await writeSale(sql, 'young', { ...config, products: config.products.slice(1) })).toMatchObject({
      result: 'refused',
    })
  })
})
