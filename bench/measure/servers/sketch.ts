/**
 * A sketch of the checkout's hot path that keeps no promise: the token is checked, callers of one turn of the event loop
 * share one script call to Redis, callers who wait share one transaction that takes the product's row once, and everyone
 * is answered after the commit. It knows no idempotency key, no limit, no hold that ends, no intent that outlives the
 * process, and it serves no one without Redis. What ours costs beyond it is the price of the promises.
 */
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { type Buyer, serveCheckout } from './serve-checkout.ts'

const { DATABASE_URL = '', REDIS_URL = '' } = process.env
/** Orders in one transaction, as ours. */
const RECORD_BATCH = 500

const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} })
const redis = new Redis(REDIS_URL)
redis.defineCommand('takeUnits', {
  numberOfKeys: 1,
  lua: readFileSync(new URL('./take-units.lua', import.meta.url), 'utf8'),
})
const scripts = redis as Redis & { takeUnits(stock: string, wanted: number): Promise<number> }

/** Which of the buyers of one turn of the event loop get a unit: as many as there are, in their order. */
const reserve = together(RECORD_BATCH, async (buyers: readonly Buyer[]) => {
  const taken = await scripts.takeUnits(`bench:${buyers[0]?.sale}:stock`, buyers.length)
  return buyers.map((_, i) => i < taken)
})

/** All of a batch, or none: the product's row is the guard. */
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

/** Calls of one turn of the event loop run together, those who come meanwhile in the next batch. */
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
