/**
 * The fast gates while a Redis may evict keys, which is a setting that somebody has changed: the keys of a gate go
 * one by one, and with the intents go orders that were promised. A gate is shut until nothing is evicted any more,
 * the ledger serves alone, and a finding says how many promised orders were lost at most.
 */
import { close, note } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import type { Eviction } from '../lib/redis/redis-watch.ts'
import type { PerSale, SaleMemory } from '../sales/sale-memory.ts'
import type { Gate } from './gate/gate.ts'

/** What the last look at a gate found. */
interface Seen {
  /** Promised orders that waited to be recorded. */
  readonly intents: number
  readonly keys: number
  /** Promised orders that were lost, at most. */
  readonly lost: number
}

/**
 * Intents that have gone since the last look are lost, at most, if keys were evicted since. Some may have been
 * recorded instead. Pure.
 */
export function nextSeen(before: Seen | undefined, intents: number, eviction: Eviction | null): Seen {
  if (!eviction) return { intents, keys: 0, lost: 0 }
  const { keys } = eviction
  if (!before) return { intents, keys, lost: 0 }
  const gone = keys > before.keys ? Math.max(0, before.intents - intents) : 0
  return { intents, keys, lost: before.lost + gone }
}

/** In place of a number of lost orders: no finding about evictions is open. */
const NOTHING = -1

export class EvictionGuard {
  readonly #sql: Sql
  readonly #seen: PerSale<Seen>
  /** How many lost orders the findings name. Unknown at first: an earlier process may have opened one. */
  readonly #told: PerSale<number>

  constructor(sql: Sql, memory: SaleMemory) {
    this.#sql = sql
    this.#seen = memory.map('intents before evictions')
    this.#told = memory.map('evictions in findings')
  }

  /** Shuts an open gate while keys may be evicted, and says so. If the ledger is away, the next look says it. */
  async look(sale: string, gate: Gate, isOpen: boolean, intents: number, eviction: Eviction | null): Promise<void> {
    const seen = nextSeen(this.#seen.get(sale), intents, eviction)
    this.#seen.set(sale, seen)
    if (eviction && isOpen) await gate.fence()
    const told = this.#told.get(sale)
    if (!eviction) {
      if (told === NOTHING) return
      await close(this.#sql, sale, '', 'evicting', 'maxmemory-policy is noeviction')
      this.#told.set(sale, NOTHING)
      return
    }
    const { policy, keys } = eviction
    const finding = { sale, product: '', detail: { policy, evicted_keys: keys } }
    if (told === undefined || told === NOTHING) await note(this.#sql, { ...finding, kind: 'evicting', units: 0 })
    if (seen.lost > (told === undefined ? 0 : Math.max(0, told)))
      await note(this.#sql, { ...finding, kind: 'evicted', units: seen.lost })
    this.#told.set(sale, seen.lost)
  }
}
