/**
 * One origin for a whole test run, with its own database and Redis. Test files share it, each with its own sales. It
 * is never killed, stopped or slowed down on purpose, and its stores contain the data of several files. See
 * origin-process.ts.
 */
import { join } from 'node:path'
import { execa } from 'execa'
import { Redis } from 'ioredis'
import { LOOPBACK, type Server, temporaryFolder } from '../../dev/lib/processes.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import { originPorts, originServer } from '../../dev/system.ts'
import { newKeySet } from '../../shared/keys.ts'
import { createDatabase } from './databases.ts'
import { LEDGER_TEMPLATE } from './one-postgres.ts'
import type { Part } from './shared-part.ts'

export interface Stores {
  readonly databaseUrl: string
  readonly redisUrl: string
}

/** The address of an origin, its stores, and its keys of admissions. */
export interface OriginAddress extends Stores {
  readonly url: string
  readonly opsUrl: string
  readonly logFile: string
  readonly keys: ReturnType<typeof newKeySet>
}

export const ADMIN_TOKEN = 'test-admin-token-of-at-least-32-characters'
export const EDGE_TOKEN = 'test-edge-token-of-at-least-32-characters'
/** The secret between an origin and a shop's payment server or checkout. */
export const PAYMENT_SECRET = `whsec_${Buffer.from('secret of the payment server, 32').toString('base64')}`
/** The keys of a test run, which all origins on one ledger share. */
export const ORDER_KEYS = { keys: [{ kty: 'oct', kid: 'orders', k: 'b'.repeat(43) }] }
/** A charge without a response is given up in seconds. A late one arrives when a test makes it old. */
const SANDBOX = { SANDBOX_TIMEOUT_MS: '2000', SANDBOX_LATE_MS: '600000' }

export async function startOrigin(postgresUrl: string): Promise<Part<OriginAddress>> {
  const [databaseUrl, redis] = await Promise.all([createDatabase(postgresUrl, 'origin', LEDGER_TEMPLATE), startRedis()])
  const folder = temporaryFolder('origin')
  const stores = { databaseUrl, redisUrl: redis.url }
  const keys = newKeySet()
  const env = { ...SANDBOX, REDIS_URL: await leastRights(redis.url) }
  const { server, ...place } = await testOrigin(folder.path, keys, () => ({ ...stores, env }))
  await server.start()
  return {
    address: { ...place, ...stores, keys, url: server.url },
    async stop() {
      await server.stop()
      // A failed test of a file that shares the origin is seldom explained by its own lines alone.
      if (process.exitCode) console.log(`The shared origin has logged:\n${lastLines(server.logTail())}`)
      const refused = await refusedCommands(redis.url)
      await redis.stop()
      if (refused.length > 0) throw new Error(`The user of Redis lacks rights: ${refused.join(', ')}`)
      folder.remove()
    },
  }
}

const LINES_SHOWN = 200
const lastLines = (log: string) => log.split('\n').slice(-LINES_SHOWN).join('\n')

/** The address of a user of this Redis with the rights that the command prints, and no others. */
async function leastRights(redisUrl: string): Promise<string> {
  const { stdout } = await execa('node', ['origin/migrate.ts', '--redis-rights'])
  const redis = new Redis(redisUrl)
  await redis.call('ACL', 'SETUSER', 'origin', '>secret', ...stdout.split(' '))
  redis.disconnect()
  return Object.assign(new URL(redisUrl), { username: 'origin', password: 'secret' }).href
}

/** The commands that this Redis refused to any user. */
async function refusedCommands(redisUrl: string): Promise<string[]> {
  const redis = new Redis(redisUrl)
  const log = (await redis.call('ACL', 'LOG')) as string[][]
  redis.disconnect()
  return log.map((entry) => String(entry[entry.indexOf('object') + 1]))
}

/** An origin for tests, which is not started yet and logs to this folder. `settings` is called at each start. */
export async function testOrigin(
  folder: string,
  keys: ReturnType<typeof newKeySet>,
  settings: () => Stores & { readonly env: Readonly<Record<string, string>> },
): Promise<{ server: Server; opsUrl: string; logFile: string }> {
  const logFile = join(folder, 'origin.log')
  const ports = await originPorts()
  const server = originServer('the origin', ports, logFile, () => {
    const { databaseUrl, redisUrl, env } = settings()
    return {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'development',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      ADMIN_TOKEN,
      EDGE_TOKEN,
      ORDER_KEYS: JSON.stringify(ORDER_KEYS),
      WEBHOOK_SECRET: 'test-webhook-secret-of-at-least-32-chars',
      PAYMENT_SECRET,
      ADMISSION_KEYS: JSON.stringify(keys),
      ALLOW_DIRECT: 'true',
      IMAGES_DIR: join(folder, 'images'),
      LOG_LEVEL: 'warn',
      ...env,
    }
  })
  return { server, opsUrl: `http://${LOOPBACK}:${ports.opsPort}`, logFile }
}
