/**
 * The usual approaches in the field, each as its advocates would write it, for the same request and with the same
 * token check, driver and pool as the origin. MODE selects one:
 *
 *   for-update    SELECT .. FOR UPDATE on the product's row, UPDATE, INSERT, in one transaction per order
 *   conditional   UPDATE .. WHERE available > 0 and INSERT, in one statement per order
 *   skip-locked   one row per unit, taken with FOR UPDATE SKIP LOCKED, and INSERT, in one statement per order
 *   redis-insert  a reserve script in Redis, then one INSERT per order
 *   seats-for-update   the named seats with SELECT .. FOR UPDATE, UPDATE, INSERT, in one transaction per order
 *   seats-skip-locked  the first two free seats with FOR UPDATE SKIP LOCKED, neighbours or not, and INSERT,
 *                      in one statement
 *   check         sells nothing, and answers as if it had: no checkout can be faster
 *   refuse        the same, and answers 410 with a text made beforehand: no refusal can be faster
 */
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { type Buyer, serveCheckout } from './serve-checkout.ts'

const { MODE = '', DATABASE_URL = '', REDIS_URL = '' } = process.env

/** The number is the same as in the origin. */
const MAX_CONNECTIONS = 10
const sql = postgres(DATABASE_URL, { max: MAX_CONNECTIONS, onnotice: () => {} })
const redis = new Redis(REDIS_URL)
redis.defineCommand('takeUnit', {
  numberOfKeys: 2,
  lua: readFileSync(new URL('./take-unit.lua', import.meta.url), 'utf8'),
})
const scripts = redis as Redis & {
  takeUnit(stock: string, seen: string, key: string, order: string): Promise<string>
}

/** Takes a unit and records the order; false if there is none. */
const take: Record<string, (buyer: Buyer) => Promise<boolean>> = {
  'for-update': ({ sale, visitor, key, order }) =>
    sql.begin(async (tx) => {
      const [row] = await tx<{ available: number }[]>`
        select available from bench.stock where sale = ${sale} for update`
      if (!row || row.available < 1) return false
      await tx`update bench.stock set available = available - 1 where sale = ${sale}`
      await tx`insert into bench.orders (order_id, sale, visitor, idempotency_key)
        values (${order}, ${sale}, ${visitor}, ${key})`
      return true
    }),
  conditional: async ({ sale, visitor, key, order }) => {
    const rows = await sql`
      with taken as (
        update bench.stock set available = available - 1 where sale = ${sale} and available > 0 returning sale)
      insert into bench.orders (order_id, sale, visitor, idempotency_key)
      select ${order}, sale, ${visitor}, ${key} from taken returning order_id`
    return rows.length === 1
  },
  'skip-locked': async ({ sale, visitor, key, order }) => {
    const rows = await sql`
      with free as (
        select unit from bench.units where sale = ${sale} and order_id is null limit 1 for update skip locked),
      taken as (
        update bench.units u set order_id = ${order} from free where u.sale = ${sale} and u.unit = free.unit
        returning u.sale)
      insert into bench.orders (order_id, sale, visitor, idempotency_key)
      select ${order}, sale, ${visitor}, ${key} from taken returning order_id`
    return rows.length === 1
  },
  'redis-insert': async ({ sale, visitor, key, order }) => {
    const verdict = await scripts.takeUnit(`bench:${sale}:stock`, `bench:${sale}:seen`, `${visitor}|${key}`, order)
    if (verdict !== order) return false
    await sql`insert into bench.orders (order_id, sale, visitor, idempotency_key)
      values (${order}, ${sale}, ${visitor}, ${key})`
    return true
  },
  'seats-for-update': ({ sale, visitor, key, order, asked }) =>
    sql.begin(async (tx) => {
      const seats = (asked.lines ?? []).flatMap((line) => line.seats ?? []).map(Number)
      const rows = await tx<{ order_id: string | null }[]>`
        select order_id from bench.seats where sale = ${sale} and seat = any(${seats}::int[]) order by seat for update`
      if (rows.length < seats.length || rows.some(({ order_id }) => order_id !== null)) return false
      await tx`update bench.seats set order_id = ${order} where sale = ${sale} and seat = any(${seats}::int[])`
      await tx`insert into bench.orders (order_id, sale, visitor, idempotency_key)
        values (${order}, ${sale}, ${visitor}, ${key})`
      return true
    }),
  'seats-skip-locked': async ({ sale, visitor, key, order }) => {
    const rows = await sql`
      with free as (
        select seat from bench.seats where
          sale = ${sale} and order_id is null order by seat limit 2 for update skip locked),
      taken as (
        update bench.seats s set order_id = ${order} from free where s.sale = ${sale} and s.seat = free.seat
        returning s.sale)
      insert into bench.orders (order_id, sale, visitor, idempotency_key)
      select ${order}, min(sale), ${visitor}, ${key} from taken having count(*) = 2 returning order_id`
    return rows.length === 1
  },
  check: async () => true,
  refuse: async () => false,
}

await serveCheckout(async (buyer) => (await take[MODE]?.(buyer)) === true)
