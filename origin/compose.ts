/**
 * Composes the origin from its settings: connects the stores, starts each part after the ones it needs, and returns
 * the apps that serve. What must be stopped is pushed to `stops` as it starts; the caller stops the last first, also
 * when this throws.
 */
import type { Hono } from 'hono'
import type { Logger } from 'pino'
import { importKeys, importSecrets } from '../shared/keys.ts'
import { Blocks } from './access/blocks.ts'
import { Buyers } from './access/buyer-access.ts'
import { Invitations } from './access/invitations.ts'
import { Policies } from './access/policy.ts'
import { readAlerts } from './alerts/alert-queries.ts'
import { AlertSender } from './alerts/alert-sender.ts'
import { AlertChannels } from './alerts/channels.ts'
import { createApp } from './app.ts'
import type { Config } from './base/config.ts'
import { createMetrics } from './base/metrics.ts'
import type { VoucherSource } from './checkout/cart/vouchers.ts'
import { Checkout } from './checkout/checkout.ts'
import { LoadShedder } from './checkout/load-shedder.ts'
import { listAnnouncements, publishPost } from './feed/posts.ts'
import { noteFailedAssertions, writeFinding } from './findings/failed-assertions.ts'
import { RecentSearches } from './front/recent-searches.ts'
import { Goods } from './goods/goods.ts'
import { SectionUpdates } from './hall/section-updates.ts'
import { folderStore, s3Store } from './images/image-store.ts'
import { Images } from './images/images.ts'
import { connect, ping } from './ledger/connection.ts'
import { warnOfLostCommits } from './ledger/durability.ts'
import { migrate, requireMigrated } from './ledger/migrate.ts'
import type { OrderRow } from './ledger/order-statements.ts'
import { WarmConnections } from './ledger/warm-connections.ts'
import { hmacKey } from './lib/hmac.ts'
import { type Actor, loop } from './lib/loop.ts'
import { connectRedis, requireTrusted } from './lib/redis/redis.ts'
import { RedisWatch } from './lib/redis/redis-watch.ts'
import { machine } from './lib/runtime.ts'
import { Tracer } from './lib/tracing.ts'
import { Writes } from './lib/writes.ts'
import { createWorker } from './loops.ts'
import { createMailer } from './mail/mailer.ts'
import { loadConsole } from './operators/console-files.ts'
import { createOpsApp } from './ops.ts'
import { noteReach } from './orders/hold-pause.ts'
import { OrderChanges } from './orders/order-changes.ts'
import { OrderEvents } from './orders/order-events.ts'
import { Orders } from './orders/orders.ts'
import { PaymentJobs } from './payments/payment-jobs.ts'
import { startPayments } from './payments/payments.ts'
import { PromoCodes } from './promo-codes/promo-codes.ts'
import { Arrivals } from './queue/arrivals.ts'
import { EdgeNotifier } from './queue/edge-notifier.ts'
import { JoinCounter } from './queue/join-counts.ts'
import { LineShares } from './queue/line-shares.ts'
import { NetworkCounts } from './queue/network-counts.ts'
import { PaymentRoom } from './queue/payment-room.ts'
import { QueueReports } from './queue/queue-reports.ts'
import { ResponseTimes } from './queue/response-times.ts'
import { SaleQueues } from './queue/sale-queues.ts'
import { SourceCounts } from './queue/source-counts.ts'
import { SaleCounts } from './report/sale-counts.ts'
import { saleReport } from './report/sale-report.ts'
import { readWorkers } from './report/work/worker-reports.ts'
import { Retention } from './retention/retention.ts'
import { createRoutes } from './routes.ts'
import { ChangeNotes } from './sales/change-notes.ts'
import { SaleMemory } from './sales/sale-memory.ts'
import { SaleWork } from './sales/sale-work.ts'
import { Sales } from './sales/sales.ts'
import { runReports } from './scheduled/scheduled-queries.ts'
import { Scheduler } from './scheduled/scheduler.ts'
import { Halls } from './seats/halls.ts'
import { Gates } from './stock/gate/gate.ts'
import { Reconciler } from './stock/reconciler.ts'
import { defineScripts } from './stock/scripts.ts'
import { VIEW_SESSIONS, ViewLog } from './views/view-log.ts'
import { ViewRules } from './views/view-rules.ts'
import { WebhookCounts } from './webhooks/counts.ts'
import { Deliverer } from './webhooks/deliverer.ts'
import { SecretSealer } from './webhooks/sealing.ts'
import { Sender } from './webhooks/sender.ts'

/** How often the memory of sales that are over is given back. */
export const FORGET_MS = 5_000

export type Stop = readonly [what: string, stop: () => unknown]

export interface Origin {
  readonly app: Hono
  /** For ADMIN_PORT. */
  readonly operatorsApp: Hono
  /** For OPS_PORT. */
  readonly ops: Hono
  readonly events: OrderEvents
  readonly updates: SectionUpdates
  readonly checkout: Checkout
  readonly memory: SaleMemory
  readonly tracer: Tracer
}

export async function compose(config: Config, log: Logger, stops: Stop[], runtime = machine): Promise<Origin> {
  const isDevelopment = config.NODE_ENV === 'development'
  const startActor = (what: string, actor: Actor) => {
    actor.start()
    stops.push([what, () => actor.stop()])
  }

  // -- Stores --
  await requireTrusted(config.REDIS_URL)
  if (isDevelopment) await migrate(config.DATABASE_URL)
  const limits = await requireMigrated(config.DATABASE_URL)
  const sql = connect(config.DATABASE_URL, undefined, undefined, limits)
  stops.push(['ledger', () => sql.end({ timeout: 2 })])
  const warm = new WarmConnections(sql, () => connect(config.DATABASE_URL, 1, undefined, limits), runtime)
  stops.push(['warm connections', () => warm.end()])
  const viewSql = connect(config.DATABASE_URL, 2, VIEW_SESSIONS, limits)
  stops.push(['sessions of views', () => viewSql.end({ timeout: 2 })])
  await warnOfLostCommits(sql, log)
  const redisWrites = new Writes()
  const redis = defineScripts(connectRedis(config.REDIS_URL, log, redisWrites))
  stops.push(['gate', () => redis.disconnect()])

  // -- Sales --
  const sales = new Sales(sql, runtime)
  const memory = new SaleMemory()
  const areUp = () => ({
    ledger: sales.canRecord(),
    redis: redis.status === 'ready' && redisWrites.refusal === null,
  })
  const metrics = createMetrics(areUp, { shared: sql.load, recording: () => warm.load(), views: viewSql.load })
  const tracer = new Tracer({ settings: config, metrics, log })
  stops.push(['traces', () => tracer.stop()])
  stops.push(['assertions', noteFailedAssertions({ metrics, log, write: writeFinding(sql) })])
  const redisWatch = new RedisWatch({ redis, writes: redisWrites, metrics, log })
  startActor('redis watch', redisWatch.actor)
  await sales.start()
  stops.push(['sales', () => sales.stop()])
  const notes = new ChangeNotes({ redis, sales, runtime, log, metrics })
  startActor('change notes', notes.actor)
  const forget = async () => {
    memory.keepOnly((saleId) => sales.get(saleId) !== undefined)
    metrics.forgetOld()
  }
  startActor('sale memory', loop('sale memory', FORGET_MS, { runtime, log, metrics }, forget))
  if (config.ROLE !== 'worker') startActor('reach of the ledger', noteReach({ redis, sales, runtime, log, metrics }))

  // -- Who may join and buy --
  const keys = {
    admission: await importKeys(config.ADMISSION_KEYS, hmacKey),
    order: importSecrets(config.ORDER_KEYS, hmacKey),
  }
  const blocks = new Blocks(sql, { metrics, log })
  await blocks.refresh()
  startActor('blocks', blocks.actor)
  const buyers = new Buyers({ config, keys, sales, blocks })
  const invitations = new Invitations(sql, keys.order)
  const policies = new Policies(blocks, config.PROOF_OF_WORK)

  // -- Queues --
  const gates = new Gates(redis, memory, runtime)
  const { perSecond } = config.payment
  const loadShedder = new LoadShedder()
  const sources = new SourceCounts({ sql, metrics, log })
  startActor('source counts', sources.actor)
  const networks = new NetworkCounts({ sql, metrics, log })
  startActor('network counts', networks.actor)
  const arrivals = new Arrivals({ redis, metrics, memory, sources, log })
  startActor('arrivals', arrivals.actor)
  const responseTimes = new ResponseTimes({ redis, metrics, log })
  startActor('response times', responseTimes.actor)
  const reports = new QueueReports(metrics, memory)
  const saleCounts = new SaleCounts({ sql, sales, arrivals, queueReports: reports, metrics, log })
  startActor('sale minutes', saleCounts.actor)
  const isProviderAway = async () => (await readWorkers(redis, sales.nowMs())).provider === 'fails'
  const queues = new SaleQueues({
    sales,
    arrivals,
    responseTimes,
    reports,
    joins: new JoinCounter({ sql, metrics, saleCounts, sources, networks, arrivals, responseTimes, log }),
    shares: new LineShares(redis, log),
    payments: new PaymentRoom({ perSecond, account: config.payment.provider, redis, gates, isProviderAway }),
    isOverloaded: (saleId) => loadShedder.isSlow(saleId),
  })
  const edge = new EdgeNotifier(config, log)

  // -- Stock, orders and payments --
  const jobs = new PaymentJobs(log)
  const halls = new Halls(sql, memory)
  const goods = new Goods(sql, memory)
  const vouchers: readonly VoucherSource[] = [new PromoCodes(sql, runtime)]
  const searches = new RecentSearches({ sql, redis, log })
  const checkout = new Checkout({
    sql,
    warm,
    gates,
    sales,
    halls,
    vouchers,
    arrivals,
    metrics,
    memory,
    log,
    runtime,
  })
  const changes = new OrderChanges(redis, log, runtime)
  stops.push(['changes of orders', changes.start()])
  const actionSeconds = config.PAYMENT_ACTION_SECONDS
  const orders = new Orders({ sql, gates, changes, charges: jobs, actionSeconds, metrics, log, runtime })
  const events = new OrderEvents({ sql, sales, changes, metrics, log })
  startActor('order events', events)
  const updates = new SectionUpdates({ sales, metrics })
  startActor('section updates', updates)
  const work = new SaleWork(undefined, runtime)
  const stock = { sql, sales, gates, work, memory, redisWatch, metrics, log, runtime }
  const reconciler = new Reconciler({ ...stock, refunds: jobs })
  const unitsReturned = (returned: readonly OrderRow[]) => reconciler.unitsReturned(returned)
  const payments = await startPayments({
    config,
    sql,
    redis,
    jobs,
    sales,
    orders,
    metrics,
    log,
    unitsReturned,
    tracer,
    runtime,
  })
  stops.push(['payments', () => payments.stop()])
  // The gate is compared with the ledger before anyone is served: nobody meets a cold gate.
  await reconciler.round().catch((error) => log.warn({ error: String(error) }, 'starting without the fast gate'))

  // -- Views --
  const viewLog = new ViewLog({ sql: viewSql, sales, metrics, log, runtime })
  startActor('view log', viewLog.actor)
  const viewRules = new ViewRules(sql, config.EDGE_TOKEN, runtime)

  // -- Background work --
  const images = new Images(config.s3 ? s3Store(config.s3) : folderStore(config.IMAGES_DIR), sql)
  const webhookSender = new Sender({ allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE, allowHttp: isDevelopment })
  const webhookSealer = new SecretSealer(config.WEBHOOK_KEYS)
  const alertChannels = new AlertChannels({ ...config, isDevelopment })
  stops.push(['alerts', () => alertChannels.close()])
  if (config.ROLE !== 'api') {
    const reporting = {
      announcements: listAnnouncements,
      sql,
      config,
      nowMs: () => sales.nowMs(),
    }
    const scheduler = new Scheduler({
      announce: publishPost,
      consoleUrl: alertChannels.consoleUrl,
      sendsMail: alertChannels.sendsMail,
      report: (sale) => saleReport(reporting, sale),
      sql,
      sales,
      reconciler,
      edge,
      metrics,
      log,
    })
    const retention = new Retention({ config, sql, images, metrics })
    const load = () => loadShedder.load()
    const webhookCounts = new WebhookCounts()
    const sending = { sql, sealer: webhookSealer, sender: webhookSender, counts: webhookCounts }
    const deliverer = new Deliverer({ ...sending, metrics, log, load, trace: tracer.draw })
    const mailer = createMailer({
      config,
      keys: keys.order,
      sql,
      sender: webhookSender,
      metrics,
      log,
      trace: tracer.draw,
    })
    const views = { sql: viewSql, redis, rules: viewRules, work, metrics }
    const own = {
      announceNoted: publishPost,
      deliverer,
      webhookCounts,
      alertSender: new AlertSender({ channels: alertChannels, log }),
      readAlerts: alertChannels.isAny
        ? () => readAlerts({ sql, channels: alertChannels, nowMs: () => sales.nowMs(), onSaleEnded: runReports })
        : undefined,
      mailer,
      retention,
      searches,
      scheduler,
      views,
      edgeUrl: config.EDGE_URL,
    }
    startActor('worker', createWorker({ ...stock, redis, changes, orders, payments, reconciler, ...own }))
  }

  // -- Routes --
  const { ofOperators, ofBuyers } = createRoutes({
    alertChannels,
    arrivals,
    blocks,
    buyers,
    checkout,
    config,
    edge,
    events,
    files: await loadConsole(isDevelopment),
    gates,
    goods,
    halls,
    images,
    invitations,
    keys,
    loadShedder,
    log,
    memory,
    metrics,
    notes,
    orders,
    payments,
    policies,
    queues,
    reconciler,
    redis,
    redisWatch,
    responseTimes,
    networks,
    saleCounts,
    sales,
    searches,
    sql,
    updates,
    viewLog,
    viewRules,
    vouchers,
    webhookSealer,
    webhookSender,
  })
  const isApart = config.ADMIN_PORT !== undefined
  const app = createApp({ log, routes: isApart ? ofBuyers : { ...ofOperators, ...ofBuyers } })
  const operatorsApp = createApp({ log, routes: { ...ofOperators, '/images': ofBuyers['/images'] } })
  const stores = {
    ledger: () => sales.writes.require(() => ping(sql)),
    gate: () => redisWrites.require(() => redis.ping()),
  }
  return {
    app,
    operatorsApp,
    ops: createOpsApp({ stores, registry: metrics.registry }),
    events,
    updates,
    checkout,
    memory,
    tracer,
  }
}
