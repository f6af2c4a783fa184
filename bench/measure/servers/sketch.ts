/**
 * A sketch of the checkout's hot path without guarantees. The token is checked, callers in one turn of the event loop
 * share one script call to Redis, waiting callers share one transaction that locks the product's row once, and
 * everyone gets a response after the commit. It has no idempotency key, no limit, no hold that ends and no intent
 * that outlives the process, and it serves nobody without Redis. The additional cost of the origin is the price of
 * its guarantees.
 */
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { type Buyer, serveCheckout } from './serve-checkout.ts'

const { DATABASE_URL = '', REDIS_URL = '' } = process.env
/** The number of orders in one transaction, as in the origin. */
const RECORD_BATCH = 500

const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} })
const redis = new Redis(REDIS_URL)
redis.defineCommand('takeUnits', {
  numberOfKeys: 1,
  lua: readFileSync(new URL('./take-units.lua', import.meta.url), 'utf8'),
})
const scripts = redis as Redis & { takeUnits(stock: string, wanted: number): Promise<number> }

/** Decides which of the buyers in one turn of the event loop get a unit: as many as there are, in their order. */
const reserve = together(RECORD_BATCH, async (buyers: readonly Buyer[]) => {
  const taken = await scripts.takeUnits(`bench:${buyers[0]?.sale}:stock`, buyers.length)
  return buyers.map((_, i) => i < taken)
})

/** Records all of a batch or none, guarded by the product's row. */
const record = together(RECORD_BATCH, async (buyers: readonly Buyer[]) => {
  const column = (name: 'order' | 'visitor' | 'key') => buyers.map((buyer) => buyer[name])
  const { count } = await sql`
    with taken as (
      update bench.stock set available = available - ${buyers.length}
      where sale = ${buyers[0]?.sale ?? ''} and available >= ${buyers.length} returning sale)
    insert into bench.orders (order_id, sale, visitor, idempotency_key)
    select o, sale, v, k from taken,
      unnest(${column('order')}::uuid[], ${column('visitor')}::text[], ${column('key')}::text[]) as t (o, v, k)`
  return buyers.map(() => count === buyers.length)
})

/** Calls in one turn of the event loop run together; calls that arrive meanwhile are in the next batch. */
function together<Call>(size: number, run: (calls: readonly Call[]) => Promise<readonly boolean[]>) {
  let waiting: { readonly call: Call; readonly resolve: (done: boolean) => void }[] = []
  let running = false
  const serveAll = async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, size)
      waiting = waiting.slice(size)
      const done = await run(batch.map(({ call }) => call))
      for (const [i, { resolve }] of batch.entries()) resolve(done[i] ?? false)
    }
    running = false
  }
  return (call: Call) =>
    new Promise<boolean>((resolve) => {
      waiting.push({ call, resolve })
      if (running) return
      running = true
      setImmediate(serveAll)
    })
}

await serveCheckout(async (buyer) => (await reserve(buyer)) && record(buyer))
