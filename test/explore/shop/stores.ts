/** The stores of an explorer: a Postgres whose clock is the explored one, and a Redis, both for many orders of events. */
import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { startRedis } from '../../../dev/servers/redis.ts'
import { connect, ORIGIN_SESSIONS, prepare, type Sql } from '../../../origin/ledger/connection.ts'
import { createDatabase, dropDatabase } from '../../run/databases.ts'
import { GateWorld } from './gate-port.ts'

/** A pool for all processes of an order, with a connection for each transaction that stays open. */
const CONNECTIONS = 24

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
  readonly gate: GateWorld
  readonly blocked: () => Promise<number>
  setClock(nowMs: number): Promise<void>
  empty(): Promise<void>
  stop(): Promise<void>
}

/** On the server of this address, in a database of its own. */
export async function openStores(postgresUrl: string): Promise<Stores> {
  const name = `explore_${randomBytes(6).toString('hex')}`
  const url = await createDatabase(postgresUrl, name)
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await admin.unsafe(EXPLORED)
  for (const setting of ['search_path = public, explore, pg_catalog', 'synchronous_commit = off'])
    await admin.unsafe(`alter database ${name} set ${setting}`)
  await admin.end()
  const limits = await prepare(url)
  const sql = connect(url, CONNECTIONS, ORIGIN_SESSIONS, limits)
  const watch = connect(url, 1)
  const redis = await startRedis({ args: ['--appendonly', 'no'] })
  const clients = [new Redis(redis.url), new Redis(redis.url, { db: 1 })] as const
  // A lock is granted in the moment in which the one before is released, and the session notices it later.
  const blocked = async () => {
    const [row] = await watch<{ count: number }[]>`
      select count(distinct pid)::int from pg_locks join pg_stat_activity using (pid)
      where not granted and datname = current_database()`
    return row?.count ?? 0
  }
  return {
    sql,
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
