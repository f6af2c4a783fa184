/**
 * What visitors searched for and did not find, so that the shop learns which words or goods are missing. A search is
 * text of a person: it is stored only once several callers made it on one day. Until then Redis has a hash of the text,
 * how often it came, and an estimate of how many callers made it, and forgets them after two days.
 */
import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import * as v from 'valibot'
import { exactly, instant } from '../../shared/api/fields.ts'
import { SearchMisses } from '../../shared/api/front.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { jsonBody, query } from '../lib/http/request.ts'
import type { Store } from '../stock/scripts.ts'

/** Fewer callers could be one person with two devices, or a family. */
const MIN_CALLERS = 3
/** Anybody can make up searches: those of a day beyond so many are not counted. */
const MAX_QUERIES_OF_DAY = 5_000
const FORGET_MS = 48 * 3_600_000
const LISTED = 200
const DEFAULT_DAYS = 7

type Miss = SearchMisses['misses'][number]

interface SearchMissesDeps {
  readonly sql: Sql
  readonly redis: Pick<Store, 'hmget' | 'hlen' | 'multi'>
  readonly nowMs: () => number
}

/** The route is mounted below `/internal`. Losing it leaves only some searches uncounted. */
export const searchMissRoutes = (deps: SearchMissesDeps): Hono =>
  new Hono().post('/search/misses', jsonBody(SearchMisses), async (c) => {
    await countMisses(deps, c.req.valid('json').misses)
    return c.body(null, 204)
  })

async function countMisses({ sql, redis, nowMs }: SearchMissesDeps, misses: readonly Miss[]): Promise<void> {
  if (misses.length === 0) return
  const day = new Date(nowMs()).toISOString().slice(0, 10)
  // One hash tag, so that all commands reach one node.
  const keys = { counts: `{search misses}:${day}`, callersOf: (hash: string) => `{search misses}:${day}:${hash}` }
  const queries = [...Map.groupBy(misses, ({ query }) => query)].map(([query, made]) => ({
    query,
    hash: createHash('sha256').update(query).digest('base64url'),
    made,
  }))
  const known = await redis.hmget(keys.counts, ...queries.map(({ hash }) => hash))
  let room = MAX_QUERIES_OF_DAY - (await redis.hlen(keys.counts))
  const counted = queries.filter((_, i) => known[i] !== null || room-- > 0)
  if (counted.length === 0) return
  const commands = redis.multi()
  for (const { hash, made } of counted) {
    const callers = keys.callersOf(hash)
    commands
      .hincrby(
        keys.counts,
        hash,
        made.reduce((sum, { count }) => sum + count, 0),
      )
      .pfadd(callers, ...made.map(({ caller }) => caller))
      .pexpire(callers, FORGET_MS)
      .pfcount(callers)
  }
  const replies = (await commands.pexpire(keys.counts, FORGET_MS).exec()) ?? []
  const of = (i: number) => Number(replies[i]?.[1])
  const rows = counted.map(({ query }, i) => ({ query, searches: of(4 * i), callers: of(4 * i + 3) }))
  await writeMisses(
    sql,
    day,
    rows.filter(({ callers }) => callers >= MIN_CALLERS),
  )
}

/** The counts are those of the whole day so far. */
async function writeMisses(
  sql: Sql,
  day: string,
  rows: readonly { query: string; searches: number; callers: number }[],
): Promise<void> {
  if (rows.length === 0) return
  const sorted = rows.toSorted((a, b) => (a.query < b.query ? -1 : 1))
  await sql`
    insert into search_misses as m (day, query, searches, callers)
    select ${day}, * from unnest(${sorted.map((row) => row.query)}::text[],
      ${sorted.map((row) => row.searches)}::int[], ${sorted.map((row) => row.callers)}::int[])
    on conflict (day, query) do update set
      searches = greatest(m.searches, excluded.searches), callers = greatest(m.callers, excluded.callers)`
}

const MissesQuery = exactly({ from: v.optional(instant) })

/** The route `GET /search/misses?from=` below `/admin`: the most frequent first, since a time. */
export const missesRoute = ({ sql, nowMs }: Pick<SearchMissesDeps, 'sql' | 'nowMs'>) =>
  new Hono().get('/search/misses', query(MissesQuery), async (c) => {
    const { from = new Date(nowMs() - DEFAULT_DAYS * 86_400_000).toISOString() } = c.req.valid('query')
    const misses = await sql`
      select query, sum(searches)::int as searches, max(callers) as callers, max(day)::text as last_day
      from search_misses where day >= ${from.slice(0, 10)}
      group by query order by searches desc, query limit ${LISTED}`
    return c.json({ misses })
  })

/** Deletes searches past their retention. */
export async function deleteMisses(tx: Queryable, days: number, most: number): Promise<number> {
  const { count } = await tx`
    delete from search_misses where (day, query) in (
      select day, query from search_misses where day < (clock_timestamp() - ${days} * interval '1 day')::date::text
      limit ${most})`
  return count
}
