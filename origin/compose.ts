/**
 * Composes the origin from its settings: connects the stores, starts each part after the ones it needs, and returns the apps
 * that serve. What must be stopped is pushed to `stops` as it starts; the caller stops the last first, also when this throws.
 */
import type { Hono } from 'hono'
import type { Logger } from 'pino'
import { importKeys, importSecret } from '../shared/keys.ts'
import { Blocks } from './access/blocks.ts'
import { Buyers } from './access/buyers.ts'
import { Invitations } from './access/invitations.ts'
import { createApp } from './app.ts'
import { Checkout } from './checkout/checkout.ts'
import { checkoutRoutes } from './checkout/checkout-routes.ts'
import { LoadShedder } from './checkout/load-shedder.ts'
import type { Config } from './config.ts'
import { consoleRoutes } from './console/console-routes.ts'
import { loadConsole } from './console/files.ts'
import { connect, ping, prepare } from './ledger/connection.ts'
import { warnOfLostCommits } from './ledger/durability.ts'
import type { OrderRow } from './ledger/orders.ts'
import { WarmConnections } from './ledger/warm-connections.ts'
import { hmacKey } from './lib/hmac.ts'
import type { Actor } from './lib/loop.ts'
import { createMetrics } from './lib/metrics.ts'
import { connectRedis } from './lib/redis.ts'
import { createWorker } from './loops.ts'
import { createMailer } from './mail/mailer.ts'
import { Operators } from './operators/operators.ts'
import { operatorRoutes } from './operators/operators-api.ts'
import { signInRoutes } from './operators/sign-in-routes.ts'
import { createOpsApp } from './ops.ts'
import { OrderEvents } from './orders/order-events.ts'
import { Orders } from './orders/orders.ts'
import { ownOrderRoutes } from './orders/own-order-routes.ts'
import { PaymentJobs } from './payments/payment-jobs.ts'
import { startPayments } from './payments/payments.ts'
import { paymentWebhooks } from './payments/provider-webhooks.ts'
import { Arrivals } from './queue/arrivals.ts'
import { EdgeNotifier } from './queue/edge-notifier.ts'
import { type HealthOf, internalRoutes } from './queue/edge-routes.ts'
import { JoinCounter } from './queue/join-counts.ts'
import { LineShares } from './queue/line-shares.ts'
import { QueueReports } from './queue/queue-reports.ts'
import { SaleCounts } from './report/sale-counts.ts'
import { Retention } from './retention/retention.ts'
import { Sales } from './sales/sales.ts'
import { Scheduler } from './scheduled/scheduler.ts'
import { Gates } from './stock/gate.ts'
import { Reconciler } from './stock/reconciler.ts'
import { SaleWork } from './stock/sale-work.ts'
import { defineScripts } from './stock/scripts.ts'
import { Deliverer } from './webhooks/deliverer.ts'
import { Sender } from './webhooks/sender.ts'

export type Stop = readonly [what: string, stop: () => unknown]

export interface Origin {
  readonly app: Hono
  /** For OPS_PORT. */
  readonly ops: Hono
  readonly events: OrderEvents
  readonly checkout: Checkout
}

export async function compose(config: Config, log: Logger, stops: Stop[]): Promise<Origin> {
  const startActor = (what: string, actor: Actor) => {
    actor.start()
    stops.push([what, () => actor.stop()])
  }
  const hasWorker = config.ROLE !== 'api'

  // -- Stores --
  const sql = connect(config.DATABASE_URL)
  stops.push(['ledger', () => sql.end({ timeout: 2 })])
  await prepare(config.DATABASE_URL)
  await warnOfLostCommits(sql, log)
  const redis = defineScripts(connectRedis(config.REDIS_URL, log))
  stops.push(['gate', () => redis.disconnect()])

  // -- Sales --
  const sales = new Sales(sql)
  const metrics = createMetrics(() => ({ ledger: !sales.isLedgerUnresponsive(), redis: redis.status === 'ready' }))
  await sales.start()
  stops.push(['sales', () => sales.stop()])
  const warm = new WarmConnections(sql, () => connect(config.DATABASE_URL, 1))
  stops.push(['warm connections', () => warm.end()])
  const events = new OrderEvents(sql, log)
  await events.start()
  const arrivals = new Arrivals({ redis, metrics, log })
  startActor('arrivals', arrivals.actor)
  const blocks = new Blocks(sql, { metrics, log })
  await blocks.refresh()
  startActor('blocks', blocks.actor)

  // -- Stock, orders and payments --
  const gates = new Gates(redis)
  const jobs = new PaymentJobs(log)
  const checkout = new Checkout({ sql, warm, gates, sales, arrivals, metrics, log })
  const orders = new Orders({ sql, gates, charges: jobs, actionSeconds: config.PAYMENT_ACTION_SECONDS, metrics, log })
  const stock = { sql, sales, gates, work: new SaleWork(), metrics, log }
  const reconciler = new Reconciler({ ...stock, refunds: jobs })
  const unitsReturned = (returned: readonly OrderRow[]) => reconciler.unitsReturned(returned)
  const payments = await startPayments({ config, sql, jobs, sales, orders, metrics, log, unitsReturned })
  stops.push(['payments', () => payments.stop()])
  // The gate is compared with the ledger before anyone is served: nobody meets a cold gate.
  await reconciler.round().catch((error) => log.warn({ error: String(error) }, 'starting without the fast gate'))

  // -- Background work --
  const edge = new EdgeNotifier(config, log)
  const loadShedder = new LoadShedder()
  const webhookSender = new Sender({
    allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE,
    allowHttp: config.NODE_ENV === 'development',
  })
  if (hasWorker) {
    const scheduler = new Scheduler({ sql, sales, reconciler, edge, metrics, log })
    const retention = new Retention({ config, sql, metrics })
    const load = () => loadShedder.load()
    const deliverer = new Deliverer({ sql, sender: webhookSender, metrics, log, load })
    const mailer = createMailer({ config, sql, metrics, log })
    const own = { deliverer, mailer, retention, scheduler }
    startActor('worker', createWorker({ ...stock, redis, orders, payments, reconciler, ...own }))
  }

  // -- Calls --
  const queueReports = new QueueReports(metrics)
  const saleCounts = new SaleCounts({ sql, sales, arrivals, queueReports, metrics, log })
  startActor('sale minutes', saleCounts.actor)
  const healthOf: HealthOf = (saleId) => (loadShedder.isSlow(saleId) || sales.isLedgerUnresponsive() ? 'slow' : 'ok')
  const keys = {
    admission: await importKeys(config.ADMISSION_KEYS, hmacKey),
    order: importSecret(Buffer.from(config.ORDER_TOKEN_SECRET), hmacKey),
  }
  const operators = new Operators(sql, () => sales.isLedgerUnresponsive())
  /** Each group of routes names in its own type what it takes of these. */
  const parts = {
    arrivals,
    blocks,
    buyers: new Buyers({ config, keys, sales, blocks }),
    checkout,
    config,
    edge,
    environment: {
      name: config.NODE_ENV === 'development' ? 'development' : 'production',
      payments: config.payment.provider,
    },
    events,
    files: await loadConsole(config.NODE_ENV === 'development'),
    gates,
    healthOf,
    invitations: new Invitations(sql, keys.order),
    jobs,
    joinCounter: new JoinCounter({ sql, metrics, saleCounts, log }),
    keys,
    lineShares: new LineShares(redis, log),
    loadShedder,
    log,
    metrics,
    oidc: config.oidc !== undefined,
    operators,
    orders,
    queueReports,
    reconciler,
    redis,
    saleCounts,
    sales,
    sql,
    webhookSender,
  }
  const app = createApp({
    log,
    routes: {
      '/admin': operatorRoutes(parts),
      '/internal': internalRoutes(parts),
      '/console': signInRoutes(parts).route('/', consoleRoutes(parts)),
      '/webhooks': paymentWebhooks(payments),
      '/': checkoutRoutes(parts).route('/', ownOrderRoutes(parts)),
    },
  })
  const stores = { ledger: () => ping(sql), gate: () => redis.ping() }
  return { app, ops: createOpsApp({ stores, registry: metrics.registry }), events, checkout }
}
