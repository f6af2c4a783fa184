/** The stores of an explorer: a Postgres whose clock is the explored one, and a Redis, for many orders of events. */
import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { startRedis } from '../../../dev/servers/redis.ts'
import type { SessionLimits } from '../../../origin/ledger/connection.ts'
import { connect, ORIGIN_SESSIONS, type Sql } from '../../../origin/ledger/connection.ts'
import { prepare } from '../../../origin/ledger/migrate.ts'
import { createDatabase, dropDatabase } from '../../run/databases.ts'
import { GateWorld } from './gate-port.ts'

/** A pool for all processes of an order, with a connection for each transaction that stays open. */
const CONNECTIONS = 12

/** The tables that an order of events writes. */
const TABLES = [
  ...['orders', 'seat_claims', 'contacts', 'events', 'jobs', 'captures', 'refunds', 'comparisons', 'findings'],
  ...['audit_log', 'promo_codes', 'seats', 'charts', 'products', 'sales', 'hold_pauses'],
]

/** The clock, chance and ids of the ledger, found before those of Postgres. */
const EXPLORED = `
create schema explore;
create sequence explore.clock;
create sequence explore.ids;
create function explore.clock_timestamp() returns timestamptz language sql volatile as
  $$ select to_timestamp(last_value::float8 / 1000) from explore.clock $$;
create function explore.now() returns timestamptz language sql stable as
  $$ select to_timestamp(last_value::float8 / 1000) from explore.clock $$;
create function explore.random() returns float8 language sql volatile as $$ select 0.5::float8 $$;
create function explore.gen_random_uuid() returns uuid language sql volatile as
  $$ select lpad(to_hex(nextval('explore.ids')), 32, '0')::uuid $$;
create function explore.empty() returns void language plpgsql as $$
begin
  ${TABLES.map((table) => `delete from public.${table};`).join('\n  ')}
  perform setval('explore.ids', 1);
end $$;
`

export interface Stores {
  readonly sql: Sql
  readonly watch: Sql
  readonly gate: GateWorld
  readonly blocked: () => Promise<number>
  setClock(nowMs: number): Promise<void>
  empty(): Promise<void>
  stop(): Promise<void>
}

/** Opens so many stores on the server of this address, each in a database of its own. */
export async function openStores(postgresUrl: string, count: number): Promise<readonly Stores[]> {
  const name = `explore_${randomBytes(6).toString('hex')}`
  const url = await createDatabase(postgresUrl, name)
  await onDatabase(url, (sql) => sql.unsafe(EXPLORED))
  await shift(url, name)
  const limits = await prepare(url)
  const names = Array.from({ length: count }, (_, i) => `${name}_${i}`)
  // Each is a copy of the first one, whose schema is migrated once.
  for (const copy of names) await shift(await createDatabase(postgresUrl, copy, name), copy)
  const stores = await Promise.all(names.map((copy) => openCopy(postgresUrl, copy, limits)))
  await dropDatabase(postgresUrl, name)
  return stores
}

/** Has the sessions of a database find the explored clock before the server's. */
const shift = (url: string, name: string) =>
  onDatabase(url, async (sql) => {
    for (const setting of [
      'search_path = public, explore, pg_catalog',
      'synchronous_commit = off',
      'plan_cache_mode = force_generic_plan',
    ])
      await sql.unsafe(`alter database ${name} set ${setting}`)
  })

async function onDatabase(url: string, work: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await work(sql)
  await sql.end()
}

async function openCopy(postgresUrl: string, name: string, limits: SessionLimits): Promise<Stores> {
  const url = Object.assign(new URL(postgresUrl), { pathname: `/${name}` }).href
  const sql = connect(url, CONNECTIONS, ORIGIN_SESSIONS, limits)
  const watch = connect(url, 1)
  const redis = await startRedis({ args: ['--appendonly', 'no'] })
  const clients = [new Redis(redis.url), new Redis(redis.url, { db: 1 })] as const
  for (const client of clients) client.on('error', () => {})
  // A lock is granted in the moment in which the one before is released, and the session notices it later.
  const blocked = async () => {
    const [row] = await watch<{ count: number }[]>`
      select count(distinct pid)::int from pg_locks join pg_stat_activity using (pid)
      where not granted and datname = current_database()`
    return row?.count ?? 0
  }
  return {
    sql,
    watch,
    gate: new GateWorld(...(clients as unknown as ConstructorParameters<typeof GateWorld>)),
    blocked,
    async setClock(nowMs) {
      await watch`select setval('explore.clock', ${nowMs})`
    },
    async empty() {
      await watch`select explore.empty()`
    },
    async stop() {
      for (const client of clients) client.disconnect()
      await Promise.all([sql.end({ timeout: 1 }), watch.end({ timeout: 1 })])
      await redis.stop()
      await dropDatabase(postgresUrl, name)
    },
  }
}
