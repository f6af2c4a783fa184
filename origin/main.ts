/**
 * The origin: one program that keeps no state of its own. Whatever its role, it listens and answers every call. `worker` and
 * `all` also do what must happen without a call (holds, intents, payments, reconciliation), which `api` leaves to them;
 * these two differ by whether buyers are sent to them. It begins when the ledger answers: until then it waits, alive and
 * not ready, and ends only for what waiting cannot mend.
 */
import { writeSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { pino } from 'pino'
import { importKeys, importSecret } from '../shared/tokens.ts'
import { createApp, createUnreadyApp } from './app.ts'
import { Checkout } from './checkout/checkout.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { LoadShedder } from './http/load-shedder.ts'
import { answerInvalid, answerUnreadable } from './http/request.ts'
import { connect, isLedgerAway, prepare } from './ledger/connection.ts'
import { WarmConnections } from './ledger/warm-connections.ts'
import { shouldLog } from './lib/loop.ts'
import { createMetrics } from './lib/metrics.ts'
import { connectRedis } from './lib/redis.ts'
import { withTimeout } from './lib/with-timeout.ts'
import { OrderEvents } from './orders/order-events.ts'
import { Orders } from './orders/orders.ts'
import { PaymentJobs } from './payments/jobs.ts'
import { startPayments } from './payments/payments.ts'
import { Arrivals } from './sales/arrivals.ts'
import { EdgeNotifier } from './sales/edge-notifier.ts'
import { QueueReports } from './sales/queue-reports.ts'
import { Sales } from './sales/sales.ts'
import { Gates } from './stock/gates.ts'
import { ProductWork } from './stock/product-work.ts'
import { Reconciler } from './stock/reconciler.ts'
import { defineScripts } from './stock/scripts.ts'
import { createWorker } from './worker.ts'

/** How long a request may take to arrive; its connection is closed then. */
const REQUEST_WITHIN_MS = 30_000
/** What is under way at a stop gets so long to finish. */
const STOP_WITHIN_MS = 10_000
/** A ledger that is away is asked again, each time after twice as long; jittered, since all origins may wait for it. */
const FIRST_PAUSE_MS = 100
/** .. and no longer than this, which is how late it may be found to be back. */
const MAX_PAUSE_MS = 2_000
/** By its number: merely to look at `process.stdout` can leave a pipe so that a line it has no room for is refused. */
const STDOUT = 1

const config = readConfigOrExit()
const log = pino({ level: config.LOG_LEVEL, base: { role: config.ROLE } }, { write: tell })
for (const warning of config.warnings) log.warn(warning)

/** What has begun, and is to be ended. */
const stops: [what: string, stop: () => unknown][] = []
let stopping = false
let app = createUnreadyApp()

async function start(): Promise<void> {
  const server = await listen()
  const deps = await onceTheLedgerAnswers(begin)
  app = createApp(deps)
  stops.push(['server', () => close(server, deps)])
  log.info('serving')
}

async function onceTheLedgerAnswers<T>(work: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (!isLedgerAway(error as Error)) throw error
      if (shouldLog(failures))
        log.warn({ failures, error: String(error) }, 'Postgres is away: waiting for it')
    }
    // It may have gone away in the middle of the beginning.
    await end()
    await sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.5 + Math.random() / 2))
  }
}

async function begin(): Promise<Deps> {
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
  const gates = new Gates(redis)
  const checkout = new Checkout({ sql, warm, gates, sales, metrics, log })
  const events = new OrderEvents(sql, log)
  await events.start()
  const arrivals = new Arrivals({ redis, metrics, log })
  arrivals.start()
  stops.push(['arrivals', () => arrivals.stop()])
  const base = {
    config,
    log,
    metrics,
    sql,
    redis,
    sales,
    checkout,
    gates,
    loadShedder: new LoadShedder(),
    orders: new Orders({ sql, gates, charges: jobs, metrics, log }),
    events,
    arrivals,
    queueReports: new QueueReports(metrics),
    work: new ProductWork(),
    edge: new EdgeNotifier(config, log),
    keys: {
      admission: await importKeys(config.ADMISSION_KEYS),
      order: importSecret(Buffer.from(config.ORDER_TOKEN_SECRET)),
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
  return deps
}

function listen(): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>()
  const answer = getRequestListener((request, env) => app.fetch(request, env), {
    hostname: config.HOST,
    errorHandler: answerInvalid,
  })
  const server = createServer({ requestTimeout: REQUEST_WITHIN_MS }, answer)
  server.listen(config.PORT, config.HOST, () => {
    log.info({ port: (server.address() as AddressInfo).port }, 'listening')
    resolve(server)
  })
  server.once('error', reject)
  server.on('clientError', answerUnreadable)
  // What nobody has heard of may be expected in vain (RFC 9110, 10.1.1).
  server.on('checkExpectation', answer)
  return promise
}

async function close(server: Server, { events, checkout }: Deps): Promise<void> {
  const closed = new Promise((done) => server.close(done))
  await events.stop()
  server.closeIdleConnections()
  await withTimeout(closed, STOP_WITHIN_MS / 2).catch(() => server.closeAllConnections())
  await checkout.drain()
}

async function stop(code: number): Promise<void> {
  if (stopping) return
  stopping = true
  setTimeout(() => process.exit(code || 1), STOP_WITHIN_MS).unref()
  await end()
  process.exit(code)
}

/** Ends what has begun, the last first. */
async function end(): Promise<void> {
  for (let last = stops.pop(); last; last = stops.pop()) {
    const [what, stop] = last
    await Promise.resolve(stop()).catch((error) =>
      log.warn({ what, error: String(error) }, 'did not stop in good order'),
    )
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

/** What cannot be written is lost: pino's own stream tries it for ever on a full disk, and nobody is served meanwhile. */
function tell(line: string): void {
  try {
    writeSync(STDOUT, line)
  } catch {
    // There is nowhere to say so.
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
