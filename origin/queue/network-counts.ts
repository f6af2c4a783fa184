/**
 * Counts the joins of each sale by the network that they came from (ASN), and notes the network of each order, so that
 * the report tells how much went to networks whose joins look like those of scripts. They are gathered in memory and
 * written once a second. A process that dies loses those of its last second.
 */
import type { Sql } from '../ledger/connection.ts'
import { type Actor, type LoopDeps, writingLoop } from '../lib/loop.ts'

const WRITE_MS = 1_000
/** Networks and orders that wait for the ledger; further ones are not counted. */
const MAX_WAITING = 20_000

interface Counted {
  readonly sale: string
  readonly asn: number
  joined: number
  unproved: number
}

export class NetworkCounts {
  readonly #sql: Sql
  #counted = new Map<string, Counted>()
  /** The networks of orders by the id of the order. */
  #orders = new Map<string, number>()
  readonly actor: Actor

  constructor({ sql, ...deps }: LoopDeps & { readonly sql: Sql }) {
    this.#sql = sql
    this.actor = writingLoop('network counts', WRITE_MS, deps, () => this.#write())
  }

  /** Adds joins, and joins that were refused for want of a proof of work. */
  count(sale: string, asn: number, joined: number, unproved: number): void {
    const key = `${sale} ${asn}`
    const known = this.#counted.get(key)
    if (known) {
      known.joined += joined
      known.unproved += unproved
    } else if (this.#counted.size < MAX_WAITING) this.#counted.set(key, { sale, asn, joined, unproved })
  }

  ordered(order: string, asn: number): void {
    if (this.#orders.size < MAX_WAITING) this.#orders.set(order, asn)
  }

  async #write(): Promise<void> {
    const [counted, orders] = [this.#counted, this.#orders]
    this.#counted = new Map()
    this.#orders = new Map()
    try {
      if (counted.size > 0) await addNetworks(this.#sql, [...counted.values()])
      counted.clear()
      if (orders.size > 0) await noteOrders(this.#sql, [...orders])
    } catch (error) {
      for (const { sale, asn, joined, unproved } of counted.values()) this.count(sale, asn, joined, unproved)
      for (const [order, asn] of orders) this.ordered(order, asn)
      throw error
    }
  }
}

/** The rows are sorted, because several processes add at the same time and a different order would deadlock. */
const addNetworks = (sql: Sql, rows: readonly Counted[]) => sql`
  insert into sale_networks as n (sale_id, asn, joined, unproved)
  select * from unnest(${rows.map(({ sale }) => sale)}::text[], ${rows.map(({ asn }) => asn)}::int[],
    ${rows.map(({ joined }) => joined)}::bigint[], ${rows.map(({ unproved }) => unproved)}::bigint[])
    as c(sale_id, asn, joined, unproved) order by 1, 2
  on conflict (sale_id, asn) do update
  set joined = n.joined + excluded.joined, unproved = n.unproved + excluded.unproved`

const noteOrders = (sql: Sql, rows: readonly (readonly [order: string, asn: number])[]) => sql`
  insert into order_networks (order_id, asn)
  select * from unnest(${rows.map(([order]) => order)}::uuid[], ${rows.map(([, asn]) => asn)}::int[])
  on conflict do nothing`
