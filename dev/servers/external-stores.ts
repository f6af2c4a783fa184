/** Checks a Postgres and a Redis that the user has configured, before anything starts. */
import { once } from 'node:events'
import { pino } from 'pino'
import postgres from 'postgres'
import { connectRedis, isRedisUrl } from '../../origin/lib/redis/redis.ts'
import { postgresAddress } from '../../origin/lib/store-tls.ts'
import { LocalError } from '../lib/processes.ts'

const CHECK_WITHIN_SECONDS = 10

/** Fails with one line if the address is wrong or no server responds there. */
export async function checkDatabase(url: string): Promise<void> {
  if (!/^postgres(ql)?:\/\/./.test(url) || !URL.canParse(url)) {
    throw new LocalError('DATABASE_URL is not an address such as postgres://user:password@host:5432/database.')
  }
  const { url: address, options } = postgresAddress(url)
  const sql = postgres(address, { ...options, max: 1, connect_timeout: CHECK_WITHIN_SECONDS, onnotice: () => {} })
  try {
    await sql`select 1`
  } catch (error) {
    throw new LocalError(`The Postgres at DATABASE_URL (${placeOf(url)}) does not serve: ${reasonOf(error)}`)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** The origin's own rule and client are used, so that both accept the same addresses. */
export async function checkRedis(url: string): Promise<void> {
  if (!isRedisUrl(url)) {
    throw new LocalError(
      'REDIS_URL is not an address such as redis://host:6379, redis+sentinel://host,host/name or ' +
        'redis+cluster://host,host.',
    )
  }
  const redis = connectRedis(url, pino({ level: 'silent' }))
  try {
    // The check fails with the first error, because the client itself would retry.
    await once(redis, 'ready', { signal: AbortSignal.timeout(CHECK_WITHIN_SECONDS * 1000) })
    await redis.ping()
  } catch (error) {
    throw new LocalError(`The Redis at REDIS_URL (${placeOf(url)}) does not serve: ${reasonOf(error)}`)
  } finally {
    redis.disconnect()
  }
}

/** Names hosts and ports, never the password. */
const placeOf = (url: string) => url.replace(/^.*?:\/\/(.*@)?/, '').replace(/[/?].*$/, '')

function reasonOf(error: unknown): string {
  // The cause has more detail: a Cluster's error contains that of its last node, and a timeout its reason.
  const { message, code, lastNodeError, cause } = error as NodeJS.ErrnoException & { lastNodeError?: Error }
  if (lastNodeError || cause) return reasonOf(lastNodeError ?? cause)
  return (message || code || String(error)).split('\n')[0] ?? ''
}
