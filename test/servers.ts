/**
 * Real servers for tests, quickly: a database of its own in the run's one Postgres, a Redis of its own. Called at the
 * top of a test file or a `describe`, they start before its tests and stop after them.
 *
 *     const database = useDatabase()
 *     const redis = useRedis()
 *     test('...', async () => { connect(database.url, redis.url) })
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, inject } from 'vitest'
import type { LocalServer } from '../origin/local/children.ts'
import { createDatabase, dropDatabase } from '../origin/local/postgres.ts'
import { type RedisOptions, startRedis } from '../origin/local/redis.ts'
import type {} from './one-postgres.ts'

const HOOK_WITHIN_MS = 60_000

/** An empty database in the run's Postgres; the caller drops it, or leaves it to the end of the run. */
export async function emptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = inject('postgresUrl')
  const name = `test_${randomBytes(6).toString('hex')}`
  return { url: await createDatabase(server, name), drop: () => dropDatabase(server, name) }
}

/** A database for the tests of this file, empty at first and dropped afterwards. */
export function useDatabase(): { readonly url: string } {
  let database: Awaited<ReturnType<typeof emptyDatabase>> | undefined
  beforeAll(async () => {
    database = await emptyDatabase()
  }, HOOK_WITHIN_MS)
  afterAll(async () => {
    await database?.drop()
  }, HOOK_WITHIN_MS)
  return {
    get url() {
      return begun(database).url
    },
  }
}

/** A Redis for the tests of this file, empty at first. */
export function useRedis(
  options: RedisOptions = {},
): Pick<LocalServer, 'kill'> & { readonly url: string; readonly port: number } {
  let server: LocalServer | undefined
  beforeAll(async () => {
    server = await startRedis(options)
  }, HOOK_WITHIN_MS)
  afterAll(async () => {
    await server?.stop()
  }, HOOK_WITHIN_MS)
  return {
    get url() {
      return begun(server).url
    },
    get port() {
      return begun(server).port
    },
    kill: () => begun(server).kill(),
  }
}

function begun<T>(server: T | undefined): T {
  if (server === undefined)
    throw new Error('Servers are there once the tests run, not while they are collected.')
  return server
}
