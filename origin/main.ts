/**
 * The origin's program: reads the settings, composes the parts, serves, and stops in order. Every role serves all calls;
 * `worker` and `all` also do the background work. Until the ledger responds the process is alive but not ready; it exits only
 * for faults that waiting cannot mend.
 */
import { writeSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { pino } from 'pino'
import { importKeys, importSecret } from '../shared/tokens.ts'
import { createApp, createUnreadyApp } from './app.ts'
import { Checkout } from './checkout/checkout.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { buyerRoutes } from './http/buyers.ts'
import { type HealthOf, internalRoutes } from './http/internal.ts'
import { LoadShedder } from './http/load-shedder.ts'
import { operatorRoutes } from './http/operators.ts'
import { answerInvalid, answerUnreadable } from './http/request.ts'
import { paymentWebhooks } from './http/webhooks-in.ts'
import { connect, isLedgerAway, ping, prepare } from './ledger/connection.ts'
import { WarmConnections } from './ledger/warm-connections.ts'
import { hmacKey } from './lib/hmac.ts'
import { shouldLog } from './lib/loop.ts'
import { createMetrics } from './lib/metrics.ts'
import { connectRedis } from './lib/redis.ts'
import { withTimeout } from './lib/with-timeout.ts'
import { createOpsApp } from './ops.ts'
import { OrderEvents } from './orders/order-events.ts'
import { Orders } from './orders/orders.ts'
import { PaymentJobs } from './payments/jobs.ts'
import { startPayments } from './payments/payments.ts'
import { Arrivals } from './sales/arrivals.ts'
import { Blocks } from './sales/blocks.ts'
import { EdgeNotifier } from './sales/edge-notifier.ts'
import { Invitations } from './sales/invitations.ts'
import { JoinCounter } from './sales/join-counts.ts'
import { LineShares } from './sales/line-shares.ts'
import { QueueReports } from './sales/queue-reports.ts'
import { Sales } from './sales/sales.ts'
import { Gates } from './stock/gate.ts'
import { ProductWork } from './stock/product-work.ts'
import { Reconciler } from './stock/reconciler.ts'
import { defineScripts } from './stock/scripts.ts'
import { createWorker } from './worker.ts'

/** A request must have arrived within this time, or its connection is closed. */
const REQUEST_TIMEOUT_MS = 30_000
/** Work in progress at a stop gets this long. */
const STOP_TIMEOUT_MS = 10_000
/** Pause before the next attempt to start while the ledger is away; doubles, jittered .. */
const FIRST_PAUSE_MS = 100
/** .. up to this, which is how late its return may be noticed. */
const MAX_PAUSE_MS = 2_000
/** The descriptor itself: merely touching `process.stdout` can make a pipe nonblocking, and full pipes then reject lines. */
const STDOUT = 1

const config = readConfigOrExit()
const log = pino({ level: config.LOG_LEVEL, base: { role: config.ROLE } }, { write: writeLog })
for (const warning of config.warnings) log.warn(warning)

/** How to stop what was started; the last is stopped first. */
const stops: [what: string, stop: () => unknown][] = []
let stopping = false
let app = createUnreadyApp()
let ops = createOpsApp()

async function start(): Promise<void> {
  const server = await listen(config.PORT, (request, env) => app.fetch(request, env))
  await listen(config.OPS_PORT, (request, env) => ops.fetch(request, env))
  app = await composeOnceLedgerResponds(server)
  log.info('serving')
}

async function composeOnceLedgerResponds(server: Server): Promise<Hono> {
  for (let failures = 1; ; failures++) {
    try {
      return await compose(server)
    } catch (error) {
      if (!isLedgerAway(error as Error)) throw error
      if (shouldLog(failures)) log.warn({ failures, error: String(error) }, 'waiting for Postgres')
    }
    // The ledger may have gone away halfway through the start.
    await stopAll()
    await sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.5 + Math.random() / 2))
  }
}

async function compose(server: Server): Promise<Hono> {
  const sql = connect(config.DATABASE_URL)
  stops.push(['ledger', () => sql.end({ timeout: 2 })])
  await prepare(config.DATABASE_URL)
  const redis = defineScripts(connectRedis(config.REDIS_URL, log))
  stops.push(['gate', () => redis.disconnect()])

  const sales = new Sales(sql)
  const metrics = createMetrics(() => ({
    ledger: !sales.isLedgerUnresponsive(),
    redis: redis.status === 'ready',
  }))
  await sales.start()
  stops.push(['sales', () => sales.stop()])
  const jobs = new PaymentJobs(config.DATABASE_URL, log, config.ROLE !== 'api')
  stops.push(['jobs', () => jobs.stop()])
  await jobs.start()
  const warm = new WarmConnections(sql, () => connect(config.DATABASE_URL, 1))
  stops.push(['warm connections', () => warm.end()])
  const events = new OrderEvents(sql, log)
  await events.start()
  const arrivals = new Arrivals({ redis, metrics, log })
  arrivals.actor.start()
  stops.push(['arrivals', () => arrivals.actor.stop()])

  const blocks = new Blocks(sql, { metrics, log })
  await blocks.refresh()
  blocks.actor.start()
  stops.push(['blocks', () => blocks.actor.stop()])

  const gates = new Gates(redis)
  const checkout = new Checkout({ sql, warm, gates, sales, arrivals, metrics, log })
  const orders = new Orders({ sql, gates, charges: jobs, metrics, log })
  const payments = await startPayments({ config, sql, jobs, sales, orders, metrics, log })
  stops.push(['payments', () => payments.stop()])
  const stock = { sql, sales, gates, work: new ProductWork(), metrics, log }
  const reconciler = new Reconciler({ ...stock, refunds: jobs })
  // The gate is compared with the ledger before anyone is served: nobody meets a cold gate.
  await reconciler.round().catch((error) => log.warn({ error: String(error) }, 'starting without the fast gate'))
  if (config.ROLE !== 'api') {
    const worker = createWorker({ ...stock, redis, orders, payments, reconciler })
    worker.start()
    stops.push(['worker', () => worker.stop()])
  }

  const loadShedder = new LoadShedder()
  const queueReports = new QueueReports(metrics)
  const joinCounter = new JoinCounter({ sql, metrics, log })
  const lineShares = new LineShares(redis, log)
  const edge = new EdgeNotifier(config, log)
  const healthOf: HealthOf = (saleId) => (loadShedder.isSlow(saleId) || sales.isLedgerUnresponsive() ? 'slow' : 'ok')
  const keys = {
    admission: await importKeys(config.ADMISSION_KEYS, hmacKey),
    order: importSecret(Buffer.from(config.ORDER_TOKEN_SECRET), hmacKey),
  }
  const invitations = new Invitations(sql, keys.order)
  const routes = {
    '/admin': operatorRoutes({
      ...{ config, sql, sales, blocks, invitations, orders, reconciler, arrivals, queueReports, edge, healthOf, log },
    }),
    '/internal': internalRoutes({
      ...{ config, sales, blocks, invitations, arrivals, queueReports, joinCounter, lineShares, redis, healthOf },
    }),
    '/webhooks': paymentWebhooks(payments),
    '/': buyerRoutes({ config, sql, sales, blocks, checkout, loadShedder, orders, events, arrivals, metrics, keys }),
  }
  const stores = { ledger: () => ping(sql), gate: () => redis.ping() }
  ops = createOpsApp({ stores, registry: metrics.registry })
  stops.push(['server', () => close(server, events, checkout)])
  return createApp({ routes, log })
}

function listen(port: number, fetch: Parameters<typeof getRequestListener>[0]): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>()
  const serve = getRequestListener(fetch, { hostname: config.HOST, errorHandler: answerInvalid })
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, serve)
  server.listen(port, config.HOST, () => {
    log.info({ port: (server.address() as AddressInfo).port }, 'listening')
    resolve(server)
  })
  server.once('error', reject)
  server.on('clientError', answerUnreadable)
  return promise
}

async function close(server: Server, events: OrderEvents, checkout: Checkout): Promise<void> {
  const closed = new Promise((done) => server.close(done))
  await events.stop()
  server.closeIdleConnections()
  await withTimeout(closed, STOP_TIMEOUT_MS / 2).catch(() => server.closeAllConnections())
  await checkout.drain()
}

async function stop(code: number): Promise<void> {
  if (stopping) return
  stopping = true
  setTimeout(() => process.exit(code || 1), STOP_TIMEOUT_MS).unref()
  await stopAll()
  process.exit(code)
}

async function stopAll(): Promise<void> {
  for (let last = stops.pop(); last; last = stops.pop()) {
    const [what, stop] = last
    await Promise.resolve(stop()).catch((error) => log.warn({ what, error: String(error) }, 'stop failed'))
  }
}

function readConfigOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}

/** A line that cannot be written is lost. On a full disk pino's own stream would retry forever and block all service. */
function writeLog(line: string): void {
  try {
    writeSync(STDOUT, line)
  } catch {
    // There is nowhere to report it.
  }
}

process.on('uncaughtException', (error) => {
  log.fatal({ error: error.stack ?? String(error) }, 'unexpected error')
  process.exit(1)
})
process.on('SIGINT', () => void stop(0))
process.on('SIGTERM', () => void stop(0))
start().catch((error) => {
  log.fatal({ error: error.stack ?? String(error) }, `cannot start: ${error.message}`)
  void stop(1)
})
