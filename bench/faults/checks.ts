/** What must be true of a sale however often anything was killed: read from the stores, and from what buyers noted. */
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { Gate } from '../../origin/stock/gate.ts'
import { defineScripts, type Store } from '../../origin/stock/scripts.ts'
import { HELD, LIVE, SOLD } from '../../shared/order-status.ts'
import { LIMIT_PER_VISITOR, type Notebook } from './buyers.ts'
import type { TortureSystem } from './system.ts'

/** Findings of the reconciler that crashes alone must never lead to. */
const GRAVE = [
  'miscounted',
  'oversold',
  'unreadable_intent',
  'unknown_charge',
  'refund_failed',
  'capture_failed',
]
/** More of one kind say nothing new. */
const MAX_NAMED = 5

/** A way to look at the stores from outside; it survives their absence. */
export class Inspector {
  readonly #system: TortureSystem
  readonly #sql: postgres.Sql
  readonly #redis: Store

  constructor(system: TortureSystem) {
    this.#system = system
    this.#sql = postgres(system.databaseUrl, {
      max: 2,
      connect_timeout: 2,
      backoff: () => 0.1,
      onnotice: () => {},
      connection: { application_name: 'torture', statement_timeout: 10_000 },
    })
    this.#redis = defineScripts(
      new Redis(system.redisUrl, { retryStrategy: () => 100, maxRetriesPerRequest: 0 }),
    )
    this.#redis.on('error', () => {})
  }

  async stop(): Promise<void> {
    this.#redis.disconnect()
    await this.#sql.end({ timeout: 1 })
  }

  /** Looked at all the time: an oversell must not even pass. */
  async oversold(sale: string): Promise<string[]> {
    const rows = await this.#sql<{ product_id: string; total: number; live: number }[]>`
      select p.product_id, p.total, sum(o.quantity)::int as live
      from products p join orders o using (sale_id, product_id)
      where p.sale_id = ${sale} and o.status in ${this.#sql(LIVE)}
      group by p.product_id, p.total having sum(o.quantity) > p.total`
    return rows.map((r) => `${r.product_id}: ${r.live} units live of ${r.total}`)
  }

  /** Everything that is not as it must be once all is quiet; empty when all is well. */
  async violations(sale: string, notes: Notebook): Promise<string[]> {
    return [
      ...(await this.oversold(sale)),
      ...(await this.#counters(sale)),
      ...(await this.#promises(sale, notes)),
      ...(await this.#money(sale)),
      ...(await this.#gate(sale)),
      ...(await this.#leftOvers(sale)),
    ]
  }

  /** For the report: how many orders came to what. */
  async outcome(sale: string): Promise<Record<string, number>> {
    const rows = await this.#sql<{ status: string; n: number }[]>`
      select status, count(*)::int as n from orders where sale_id = ${sale} group by status order by status`
    return Object.fromEntries(rows.map((r) => [r.status, r.n]))
  }

  async #counters(sale: string): Promise<string[]> {
    const rows = await this.#sql<
      { id: string; total: number; held: number; sold: number; o_held: number; o_sold: number }[]
    >`
      select p.product_id as id, total, held, sold,
        coalesce(sum(quantity) filter (where status in ${this.#sql(HELD)}), 0)::int as o_held,
        coalesce(sum(quantity) filter (where status in ${this.#sql(SOLD)}), 0)::int as o_sold
      from products p left join orders o using (sale_id, product_id)
      where p.sale_id = ${sale} group by p.product_id, total, held, sold`
    const found = rows
      .filter((r) => r.held !== r.o_held || r.sold !== r.o_sold)
      .map((r) => `${r.id}: the row says ${r.held} held, ${r.sold} sold, its orders ${r.o_held}, ${r.o_sold}`)
    const { status, body } = await this.#system.admin('GET', `/sales/${sale}`)
    if (status !== 200) return [...found, `the operator's view answered ${status}`]
    const { products } = body as { products: Record<'total' | 'available' | 'held' | 'sold', number>[] }
    for (const p of products) {
      if (p.available + p.held + p.sold !== p.total || p.available < 0)
        found.push(`the operator is told ${JSON.stringify(p)}`)
    }
    const greedy = await this.#sql`
      select visitor from orders where sale_id = ${sale} and status in ${this.#sql(LIVE)}
      group by visitor having sum(quantity) > ${LIMIT_PER_VISITOR}`
    if (greedy.length > 0) found.push(`${greedy.length} visitors have more than ${LIMIT_PER_VISITOR} units`)
    return found
  }

  /** What a buyer was told stands, or has gone on from there. */
  async #promises(sale: string, notes: Notebook): Promise<string[]> {
    const rows = await this.#sql<{ order_id: string; visitor: string; status: string }[]>`
      select order_id, visitor, status from orders where sale_id = ${sale}`
    return [...few(brokenPromises(notes, rows)), ...few(notes.faults)]
  }

  async #money(sale: string): Promise<string[]> {
    const twice = await this.#sql<{ order_id: string; n: number }[]>`
      select c.order_id, count(*)::int as n from sandbox.charges c join orders o using (order_id)
      where o.sale_id = ${sale} group by c.order_id having count(*) > 1`
    const kept = await this.#sql<{ order_id: string; status: string }[]>`
      select o.order_id, o.status from sandbox.charges c join orders o using (order_id)
      where o.sale_id = ${sale} and c.status in ('authorized', 'captured')
        and o.status not in ${this.#sql(SOLD)}`
    const unpaid = await this.#sql<{ order_id: string }[]>`
      select o.order_id from orders o
      where o.sale_id = ${sale} and o.status in ${this.#sql(SOLD)} and not exists (
        select 1 from sandbox.charges c
        where c.order_id = o.order_id and c.charge_id = o.charge_id and c.status = 'captured')`
    return [
      ...few(twice.map((r) => `order ${r.order_id} was charged ${r.n} times`)),
      ...few(
        kept.map((r) => `order ${r.order_id} is ${r.status}, and its money is kept or still authorized`),
      ),
      ...few(unpaid.map((r) => `order ${r.order_id} is confirmed, and its money was not taken`)),
    ]
  }

  async #gate(sale: string): Promise<string[]> {
    const rows = await this.#sql<{ id: string; available: number; held: number }[]>`
      select product_id as id, total - held - sold as available, held from products where sale_id = ${sale}`
    const found: string[] = []
    for (const { id, available, held } of rows) {
      const gate = await new Gate(this.#redis, sale, id).stock()
      if (gate === null) found.push(`${id}: the gate is not in use`)
      else if (gate.available !== available || gate.held !== held) {
        found.push(
          `${id}: the gate says ${gate.available} available, ${gate.held} held, the ledger ${available}, ${held}`,
        )
      }
      const intents = await this.#redis.xlen(`{${sale}:${id}:0}:intents`)
      if (intents > 0) found.push(`${id}: ${intents} intents still wait`)
      const holds = await this.#redis.zcard(`{${sale}:${id}:0}:holds`)
      if (holds > 0 && held === 0) found.push(`${id}: the gate keeps ${holds} holds that are over`)
    }
    return found
  }

  async #leftOvers(sale: string): Promise<string[]> {
    const open = await this.#sql<{ status: string; n: number; first: string }[]>`
      select status, count(*)::int as n, min(order_id::text) as first from orders
      where sale_id = ${sale} and status in ${this.#sql(HELD)} group by status`
    const grave = await this.#sql<{ kind: string; product_id: string; units: number }[]>`
      select kind, product_id, units from findings where sale_id = ${sale} and kind = any(${GRAVE})`
    return [
      ...open.map((r) => `${r.n} orders are still ${r.status}, ${r.first} for one`),
      ...few(grave.map((r) => `the reconciler found ${r.kind}: ${r.product_id}, ${r.units} units`)),
    ]
  }
}

interface Recorded {
  readonly order_id: string
  readonly visitor: string
  readonly status: string
}

/** What was told, and is not so in the ledger; also "processing" that became no order, and whose buyer heard of no other. */
export function brokenPromises({ orders, promised }: Notebook, recorded: readonly Recorded[]): string[] {
  const byId = new Map(recorded.map((r) => [r.order_id, r]))
  const found: string[] = []
  for (const [order, { visitor, statuses }] of orders) {
    const row = byId.get(order)
    if (!row) found.push(`order ${order} was promised (${statuses.join(', ')}) and is not in the ledger`)
    else if (row.visitor !== visitor) found.push(`order ${order} was told to another than its visitor`)
    else if (!follows([...statuses, row.status]))
      found.push(`order ${order} is ${row.status}; its buyer was told ${statuses.join(', ')}`)
  }
  for (const order of promised.values())
    if (!byId.has(order)) found.push(`order ${order} was said to be on its way, and never came to be`)
  return found
}

const AFTER: Readonly<Record<string, readonly string[]>> = {
  processing: ['reserved', 'paying', 'confirmed', 'fulfilled', 'expired', 'cancelled'],
  reserved: ['paying', 'confirmed', 'fulfilled', 'expired', 'cancelled'],
  paying: ['confirmed', 'fulfilled', 'cancelled'],
  confirmed: ['fulfilled'],
}

/**
 * Each status is the one before or a later one. Answers to calls made at the same time may overtake each other, so only
 * the last is held against those it must come after.
 */
function follows(statuses: readonly string[]): boolean {
  const last = statuses.at(-1) ?? ''
  return statuses.every((status) => status === last || AFTER[status]?.includes(last))
}

const few = (found: readonly string[]): string[] =>
  found.length <= MAX_NAMED
    ? [...found]
    : [...found.slice(0, MAX_NAMED), `.. and ${found.length - MAX_NAMED} more like it`]
