/**
 * The origin: one program that keeps no state of its own. Whatever its role, it listens and answers every call. `worker` and
 * `all` also do what must happen without a call (holds, intents, payments, reconciliation), which `api` leaves to them;
 * these two differ by whether buyers are sent to them.
 */
import { serve } from '@hono/node-server'
import { createLocalJWKSet } from 'jose'
import { pino } from 'pino'
import { createApp } from './app.ts'
import { Arrivals } from './arrivals.ts'
import { Checkout } from './checkout.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { edgeTeller } from './edge.ts'
import { OrderEvents } from './events.ts'
import { connectRedis } from './gate/redis.ts'
import { connect, prepare } from './ledger/ledger.ts'
import { WarmConnections } from './ledger/warm.ts'
import { Line } from './line.ts'
import { createMetrics } from './metrics.ts'
import { Orders } from './orders.ts'
import { PaymentJobs } from './payments/jobs.ts'
import { startPayments } from './payments/payments.ts'
import { Reconciler } from './reconcile.ts'
import { answerUnreadable } from './routes/rim.ts'
import { Sales } from './sales.ts'
import { Signatures } from './signatures.ts'
import { keysAt } from './tokens.ts'
import { UnderWay } from './under-way.ts'
import { within } from './within.ts'
import { createWorker } from './worker.ts'

/** How long a request may take to arrive; its connection is closed then. */
const REQUEST_WITHIN_MS = 30_000
/** What is under way at a stop gets so long to finish. */
const STOP_WITHIN_MS = 10_000

const config = readConfigOrExit()
const log = pino({ level: config.LOG_LEVEL, base: { role: config.ROLE } })
for (const warning of config.warnings) log.warn(warning)

const stops: [what: string, stop: () => unknown][] = []
let stopping = false

async function start(): Promise<void> {
  const sql = connect(config.DATABASE_URL)
  stops.push(['ledger', () => sql.end({ timeout: 2 })])
  await prepare(config.DATABASE_URL)
  const redis = connectRedis(config.REDIS_URL, log)
  stops.push(['gate', () => redis.disconnect()])

  const sales = new Sales(sql)
  const metrics = createMetrics(() => ({ ledger: !sales.isSilent(), redis: redis.status === 'ready' }))
  await sales.start()
  stops.push(['sales', () => sales.stop()])
  const jobs = new PaymentJobs(config.DATABASE_URL, log, config.ROLE !== 'api')
  await jobs.start()
  stops.push(['jobs', () => jobs.stop()])
  const warm = new WarmConnections(sql, () => connect(config.DATABASE_URL, 1))
  stops.push(['warm connections', () => warm.end()])
  const checkout = new Checkout({ sql, warm, redis, buckets: config.STOCK_BUCKETS, sales, metrics, log })
  const events = new OrderEvents(sql, log)
  await events.start()
  const arrivals = new Arrivals(redis, metrics, log)
  arrivals.start()
  stops.push(['arrivals', () => arrivals.stop()])
  const signatures = new Signatures()
  stops.push(['signatures', () => signatures.stop()])
  const base = {
    config,
    log,
    metrics,
    sql,
    redis,
    sales,
    checkout,
    underWay: new UnderWay(),
    orders: new Orders({ sql, checkout, charges: jobs, metrics, log }),
    events,
    arrivals,
    line: new Line(redis, metrics),
    tellEdge: edgeTeller(config, log),
    signatures,
    keys: {
      admission:
        'jwks' in config.admission ? createLocalJWKSet(config.admission.jwks) : keysAt(config.admission.url),
      order: Buffer.from(config.ORDER_TOKEN_SECRET),
    },
  }
  const payments = await startPayments(base, jobs)
  stops.push(['payments', () => payments.stop()])
  const deps: Deps = { ...base, payments }
  // The gate is checked against the ledger before anyone is served: no cold start at the door.
  await new Reconciler(deps)
    .round()
    .catch((error) => log.warn({ error: String(error) }, 'starting without the fast gate'))

  if (config.ROLE !== 'api') {
    const worker = createWorker(deps)
    worker.start()
    stops.push(['worker', () => worker.stop()])
  }
  await listen(deps)
}

function listen(deps: Deps): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const server = serve(
    {
      fetch: createApp(deps).fetch,
      port: config.PORT,
      hostname: config.HOST,
      serverOptions: { requestTimeout: REQUEST_WITHIN_MS },
    },
    ({ port }) => {
      log.info({ port }, 'listening')
      resolve()
    },
  )
  server.once('error', reject)
  server.on('clientError', answerUnreadable)
  stops.push([
    'server',
    async () => {
      const closed = new Promise((done) => server.close(done))
      await deps.events.stop()
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      await within(closed, STOP_WITHIN_MS / 2).catch(
        () => 'closeAllConnections' in server && server.closeAllConnections(),
      )
      await deps.checkout.drain()
    },
  ])
  return promise
}

async function stop(code: number): Promise<void> {
  if (stopping) return
  stopping = true
  setTimeout(() => process.exit(code || 1), STOP_WITHIN_MS).unref()
  for (const [what, end] of stops.reverse()) {
    await Promise.resolve(end()).catch((error) =>
      log.warn({ what, error: String(error) }, 'did not stop in good order'),
    )
  }
  process.exit(code)
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
