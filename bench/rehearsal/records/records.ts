/** The system of a rehearsal, and the records of its stores and its payment provider after it is over. */

import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import postgres from 'postgres'
import type { DemoHall } from '../../../dev/demo/hall.ts'
import { UsageError } from '../../../dev/lib/command.ts'
import { connectRedis } from '../../../origin/lib/redis/redis.ts'
import { Gate } from '../../../origin/stock/gate/gate.ts'
import { defineScripts, type Store } from '../../../origin/stock/scripts.ts'
import type { FunnelRow } from '../../../shared/api/operators/report.ts'
import { HELD, LIVE, SOLD } from '../../../shared/api/order-status.ts'
import type { Crowd } from '../../crowd/crowd.ts'
import { servedBy } from '../../crowd/schedule-copy.ts'
import { Seeker } from '../../crowd/visitors/seekers.ts'
import { Shopper } from '../../crowd/visitors/shoppers.ts'
import { sourceLabelOf } from '../../crowd/visitors/sources.ts'
import { PLAN } from '../../crowd/visitors/visitors.ts'
import type {
  Change,
  Charge,
  Evidence,
  GoodsRecords,
  GoodsVisit,
  HallRecords,
  LedgerOrder,
  OperatorRecord,
  Records,
  StoreRecords,
  Unread,
  VisitRecord,
} from '../../invariants/evidence.ts'
import { countUnpublished, openRefunds } from '../../invariants/refund-checks.ts'
import { pricesOf, totalOf } from '../../invariants/seat-checks.ts'
import { CODE } from '../../lib/demo-drop.ts'
import { admin, codeOf } from '../../lib/operator.ts'
import { readHall } from './hall-records.ts'

export interface Target {
  readonly edgeUrl: string
  readonly originUrl: string
  readonly adminToken: string
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
}

export const PRODUCT = 'unit'
const EDGE_TIMEOUT_MS = 10_000
const POLL_EVERY_MS = 500
/** Each page has 10,000 events of all sales, because the log of a running system may be long. */
const MAX_FEED_PAGES = 2_000
/**
 * The ledger settles within this time after the last hold or the last progress, because a charge is redelivered after
 * 15 s.
 */
const SETTLE_MARGIN_MS = 90_000
/** A cached schedule is behind the Workers' decisions by its age and one refresh. */
const SCHEDULE_LATE_MS = 2_500
/** Findings that crashes alone must never cause. */
const GRAVE_FINDINGS = [
  ...['miscounted', 'oversold', 'unreadable_intent'],
  ...['unknown_charge', 'refund_failed', 'capture_failed'],
]

/** Fails before a sale is created to which nobody could come. */
export async function requireEdge(edge: string): Promise<void> {
  const response = await fetch(`${edge}/healthz`, { signal: AbortSignal.timeout(EDGE_TIMEOUT_MS) }).catch(
    (error: Error) => {
      throw new UsageError(`The edge at ${edge} does not respond (${codeOf(error)}).`)
    },
  )
  await response.body?.cancel()
  if (!response.ok) throw new UsageError(`The edge at ${edge} responded ${response.status} to GET /healthz.`)
}

/**
 * The terms for settling a sale: the time of a hold, the prices, the places of seats, and what an operator refunded.
 */
interface Terms {
  readonly holdSeconds: number
  readonly unitMinor: number
  readonly hall: DemoHall | null
  readonly hasGoods: boolean
  readonly operator: OperatorRecord
}

/**
 * Reads all records once no change is expected: holds have ended, charges are captured, refunds made, intents
 * recorded.
 */
export async function settledRecords(to: Target, sale: string, terms: Terms): Promise<Records> {
  const stores = openStores(to)
  const readFeed = feedReader(to, sale)
  let untilMs = performance.now() + terms.holdSeconds * 1000 + SETTLE_MARGIN_MS
  let least = Number.POSITIVE_INFINITY
  const read = async (inventory: Records['inventory']) => ({
    inventory,
    ...(await readRecords(to, sale, stores, terms)),
    feed: await readFeed(),
  })
  try {
    for (;;) {
      const inventory = await inventoryOf(to, sale)
      // The other records are read only when no units are held, because they contain all orders.
      const records = inventory.held > 0 ? null : await read(inventory)
      const open = records ? openOf(records, terms) : Number.MAX_SAFE_INTEGER
      if (open < least) untilMs = Math.max(untilMs, performance.now() + SETTLE_MARGIN_MS)
      least = Math.min(least, open)
      if (open === 0 || performance.now() > untilMs) return records ?? (await read(inventory))
      await sleep(POLL_EVERY_MS)
    }
  } finally {
    await stores.close()
  }
}

/** The number of changes that are still expected. */
function openOf({ orders, charges, stores, feed }: Records, { operator }: Terms): number {
  // Open charges must be captured, or voided if the order is not sold.
  const openCharges =
    'unread' in charges ? 0 : charges.filter((c) => c.status === 'authorized' || c.status === 'requires_action').length
  const refunds = openRefunds(orders, 'unread' in charges ? [] : charges, operator.orders)
  const open = openCharges + refunds + ('unread' in feed ? 0 : countUnpublished(orders, feed))
  if ('unread' in stores) return open
  const { row, gate, intents, holds } = stores
  const settled = gate?.available === row.total - row.held - row.sold && gate.held === row.held
  return open + intents + holds + (settled ? 0 : 1)
}

async function inventoryOf(to: Target, sale: string): Promise<Records['inventory']> {
  const { invariant } = (await (await admin(to, 'GET', `/sales/${sale}`)).json()) as {
    invariant: Records['inventory']
  }
  if (invariant.total === 0) throw new Error('The sale has lost its product.')
  return invariant
}

async function readRecords(
  to: Target,
  sale: string,
  stores: ReturnType<typeof openStores>,
  { unitMinor, hall, hasGoods, operator }: Terms,
): Promise<Omit<Records, 'inventory' | 'feed'>> {
  const seats = hall && (await stores.hall(sale, hall))
  const priceOf = hall && pricesOf(hall)
  const totals = (order: string) =>
    priceOf && seats && 'orders' in seats ? totalOf(priceOf, seats.orders.get(order)?.lines ?? []) : null
  const goods = hasGoods ? await stores.goods(sale) : null
  const text = await (await admin(to, 'GET', `/sales/${sale}/orders?format=ndjson`)).text()
  const orders = text.split('\n').flatMap((line): LedgerOrder[] => {
    if (line === '') return []
    const { order_id, status, reason, visitor, quantity, ...row } = JSON.parse(line) as LedgerOrder
    const [ticket_number, refunded_minor] = [Number(row.ticket_number), Number(row.refunded_minor)]
    // The export shows both statuses as refunded.
    const inLedger = status === 'refunded' && operator.orders.get(order_id)?.restocked ? 'returned' : status
    // The total of an order in a drop is checked separately.
    const ofDrop = goods && 'orders' in goods ? goods.orders.get(order_id)?.total_minor : undefined
    const total_minor = totals(order_id) ?? ofDrop ?? quantity * unitMinor
    return [{ order_id, status: inLedger, reason, visitor, ticket_number, quantity, total_minor, refunded_minor }]
  })
  const { rows: funnel } = (await (await admin(to, 'GET', `/sales/${sale}/funnel?by=source`)).json()) as {
    rows: readonly FunnelRow[]
  }
  return {
    orders,
    funnel,
    charges: await stores.charges(sale),
    stores: await stores.counters(sale),
    hall: seats,
    goods,
  }
}

/** Reads the feed of the sale's orders from its beginning, and continues at each further call. */
function feedReader(to: Target, sale: string): () => Promise<readonly Change[] | Unread> {
  const read: Change[] = []
  let after = ''
  return async () => {
    for (let pages = 0; pages < MAX_FEED_PAGES; pages++) {
      const response = await admin(to, 'GET', `/orders?sale=${sale}&limit=1000${after && `&after=${after}`}`)
      const { changes, next } = (await response.json()) as FeedPage
      for (const { type, data } of changes) read.push({ type, order: data.order_id, status: data.status })
      if (next === after) return read
      after = next
    }
    return { unread: `is longer than ${MAX_FEED_PAGES} pages` }
  }
}

interface FeedPage {
  readonly changes: readonly { type: string; data: { order_id: string; status: string } }[]
  readonly next: string
}

/** Opens direct connections to the stores whose addresses are known. */
function openStores({ databaseUrl, redisUrl }: Target) {
  const sql = databaseUrl ? postgres(databaseUrl, { max: 1, connect_timeout: 5, onnotice: () => {} }) : null
  const redis = redisUrl ? defineScripts(connectRedis(redisUrl, pino({ level: 'silent' }))) : null
  const orUnread = async <T>(read: () => Promise<T>) =>
    read().catch((error: { code?: string; message: string }) => ({
      unread: `could not be read (${error.message || error.code})`,
    }))
  return {
    charges: async (sale: string) =>
      sql ? orUnread(() => readCharges(sql, sale)) : { unread: 'out of reach, give DATABASE_URL' },
    counters: async (sale: string) =>
      sql && redis
        ? orUnread(() => readCounters(sql, redis, sale))
        : { unread: 'out of reach, give DATABASE_URL and REDIS_URL' },
    hall: async (sale: string, hall: DemoHall): Promise<HallRecords | Unread> =>
      sql && redis
        ? orUnread(() => readHall(sql, new Gate(redis, sale), sale, hall))
        : { unread: 'out of reach, give DATABASE_URL and REDIS_URL' },
    goods: async (sale: string): Promise<GoodsRecords | Unread> =>
      sql ? orUnread(() => readGoods(sql, sale)) : { unread: 'out of reach, give DATABASE_URL' },
    async close() {
      redis?.disconnect()
      await sql?.end({ timeout: 2 })
    },
  }
}

/**
 * The sandbox provider's records of the sale, and of unknown orders since it was created. Other sales have their own.
 */
async function readCharges(sql: postgres.Sql, sale: string): Promise<Charge[]> {
  return sql<Charge[]>`
    select c.order_id::text as "order", c.status, c.amount_minor::float8 as amount_minor, c.currency,
      c.refunded_minor::float8 as refunded_minor, coalesce(c.charge_id = o.charge_id, false) as recorded
    from sandbox.charges c left join orders o using (order_id)
    where o.sale_id = ${sale}
      or (o.order_id is null and c.created_at >= (select created_at from sales where sale_id = ${sale}))`
}

async function readCounters(sql: postgres.Sql, redis: Store, sale: string): Promise<StoreRecords> {
  const [row] = await sql<{ total: number; held: number; sold: number; o_held: number; o_sold: number }[]>`
    select p.*, o.* from (
      select sum(total)::int as total, sum(held)::int as held, sum(sold)::int as sold from products
      where sale_id = ${sale} and not is_promo_code
    ) p, (
      select coalesce(sum(quantity) filter (where status in ${sql(HELD)}), 0)::int as o_held,
        coalesce(sum(quantity) filter (where status in ${sql(SOLD)}), 0)::int as o_sold
      from orders where sale_id = ${sale}
    ) o where total is not null`
  if (!row) throw new Error('no such product')
  const findings = await sql<{ kind: string; units: number }[]>`
    select kind, units from findings where sale_id = ${sale} and kind = any(${GRAVE_FINDINGS})`
  const counter = new Gate(redis, sale)
  const stock = await counter.stock()
  // Uses of promo codes are counted like units, but are not part of them.
  const units = [...(stock ?? [])].filter(([product]) => !product.startsWith('%'))
  const sum = (of: 'available' | 'held') => units.reduce((all, [, one]) => all + one[of], 0)
  return {
    row: { total: row.total, held: row.held, sold: row.sold },
    orders: { held: row.o_held, sold: row.o_sold },
    gate: stock && stock.size > 0 ? { available: sum('available'), held: sum('held') } : null,
    intents: await counter.intents.count(),
    holds: await redis.zcard(`{${sale}}:holds`),
    findings: findings.map(({ kind, units }) => `${kind} (${units} units)`),
  }
}

// -- What the clients experienced -----------------------------------------------------------------------------------

function visitRecordsOf({ visitors, schedule }: Crowd): VisitRecord[] {
  const at = (ms: number | null | undefined) => (ms ? schedule.serverMs(ms) : null)
  return visitors.map((visitor): VisitRecord => {
    const { number, admittedMs, admittedAtServing, order, end, wishes } = visitor
    return {
      number,
      source: sourceLabelOf(visitor.id),
      joinSentMs: schedule.serverMs(visitor.joinSentMs),
      joinAnsweredMs: schedule.serverMs(visitor.joinAnsweredMs),
      admittedMs: at(admittedMs),
      admittedAtServing,
      order: order?.order ?? null,
      statuses: order?.statuses ?? [],
      quantity: visitor.quantity(),
      reserveSentMs: at(visitor.reserveSentMs),
      method: visitor.method(),
      declines: order?.declines ?? 0,
      payMeantMs: at(order?.payMeantMs),
      paidSentMs: at(order?.paidSentMs),
      soldOutSeenMs: at(visitor.soldOutSeenMs),
      end: end ?? 'gave_up',
      ...(wishes instanceof Seeker && {
        hall: {
          seeks: wishes.seeks,
          asked: wishes.asked,
          askedMs: schedule.serverMs(wishes.askedMs),
          answeredMs: schedule.serverMs(wishes.answeredMs),
          heard: order?.lines ?? null,
        },
      }),
      ...(wishes instanceof Shopper && { goods: goodsVisitOf(wishes) }),
    }
  })
}

const goodsVisitOf = ({ product, units, country, broughtCode, hasCode, told }: Shopper): GoodsVisit => ({
  product,
  quantity: units,
  country,
  broughtCode,
  hasCode,
  told,
})

/** The crowd's own part of the evidence; the records and the terms of the sale come from elsewhere. */
export function evidenceOf(crowd: Crowd, others: readonly number[] = []) {
  const { schedule, visitors, tally } = crowd
  return {
    // Before the draw, the schedule announces the start of the queue at the opening, on the edge's clock.
    opensAtMs: schedule.seen[0]?.schedule.anchor_at_ms ?? 0,
    visits: visitRecordsOf(crowd),
    otherNumbers: [...tally.otherNumbers, ...others],
    documents: schedule.seen,
    servedByMs: servedBy(schedule.seen, SCHEDULE_LATE_MS),
    positions: tally.positions,
    shoppingMs: tally.shoppingMs,
    attempts: tally.attempts,
    bareErrors: tally.bareErrors,
    bots: visitors.some((visitor) => visitor.has(PLAN.bot)),
  } satisfies Partial<Evidence>
}

// -- The goods of a drop --------------------------------------------------------------------------------------------

/** The uses of the promo code are counted as units of this product. */
const USES = `%${CODE}`

async function readGoods(sql: postgres.Sql, sale: string): Promise<GoodsRecords> {
  const rows = await sql<{ order: string; product: string; isLive: boolean; hasCode: boolean; total_minor: number }[]>`
    select order_id as "order", product_id as product, status in ${sql(LIVE)} as "isLive",
      coalesce(cart @> ${sql.json([{ product: USES }])}, false) as "hasCode",
      order_total(unit_price_minor, quantity, cart, bill)::float8 as total_minor
    from orders where sale_id = ${sale}`
  const [code] = await sql<GoodsRecords['code'][]>`
    select total as uses, held, sold from products where sale_id = ${sale} and product_id = ${USES}`
  if (!code) throw new Error('the promo code is gone')
  return { orders: new Map(rows.map(({ order, ...row }) => [order, row])), code }
}
