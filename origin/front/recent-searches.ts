/**
 * Stores the latest searches of visitors who are signed in at the shop, for all their devices. The ledger has them. A
 * list in Redis serves reads: the first read fills it, and each change deletes it. The deletion is recorded in the
 * transaction of the change, and a worker repeats deletions that failed.
 */
import type { Logger } from 'pino'
import { asTyped, MAX_RECENT, sameSearch } from '../../shared/search/words.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { Store } from '../stock/scripts.ts'

/** A search is retained for this many days. */
const SEARCH_DAYS = 30
/**
 * The list in Redis expires after this time. It is then read from the ledger again, without the searches that have
 * become too old.
 */
const LIST_SECONDS = 24 * 3600
/** One round deletes at most this many lists. */
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

  /** Returns the searches, the newest first. Without Redis they come from the ledger. */
  async of(visitor: string): Promise<string[]> {
    const { sql, redis } = this.#deps
    const listed = await redis.lrange(keyOf(visitor), 0, -1).catch(() => [])
    if (listed.length > 0) return listed.filter((q) => q !== '')
    // The lock makes a concurrent change wait until the list is filled; the change then deletes it.
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

  /** Removes one search, or all of them. */
  remove(visitor: string, q: string | undefined): Promise<string[]> {
    return this.#change(visitor, async (tx) => {
      if (q === undefined) await tx`delete from recent_searches where visitor = ${visitor}`
      else await tx`delete from recent_searches where visitor = ${visitor} and words = ${sameSearch(q)}`
    })
  }

  /** A visitor's changes run one at a time. */
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

  /** Deletes the lists that a change has made stale. True if there may be more. */
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
  /** The timestamp stays text, because a Date would lose its microseconds. */
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

/** Deletes at most `most` searches past their retention, and returns their number. */
export async function deleteSearches(tx: Queryable, most: number): Promise<number> {
  const { count } = await tx`
    delete from recent_searches where (visitor, words) in (
      select visitor, words from recent_searches where at < ${olderThan(tx)} order by at limit ${most})`
  return count
}
