/**
 * Starts real servers for tests quickly: a database in the run's single Postgres, and a Redis. The functions are
 * called at the top of a test file or a `describe`; the servers start before its tests and stop after them.
 *
 *     const database = useDatabase()
 *     const redis = useRedis()
 *     test('...', async () => { connect(database.url, redis.url) })
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Server } from '../../dev/lib/processes.ts'
import { type RedisOptions, startRedis } from '../../dev/servers/redis.ts'
import { connect, type Sql } from '../../origin/ledger/connection.ts'
import { createDatabase } from '../run/databases.ts'
import { LEDGER_TEMPLATE } from '../run/one-postgres.ts'
import { sharedPart } from '../run/shared-part.ts'

const HOOK_WITHIN_MS = 300_000

/**
 * Creates an empty database in the run's Postgres. It stays until the end of the run, because dropping it takes longer
 * than creating it.
 */
export async function emptyDatabase(template?: string): Promise<{ url: string }> {
  return { url: await createDatabase(await sharedPart('postgres'), `test_${randomBytes(6).toString('hex')}`, template) }
}

/** A database with the ledger's schema and no rows, on which an origin starts faster than on an empty one. */
export const ledgerDatabase = () => emptyDatabase(LEDGER_TEMPLATE)

/** A database with the ledger's schema for the tests of this file. */
export function useDatabase(): { readonly url: string } {
  const database = useResource(ledgerDatabase)
  return {
    get url() {
      return database().url
    },
  }
}

/** Connects to such a database at once. */
export async function useLedger(connections?: number): Promise<Sql> {
  const database = await ledgerDatabase()
  const sql = connect(database.url, connections)
  afterAll(() => sql.end({ timeout: 1 }), HOOK_WITHIN_MS)
  return sql
}

/** Waits until a statement on another connection to this database waits for a lock. */
export async function untilLocked(sql: Sql): Promise<void> {
  const waiting = () => sql`
    select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0)
}

/** A Redis for the tests of this file, empty at first. */
export function useRedis(options: RedisOptions = {}): Pick<Server, 'kill' | 'url' | 'port'> {
  const server = useResource(
    () => startRedis(options),
    (server) => server.stop(),
  )
  return {
    get url() {
      return server().url
    },
    get port() {
      return server().port
    },
    kill: () => server().kill(),
  }
}

function useResource<T>(make: () => Promise<T>, end: (resource: T) => Promise<void> = async () => {}): () => T {
  let resource: T | undefined
  beforeAll(async () => {
    resource = await make()
  }, HOOK_WITHIN_MS)
  afterAll(async () => {
    if (resource !== undefined) await end(resource)
  }, HOOK_WITHIN_MS)
  return () => {
    if (resource === undefined) throw new Error('Servers are there once tests run, not while they are collected.')
    return resource
  }
}

/** Starts a server that the tests of this file kill and start again, on the same data and port. */
export async function useReturning(start: () => Promise<Server>): Promise<Server> {
  const server = await start()
  afterAll(() => server.stop(), HOOK_WITHIN_MS)
  return server
}
