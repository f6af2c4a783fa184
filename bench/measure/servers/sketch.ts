/**
 * A sketch of the checkout's hot path that keeps no promise: the token is checked, callers of one turn of the event loop
 * share one script call to Redis, callers who wait share one transaction that takes the product's row once, and everyone
 * is answered after the commit. It knows no idempotency key, no limit, no hold that ends, no intent that outlives the
 * process, and it serves no one without Redis. What ours costs beyond it is the price of the promises.
 */
import { randomUUIDv7 } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { hmacKey } from '../../../origin/lib/hmac.ts'
import { CheckoutRequest } from '../../../shared/api/public.ts'
import { tryParseJson } from '../../../shared/parse.ts'
import { ADMISSION, importKeys, readToken } from '../../../shared/tokens.ts'

const { PORT, DATABASE_URL = '', REDIS_URL = '', ADMISSION_KEYS = '' } = process.env
/** Orders in one transaction, as ours. */
const RECORD_BATCH = 500

const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} })
const redis = new Redis(REDIS_URL)
const keys = await importKeys(JSON.parse(ADMISSION_KEYS), hmacKey)
redis.defineCommand('takeUnits', {
  numberOfKeys: 1,
  lua: readFileSync(new URL('./take-units.lua', import.meta.url), 'utf8'),
})
const scripts = redis as Redis & { takeUnits(stock: string, wanted: number): Promise<number> }

interface Buyer {
  readonly sale: string
  readonly visitor: string
  readonly key: string
  readonly order: string
}

/** Which of the buyers of one turn of the event loop get a unit: as many as there are, in their order. */
const reserve = together(RECORD_BATCH, async (buyers: readonly Buyer[]) => {
  const taken = await scripts.takeUnits(`bench:${buyers[0]?.sale}:stock`, buyers.length)
  return buyers.map((_, i) => i < taken)
})

/** All of a batch, or none: the product's row is the guard. */
const record = together(RECORD_BATCH, async (buyers: readonly Buyer[]) => {
  const column = (name: keyof Buyer) => buyers.map((buyer) => buyer[name])
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

const app = new Hono()

app.post('/sales/:sale/checkout', async (c) => {
  const token = c.req.header('authorization')?.slice('Bearer '.length) ?? ''
  const admission = await readToken(ADMISSION, keys, token, Date.now())
  if (!admission.ok) return c.json({ type: '/problems/not-admitted' }, 429)
  const body = tryParseJson(CheckoutRequest, await c.req.text())
  const key = c.req.header('idempotency-key')
  if (!body || key === undefined) return c.json({ type: '/problems/invalid-request' }, 400)
  const buyer = { sale: c.req.param('sale'), visitor: admission.claims.sub, key, order: randomUUIDv7() }
  if (!(await reserve(buyer)) || !(await record(buyer))) return c.json({ type: '/problems/sold-out' }, 410)
  return c.json({ order_id: buyer.order, sale: buyer.sale, quantity: body.quantity, status: 'reserved' }, 201)
})

app.get('/healthz', (c) => c.json({ status: 'ok' }))

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
process.on('SIGTERM', () => process.exit(0))
