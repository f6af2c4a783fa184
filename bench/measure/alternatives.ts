/**
 * Ours against what the field does instead: the same Postgres and Redis with the same durability (fsync and
 * synchronous_commit on), the same driver and pool, the same HTTP request, the same token check. What grows is the
 * number of buyers at once.
 */

import { Redis } from 'ioredis'
import { decodeJwt } from 'jose'
import postgres from 'postgres'
import { type HttpClient, requestText } from '../lib/http.ts'
import { join } from './edge.ts'
import { closedLoop, contest, type Measured } from './load.ts'
import { checkoutsOf, durableCheckouts, row } from './origin.ts'
import { createSale, endSale, type Server, type Stage, startAlternative } from './stage.ts'
import type { Bench, Row, Table } from './table.ts'

const ALTERNATIVES = {
  'for-update': 'SELECT FOR UPDATE on one row',
  conditional: 'conditional UPDATE on one row',
  'skip-locked': 'a row per unit, SKIP LOCKED',
  'redis-insert': 'Redis script, INSERT per order',
  batched: 'a sketch of ours, and no more',
  // What no checkout can be faster than: by how much it is ahead of the others is the most that any could be.
  nothing: 'the token checked, nothing sold',
} as const
type Mode = keyof typeof ALTERNATIVES

/** More than any run sells; as unit rows they must be made. */
const UNITS_PER_SECOND = 9_000
const TOKENS_PER_SECOND = 22_000
/** Where the aim is stated. */
const AIMED_AT = 256
const AIM = 6
/** A machine's own disk takes a twentieth of this to sync. */
const SLOWER_MS = 1
const ROOM_CLIENTS = 64
const ROOM_CROWD = 100_000
/** Places asked for by turns. */
const PLACES = 500

export async function* againstAlternatives(stage: Stage, bench: Bench): AsyncGenerator<Table> {
  const sql = postgres(stage.system.databaseUrl, { max: 2, onnotice: () => {} })
  const redis = new Redis(stage.system.redisUrl)
  const servers: Server[] = []
  try {
    await prepare(sql)
    const start = async (mode: string) => {
      const server = await startAlternative(stage, mode)
      servers.push(server)
      return server
    }
    const modes = Object.keys(ALTERNATIVES) as Mode[]
    const shops = new Map<Mode, Server>()
    for (const mode of modes) shops.set(mode, await start(mode))
    const checkouts = async (buyers: number, disk = ''): Promise<Table> => {
      const contestants: Record<string, () => Promise<Measured>> = {
        ours: () => durableCheckouts(stage, bench.seconds, buyers),
      }
      for (const mode of modes) {
        const shop = shops.get(mode)
        if (shop)
          contestants[mode] = () => theirCheckout(stage, shop, mode, sql, redis, bench.seconds, buyers)
      }
      const results = await contest(bench.rounds, contestants)
      const { ours } = results
      if (!ours) throw new Error('nothing was measured')
      return {
        title: `${buyers} ${buyers === 1 ? 'buyer' : 'buyers at once'}: durable checkouts${disk}`,
        against: 'ours is',
        rows: [
          row('ours: batched through both gates', ours, null),
          ...modes.flatMap((mode) => {
            const theirs = results[mode]
            return theirs ? [ahead(ALTERNATIVES[mode], theirs, ours, aimFor(mode, buyers))] : []
          }),
        ],
      }
    }
    for (const buyers of bench.buyers) yield await checkouts(buyers)
    // Only on a Postgres that is ours: it is a setting of the whole server.
    if (stage.system.postgres)
      yield await withSlowerDisk(sql, () =>
        checkouts(AIMED_AT, `, each sync ${SLOWER_MS} ms slower, as in a cloud`),
      )
    yield await rooms(stage, bench, await start('zset'), redis)
  } finally {
    for (const server of servers) await server.stop()
    await sql`drop schema if exists bench cascade`.catch(() => {})
    await sql.end({ timeout: 2 })
    redis.disconnect()
  }
}

/** How many times as fast as this one ours is. */
function ahead(what: string, theirs: Measured, ours: Measured, aim: number | null): Row {
  const ratio = theirs.perSecond > 0 ? ours.perSecond / theirs.perSecond : Number.POSITIVE_INFINITY
  return {
    what,
    measured: theirs,
    ratio,
    cpuRatio: theirs.cpuMicros && ours.cpuMicros ? theirs.cpuMicros / ours.cpuMicros : null,
    aim: aim === null ? null : { ratio: aim },
  }
}

function aimFor(mode: Mode, buyers: number): number | null {
  if (buyers < 16 || mode === 'nothing') return null
  return buyers >= AIMED_AT && mode !== 'batched' ? AIM : 1
}

async function prepare(sql: postgres.Sql): Promise<void> {
  const [durability] = await sql<{ fsync: string; commit: string }[]>`
    select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`
  if (durability?.fsync !== 'on' || durability.commit !== 'on')
    throw new Error('Postgres runs without fsync or synchronous_commit: that would be no comparison.')
  await sql.unsafe(`
    drop schema if exists bench cascade;
    create schema bench;
    create table bench.stock (sale text primary key, available int not null check (available >= 0));
    create table bench.units (sale text not null, unit int not null, order_id uuid, primary key (sale, unit));
    create index free_units on bench.units (sale, unit) where order_id is null;
    create table bench.orders (
      order_id uuid primary key, sale text not null, visitor text not null, idempotency_key text not null,
      status text not null default 'reserved', created_at timestamptz not null default clock_timestamp(),
      unique (sale, visitor, idempotency_key))`)
}

/** Has every flush of the log wait, as on a disk that is not in the same machine. */
async function withSlowerDisk<T>(sql: postgres.Sql, measure: () => Promise<T>): Promise<T> {
  const set = async (...settings: string[]) => {
    for (const setting of settings) await sql.unsafe(`alter system ${setting}`)
    await sql`select pg_reload_conf()`
  }
  await set(`set commit_delay = ${SLOWER_MS * 1000}`, 'set commit_siblings = 0')
  try {
    return await measure()
  } finally {
    await set('reset commit_delay', 'reset commit_siblings')
  }
}

const storesOf = ({ system }: Stage) =>
  [system.redis, system.postgres].flatMap((part) => (part ? [part.pid] : []))

let shopped = 0

async function theirCheckout(
  stage: Stage,
  shop: Server,
  mode: Mode,
  sql: postgres.Sql,
  redis: Redis,
  seconds: number,
  buyers: number,
): Promise<Measured> {
  const sale = `alternative-${++shopped}`
  const units = Math.ceil(seconds * UNITS_PER_SECOND)
  if (mode === 'skip-locked') {
    await sql`insert into bench.units (sale, unit) select ${sale}, n from generate_series(1, ${units}::int) n`
    await sql`vacuum analyze bench.units`
  } else {
    await redis.set(`bench:${sale}:stock`, 10_000_000)
    await sql`insert into bench.stock (sale, available) values (${sale}, 10000000)`
  }
  const tokens = stage.mint.many(sale, tokensFor(seconds, buyers, TOKENS_PER_SECOND))
  const measured = await closedLoop(
    {
      url: shop.url,
      pids: [shop.pid, ...storesOf(stage)],
      seconds,
      next: checkoutsOf(sale, tokens),
      right: (a) => a.status === 201,
    },
    buyers,
  )
  // What one contestant leaves behind must not be swept while the next is measured.
  await sql`truncate bench.units, bench.orders, bench.stock`
  await redis.unlink(`bench:${sale}:stock`, `bench:${sale}:seen`)
  return measured
}

const tokensFor = (seconds: number, buyers: number, most: number) =>
  Math.ceil(seconds * 1.25 * Math.min(most, buyers * 4_000))

/**
 * A waiting room as a sorted set in Redis, asked for one's rank with every poll, against ours. Both sign and read the
 * same tokens; a crowd of a hundred thousand stands in their line already, which to ours makes no difference.
 */
async function rooms(stage: Stage, bench: Bench, theirs: Server, redis: Redis): Promise<Table> {
  const { edgeUrl, edge, redis: store } = stage.system
  const { rounds, seconds } = bench
  const sale = await createSale(stage, { stock: 1_000_000, rate: 0.01 })
  const places = await join(edgeUrl, sale, PLACES)
  const queue = `bench:${sale}:queue`
  for (let from = 0; from < ROOM_CROWD; from += 1_000) {
    const members = Array.from({ length: 1_000 }, (_, i) => [from + i, `someone-${from + i}`])
    await redis.zadd(queue, ...members.flat())
  }
  await redis.zadd(
    queue,
    ...places.flatMap((token, i) => [i * (ROOM_CROWD / PLACES), decodeJwt(token).sub ?? '']),
  )
  let turn = 0
  const run =
    (url: string, pids: readonly number[], status: number, next: (client: HttpClient) => string) => () =>
      closedLoop({ url, pids, seconds, next, right: (a) => a.status === status }, ROOM_CLIENTS)
  const joining = ({ host }: HttpClient) =>
    requestText('POST', `/sales/${sale}/queue`, host, ['accept: application/json'])
  const asking = ({ host }: HttpClient) =>
    requestText('GET', `/sales/${sale}/queue/status`, host, [
      'accept: application/json',
      `authorization: Bearer ${places[turn++ % places.length]}`,
    ])
  const their = [theirs.pid, ...(store ? [store.pid] : [])]
  const results = await contest(rounds, {
    join: run(edgeUrl, [edge.pid], 201, joining),
    theirJoin: run(theirs.url, their, 201, joining),
    status: run(edgeUrl, [edge.pid], 200, asking),
    theirStatus: run(theirs.url, their, 200, asking),
  })
  await redis.unlink(queue)
  await endSale(stage, sale)
  return {
    title: `Waiting rooms, ${ROOM_CLIENTS} clients: ours on workerd alone, theirs on Node with Redis behind it`,
    against: 'ours is',
    rows: [
      row('ours: join, a signed place', results.join, null),
      ahead('sorted set: join, a signed name', results.theirJoin, results.join, null),
      row('ours: status, from the token alone', results.status, null),
      ahead('sorted set: status, by rank', results.theirStatus, results.status, null),
    ],
  }
}
