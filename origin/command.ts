/**
 * The commands of the image, whose entry point this is. It needs no shell, no npm, and no network but to the stores.
 *
 *     node origin/command.ts api
 */
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { ConfigError, readAddress, readDatabaseUrl } from './base/env.ts'

const HELP = `The origin of a flash sale. docs/settings.md lists its settings.

  api                            serves buyers and operators
  worker                         serves them too, and does the background work
  migrate                        migrates the ledger; needs DATABASE_URL alone
  operator add NAME --role ROLE  makes an operator and prints the key; also: list, revoke NAME
  lost-orders                    after the ledger was restored, before a process starts: prints as CSV the orders that
                                 Redis knows and the ledger has no more; needs DATABASE_URL and REDIS_URL
  healthcheck                    exits with 0 if the process beside it is ready, by OPS_HOST and OPS_PORT`

/** The address of a process that listens on every one. */
const ANY_ADDRESS = /^(0\.0\.0\.0|::)$/
/** A readiness takes a second at most, and a container that is busy a few. */
const HEALTH_WITHIN_MS = 5_000
const REDIS_WITHIN_MS = 10_000

async function main([name, ...args]: readonly string[]): Promise<number | undefined> {
  switch (name) {
    case 'api':
    case 'worker':
      process.env.ROLE = name
      await import('./main.ts')
      return undefined
    case 'migrate':
      await import('./migrate.ts')
      return undefined
    case 'operator':
      return operator(args)
    case 'lost-orders':
      return printLostOrders()
    case 'healthcheck':
      return healthcheck()
    default:
      console.error(HELP)
      return 2
  }
}

async function operator(args: readonly string[]): Promise<number> {
  const { operatorCommand } = await import('./operators/operator-commands.ts')
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { role: { type: 'string' } },
    allowPositionals: true,
  })
  const command = operatorCommand(positionals, values.role)
  if (typeof command === 'string') {
    console.error(command)
    return 2
  }
  const [{ connect }, { requireMigrated }] = await Promise.all([
    import('./ledger/connection.ts'),
    import('./ledger/migrate.ts'),
  ])
  const url = readDatabaseUrl(process.env)
  await requireMigrated(url)
  const sql = connect(url, 1)
  try {
    return await command(sql)
  } finally {
    await sql.end({ timeout: 2 })
  }
}

async function printLostOrders(): Promise<number> {
  const [{ RedisUrl }, { connect }, { requireMigrated }, { connectRedis }, { lostOrders }, { stringify }, { pino }] =
    await Promise.all([
      import('./base/config.ts'),
      import('./ledger/connection.ts'),
      import('./ledger/migrate.ts'),
      import('./lib/redis/redis.ts'),
      import('./stock/lost-orders.ts'),
      import('csv-stringify/sync'),
      import('pino'),
    ])
  const url = readDatabaseUrl(process.env)
  const redisUrl = readAddress(process.env, 'REDIS_URL', RedisUrl)
  await requireMigrated(url)
  const sql = connect(url, 1)
  const redis = connectRedis(redisUrl, pino({ level: 'silent' }))
  const columns = ['order_id', 'sale', 'status', 'visitor', 'email']
  let lost = 0
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(REDIS_WITHIN_MS) })
    process.stdout.write(stringify([columns]))
    for await (const orders of lostOrders(sql, redis)) {
      lost += orders.length
      process.stdout.write(stringify(orders, { columns }))
    }
  } finally {
    redis.disconnect()
    await sql.end({ timeout: 2 })
  }
  console.error(`${lost} orders are in Redis and not in the ledger.`)
  return 0
}

async function healthcheck(): Promise<number> {
  const { OPS_HOST = '', OPS_PORT } = process.env
  const host = OPS_HOST === '' || ANY_ADDRESS.test(OPS_HOST) ? '127.0.0.1' : OPS_HOST
  const response = await fetch(`http://${host}:${OPS_PORT || 3001}/readyz`, {
    signal: AbortSignal.timeout(HEALTH_WITHIN_MS),
  })
  console.log(await response.text())
  return response.ok ? 0 : 1
}

try {
  const status = await main(process.argv.slice(2))
  if (status !== undefined) process.exitCode = status
} catch (error) {
  const { name, message, cause } = error as Error
  console.error(error instanceof ConfigError ? message : `${name}: ${cause instanceof Error ? cause.message : message}`)
  process.exitCode = 1
}
