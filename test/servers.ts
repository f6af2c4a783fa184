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
import { createDatabase, dropDatabase, type startPostgres } from '../dev/postgres.ts'
import { freePort, type LocalServer, temporaryFolder } from '../dev/processes.ts'
import { type RedisOptions, startRedis } from '../dev/redis.ts'
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

/** A server that the tests of this file take away and bring back, on the same data and port; there at once. */
export async function useReturning(start: typeof startPostgres | typeof startRedis) {
  const folder = temporaryFolder('returning')
  const at = { dataDir: folder.path, port: await freePort() }
  let server = await start(at)
  afterAll(async () => {
    await server.stop()
    folder.remove()
  }, HOOK_WITHIN_MS)
  return {
    url: server.url,
    port: at.port,
    kill: () => server.kill(),
    async back() {
      server = await start(at)
    },
  }
}

function begun<T>(server: T | undefined): T {
  if (server === undefined)
    throw new Error('Servers are there once the tests run, not while they are collected.')
  return server
}
