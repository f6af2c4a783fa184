/**
 * The latest searches of visitors who are signed in at the shop, for all their devices. The ledger has them; a list in Redis
 * answers reads, filled by the first one, and is deleted after each change. Which lists are to be deleted is written with the change, and
 * a worker repeats what failed.
 */
import type { Logger } from 'pino'
import { asTyped, MAX_RECENT, sameSearch } from '../../shared/search/recent.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { Store } from '../stock/scripts.ts'

/** How long a search is kept. */
const SEARCH_DAYS = 30
/** Of the list in Redis: then it is read from the ledger again, without those that have become too old. */
const LIST_SECONDS = 24 * 3600
/** Lists deleted in one round. */
const STALE_BATCH = 500

const keyOf = (visitor: string) => `searches:${visitor}`
const olderThan = (sql: Queryable) => sql`clock_timestamp() - ${SEARCH_DAYS} * interval '1 day'`

interface RecentSearchesDeps {
  readonly sql: Sql
  readonly redis: Store
  readonly log: Logger
}

export class RecentSearches {
  readonly #deps: RecentSearchesDeps

  constructor(deps: RecentSearchesDeps) {
    this.#deps = deps
  }

  /** The newest first. Without Redis from the ledger. */
  async of(visitor: string): Promise<string[]> {
    const { sql, redis } = this.#deps
    const listed = await redis.lrange(keyOf(visitor), 0, -1).catch(() => [])
    if (listed.length > 0) return listed.filter((q) => q !== '')
    // Locked, so that a change waits until the list is there, and then deletes it.
    return sql.begin(async (tx) => {
      await lock(tx, visitor)
      const read = await readSearches(tx, visitor)
      await this.#list(visitor, read)
      return read
    })
  }

  add(visitor: string, q: string): Promise<string[]> {
    const [typed, words] = [asTyped(q), sameSearch(q)]
    return this.#change(visitor, async (tx) => {
      await tx`
        insert into recent_searches (visitor, words, q, at) values (${visitor}, ${words}, ${typed}, clock_timestamp())
        on conflict (visitor, words) do update set q = excluded.q, at = excluded.at`
      await tx`
        delete from recent_searches where visitor = ${visitor} and words not in (
          select words from recent_searches where visitor = ${visitor} order by at desc, words limit ${MAX_RECENT})`
    })
  }

  /** One of them, or all. */
  remove(visitor: string, q: string | undefined): Promise<string[]> {
    return this.#change(visitor, async (tx) => {
      if (q === undefined) await tx`delete from recent_searches where visitor = ${visitor}`
      else await tx`delete from recent_searches where visitor = ${visitor} and words = ${sameSearch(q)}`
    })
  }

  /** One change of a visitor at a time. */
  async #change(visitor: string, change: (tx: Queryable) => Promise<void>): Promise<string[]> {
    const { sql, log } = this.#deps
    const { searches, stale } = await sql.begin(async (tx) => {
      await lock(tx, visitor)
      await change(tx)
      const [stale] = await tx<StaleList[]>`
        insert into stale_search_lists (visitor, at) values (${visitor}, clock_timestamp())
        on conflict (visitor) do update set at = excluded.at returning visitor, at::text as at`
      return { searches: await readSearches(tx, visitor), stale: stale ? [stale] : [] }
    })
    await this.#delete(stale).catch((error) => log.warn({ error: String(error) }, 'latest searches left to a worker'))
    return searches
  }

  /** Deletes the lists that are still to be deleted. True if there may be more. */
  async deleteStale(): Promise<boolean> {
    const stale = await this.#deps.sql<StaleList[]>`
      select visitor, at::text as at from stale_search_lists order by at limit ${STALE_BATCH}`
    await this.#delete(stale)
    return stale.length === STALE_BATCH
  }

  async #delete(stale: readonly StaleList[]): Promise<void> {
    const { sql, redis } = this.#deps
    for (const { visitor, at } of stale) {
      await redis.unlink(keyOf(visitor))
      await sql`delete from stale_search_lists where visitor = ${visitor} and at = ${at}::timestamptz`
    }
  }

  async #list(visitor: string, searches: readonly string[]): Promise<void> {
    const { redis, log } = this.#deps
    await redis
      .listIfMissing(keyOf(visitor), LIST_SECONDS, [...searches])
      .catch((error) => log.warn({ error: String(error) }, 'latest searches not listed in Redis'))
  }
}

interface StaleList {
  readonly visitor: string
  /** As text, which keeps its microseconds. */
  readonly at: string
}

const lock = (tx: Queryable, visitor: string) =>
  tx`select pg_advisory_xact_lock(hashtext('recent searches'), hashtext(${visitor}))`

async function readSearches(sql: Queryable, visitor: string): Promise<string[]> {
  const rows = await sql<{ q: string }[]>`
    select q from recent_searches where visitor = ${visitor} and at > ${olderThan(sql)}
    order by at desc, words limit ${MAX_RECENT}`
  return rows.map(({ q }) => q)
}

/** Those past their time, at most so many; returns how many. */
export async function deleteSearches(tx: Queryable, most: number): Promise<number> {
  const { count } = await tx`
    delete from recent_searches where (visitor, words) in (
      select visitor, words from recent_searches where at < ${olderThan(tx)} order by at limit ${most})`
  return count
}
