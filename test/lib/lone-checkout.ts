/** Checkouts on stores that a test can make fail. Each behaves like one in its own process, without workers. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, expect } from 'vitest'
import { openFlakyProxy } from '../../bench/lib/flaky-proxy.ts'
import { createMetrics } from '../../origin/base/metrics.ts'
import { Checkout } from '../../origin/checkout/checkout.ts'
import type { Outcome } from '../../origin/checkout/outcome.ts'
import { connect, type Queryable, type Sql } from '../../origin/ledger/connection.ts'
import type { Reservation } from '../../origin/ledger/record.ts'
import type { SaleRow } from '../../origin/ledger/sale-row.ts'
import { WarmConnections } from '../../origin/ledger/warm-connections.ts'
import { connectRedis } from '../../origin/lib/redis/redis.ts'
import { PaymentJobs } from '../../origin/payments/payment-jobs.ts'
import { Arrivals } from '../../origin/queue/arrivals.ts'
import { SaleMemory } from '../../origin/sales/sale-memory.ts'
import { writeSale } from '../../origin/sales/sale-queries.ts'
import { SaleWork } from '../../origin/sales/sale-work.ts'
import { Sales } from '../../origin/sales/sales.ts'
import { Halls } from '../../origin/seats/halls.ts'
import { Gates } from '../../origin/stock/gate/gate.ts'
import { recordIntents } from '../../origin/stock/intent-recorder.ts'
import { Reconciler } from '../../origin/stock/reconciler.ts'
import { defineScripts, type Store } from '../../origin/stock/scripts.ts'
import type { CheckoutLine, CheckoutRequest } from '../../shared/api/public.ts'
import { fairRuntime } from './fair-clock.ts'
import { addHall, PLACES, SEATS } from './hall.ts'
import { saleOf } from './samples.ts'
import { useDatabase, useRedis } from './servers.ts'

export const NO_REDIS = 'redis://127.0.0.1:1'
export const NO_LEDGER = 'postgres://127.0.0.1:1/none'
const log = pino({ level: 'silent' })
const runtime = fairRuntime()

interface Asking {
  readonly visitor: string
  readonly contact: NonNullable<Reservation['contact']>
  readonly key: string
  /** The sale as the process has read it, possibly before a change. */
  readonly at: SaleRow
}

export type LoneCheckout = Awaited<ReturnType<ReturnType<typeof useLoneCheckouts>['alone']>>

/** The stores of a test file, and checkouts on them. */
export function useLoneCheckouts() {
  const database = useDatabase()
  const server = useRedis()
  const ends: (() => unknown)[] = []
  let sql: Sql
  let redis: Store
  beforeAll(async () => {
    redis = defineScripts(new Redis(server.url))
    sql = connect(database.url)
  })
  afterAll(async () => {
    redis.disconnect()
    for (const end of ends) await end()
    await sql.end({ timeout: 1 })
  })

  /** One checkout of one sale on the stores at these addresses. */
  async function alone({
    total = 5,
    limit = 1,
    hall = false,
    maxPending = 20_000,
    ledger = database.url,
    gate = server.url,
    /** The sale of an existing checkout makes this one another process of that sale. */
    of = '',
  } = {}) {
    const sale = of || `sale-${randomUUID().slice(0, 8)}`
    if (!of) await writeSale(sql, sale, saleOf(total, { limit_per_visitor: limit }))
    if (!of && hall) await addHall(sql, sale)
    const there = new Sales(sql)
    await there.refresh()
    const row = there.get(sale) as SaleRow
    const store: Store = defineScripts(connectRedis(gate, log))
    const isThere = gate !== NO_REDIS
    if (isThere) await once(store, 'ready')
    const its = connect(ledger)
    const warm = new WarmConnections(its, () => connect(ledger, 1))
    ends.push(
      () => store.disconnect(),
      () => warm.end(),
      () => its.end({ timeout: 0 }),
    )
    const sales = new Sales(its, runtime)
    // It reads on, since a ledger that was last read two seconds ago counts as away.
    await sales.start().catch(() => {})
    ends.push(() => sales.stop())
    const [metrics, memory] = [createMetrics(), new SaleMemory()]
    const gates = new Gates(store, memory)
    const arrivals = new Arrivals({ redis: store, metrics, memory, sources: { count() {} }, log })
    const checkout = new Checkout(
      {
        sql: its,
        warm,
        gates,
        sales,
        halls: new Halls(its, memory),
        vouchers: [],
        arrivals,
        metrics,
        memory,
        log,
        runtime,
      },
      maxPending,
    )
    const sections = hall ? { floor: PLACES, stalls: SEATS } : {}
    const counts = Object.entries({ one: total, ...sections }).map(([product, available]) => ({
      product,
      available,
      held: 0,
    }))
    if (isThere && !of) await (await gates.of(sale).fence()).open(counts)
    const ask = async (request: CheckoutRequest, { at = row, key = 'k', ...buyer }: Partial<Asking> = {}) =>
      checkout.checkout(at, { visitor: randomUUID(), line: 'public', number: 1, ...buyer }, request, key)
    const buy = (visitor = randomUUID() as string, key = 'k', quantity = 1) => ask({ quantity }, { visitor, key })
    const buyLines = (lines: CheckoutLine[]) => ask({ lines })
    /** Records the intents of any age, as a worker or a rebuild does. */
    const recordAll = () => recordIntents({ sql: its, gates, metrics, log }, sale, 0)
    const deps = { sql: its, sales, gates, memory, metrics, log, runtime }
    const reconciler = new Reconciler({
      ...deps,
      work: new SaleWork(undefined, runtime),
      redisWatch: { evicting: null, refusal: null },
      refunds: new PaymentJobs(log),
    })
    const rebuild = () => reconciler.reconcileSale(sale, { force: true })
    return { sale, row, sales, checkout, ask, buy, buyLines, store, its: gates.of(sale), recordAll, rebuild }
  }

  /** Runs `work` while the ledger can record nothing of a sale. */
  const whileLocked = <Result>(sale: string, work: (tx: Queryable) => Promise<Result>) =>
    sql.begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${sale} for update`
      return work(tx)
    }) as Promise<Result>

  async function failingProxy(to: string) {
    const proxy = await openFlakyProxy(to)
    ends.push(proxy.close)
    return proxy
  }

  return { database, server, stores: () => ({ sql, redis }), alone, whileLocked, failingProxy }
}

export const orderOf = (outcome: Outcome) =>
  'reservation' in outcome ? outcome.reservation.order : 'order' in outcome ? outcome.order.order_id : ''
export const said = (outcome: Outcome) => (outcome.kind === 'problem' ? outcome.problem.type : outcome.kind)
export const promise = (outcome: Outcome) => (outcome.kind === 'problem' ? outcome.problem.detail : outcome.kind)
export const IN_DOUBT = expect.stringMatching(/^It is not known .* Try again with the same key: /)
export const UNTAKEN = expect.stringMatching(/Nothing was taken\. Try again with the same key\.$/)
