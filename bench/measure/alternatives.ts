/**
 * Ours compared with what the field does instead: the same Postgres and Redis with the same durability (fsync and
 * synchronous_commit on), driver, pool, HTTP request and token check. What grows is the number of buyers.
 */
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { closedLoop, contest, type Measured } from './load.ts'
import {
  checkoutsOf,
  durableCheckouts,
  PLENTY,
  type Server,
  type Stage,
  startAlternative,
  storesOf,
  tokensFor,
} from './stage.ts'
import { ahead, type Bench, row, type Table } from './table.ts'

const ALTERNATIVES = {
  'for-update': 'SELECT FOR UPDATE on one row',
  conditional: 'conditional UPDATE on one row',
  'skip-locked': 'a row per unit, SKIP LOCKED',
  'redis-insert': 'Redis script, INSERT per order',
  batched: 'a bare sketch of ours',
  // How far it is ahead of the others is the most that any checkout could be.
  nothing: 'the token checked, nothing sold',
} as const
type Mode = keyof typeof ALTERNATIVES
const MODES = Object.keys(ALTERNATIVES) as Mode[]

/** Unit rows are made beforehand: more than any run sells. */
const UNITS_PER_SECOND = 9_000
const AIMED_AT_BUYERS = 256
const AIM = 6
/** A machine's own disk takes a twentieth of this to sync. */
const SLOWER_MS = 1

export async function* againstAlternatives(stage: Stage, bench: Bench): AsyncGenerator<Table> {
  const sql = postgres(stage.system.databaseUrl, { max: 2, onnotice: () => {} })
  const redis = new Redis(stage.system.redisUrl)
  const shops: [Mode, Server][] = []
  try {
    await prepare(sql)
    for (const mode of MODES) shops.push([mode, await startAlternative(stage, mode)])
    const checkouts = async (buyers: number, disk = ''): Promise<Table> => {
      const theirs = shops.map(([mode, shop]) => [
        mode,
        () => theirCheckouts(stage, shop, mode, { sql, redis }, bench.seconds, buyers),
      ])
      const ours = () => durableCheckouts(stage, bench.seconds, buyers)
      const results = await contest<Mode | 'ours'>(bench.rounds, { ours, ...Object.fromEntries(theirs) })
      return {
        title: `${buyers} ${buyers === 1 ? 'buyer' : 'buyers at once'}: durable checkouts${disk}`,
        against: 'ours is',
        rows: [
          row('ours: batched through both gates', results.ours, null),
          ...MODES.map((mode) => ahead(ALTERNATIVES[mode], results[mode], results.ours, aimFor(mode, buyers))),
        ],
      }
    }
    for (const buyers of bench.buyers) yield await checkouts(buyers)
    // A setting of the whole server, so only where it is ours.
    if (stage.system.postgres)
      yield await withSlowerDisk(sql, () =>
        checkouts(AIMED_AT_BUYERS, `, each sync ${SLOWER_MS} ms slower, as in a cloud`),
      )
  } finally {
    for (const [, shop] of shops) await shop.stop()
    await sql`drop schema if exists bench cascade`.catch(() => {})
    await sql.end({ timeout: 2 })
    redis.disconnect()
  }
}

function aimFor(mode: Mode, buyers: number) {
  if (buyers < 16 || mode === 'nothing') return null
  return { ratio: buyers >= AIMED_AT_BUYERS && mode !== 'batched' ? AIM : 1 }
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

/** Delays every flush of the log, as a disk outside the machine does. */
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

let shopped = 0

async function theirCheckouts(
  stage: Stage,
  { url, pid }: Server,
  mode: Mode,
  { sql, redis }: { sql: postgres.Sql; redis: Redis },
  seconds: number,
  buyers: number,
): Promise<Measured> {
  const sale = `alternative-${++shopped}`
  if (mode === 'skip-locked') {
    const units = Math.ceil(seconds * UNITS_PER_SECOND)
    await sql`insert into bench.units (sale, unit) select ${sale}, n from generate_series(1, ${units}::int) n`
    await sql`vacuum analyze bench.units`
  } else {
    await redis.set(`bench:${sale}:stock`, PLENTY)
    await sql`insert into bench.stock (sale, available) values (${sale}, ${PLENTY})`
  }
  const next = checkoutsOf(sale, tokensFor(stage, sale, seconds, { buyers }))
  const pids = [pid, ...storesOf(stage)]
  const measured = await closedLoop({ url, pids, seconds, next, right: 201 }, buyers)
  // What one leaves behind must not be cleaned up while the next is measured.
  await sql`truncate bench.units, bench.orders, bench.stock`
  await redis.unlink(`bench:${sale}:stock`, `bench:${sale}:seen`)
  return measured
}
