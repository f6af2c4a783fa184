/** Every route of the origin, by who calls it. */
import { Hono } from 'hono'
import type { Logger } from 'pino'
import { edgeTokens } from '../shared/api/internal.ts'
import type { importSecrets } from '../shared/keys.ts'
import type { Blocks } from './access/blocks.ts'
import type { Buyers } from './access/buyer-access.ts'
import { redeemRoutes } from './access/invitation-routes.ts'
import type { Invitations } from './access/invitations.ts'
import type { Policies } from './access/policy.ts'
import type { AlertChannels } from './alerts/channels.ts'
import type { Config } from './base/config.ts'
import type { Metrics } from './base/metrics.ts'
import { seatOfferRoutes } from './checkout/cart/seat-offer.ts'
import { totalsRoutes } from './checkout/cart/totals.ts'
import type { VoucherSource } from './checkout/cart/vouchers.ts'
import type { Checkout } from './checkout/checkout.ts'
import { checkoutRoutes } from './checkout/checkout-routes.ts'
import { CheckoutTraffic } from './checkout/checkout-traffic.ts'
import type { LoadShedder } from './checkout/load-shedder.ts'
import { ordersOfAllRoutes, ownOrderRoutes } from './checkout/own-order-routes.ts'
import { feedPageRoutes } from './feed/feed-routes.ts'
import { listAnnouncements } from './feed/posts.ts'
import { Catalogues } from './front/catalogue.ts'
import { catalogueRoutes, recentSearchRoutes } from './front/front-routes.ts'
import type { RecentSearches } from './front/recent-searches.ts'
import { searchMissRoutes } from './front/search-misses.ts'
import type { Goods } from './goods/goods.ts'
import { goodsDocumentRoutes } from './goods/goods-routes.ts'
import { hallBuyerRoutes, hallDocumentRoutes } from './hall/hall-routes.ts'
import type { SectionUpdates } from './hall/section-updates.ts'
import { imageRoutes } from './images/image-routes.ts'
import type { Images } from './images/images.ts'
import type { Sql } from './ledger/connection.ts'
import { requireSecret } from './lib/http/request.ts'
import type { RedisWatch } from './lib/redis/redis-watch.ts'
import { mailRoutes } from './mail/mail-routes.ts'
import type { ConsoleFiles } from './operators/console-files.ts'
import { consoleRoutes } from './operators/console-routes.ts'
import { descriptionRoutes } from './operators/description-routes.ts'
import { adminTokensOf, Operators } from './operators/operators.ts'
import { signInRoutes } from './operators/sign-in-routes.ts'
import { operatorRoutes } from './operators-api.ts'
import type { OrderEvents } from './orders/order-events.ts'
import type { Orders } from './orders/orders.ts'
import { paymentWebhooks } from './payments/payment-routes.ts'
import type { Payments } from './payments/payments.ts'
import { shopConfirmationRoutes } from './payments/shop-confirmations.ts'
import type { Arrivals } from './queue/arrivals.ts'
import type { EdgeNotifier } from './queue/edge-notifier.ts'
import { edgeRoutes } from './queue/edge-routes.ts'
import type { NetworkCounts } from './queue/network-counts.ts'
import type { ResponseTimes } from './queue/response-times.ts'
import type { SaleQueues } from './queue/sale-queues.ts'
import { scheduleRoutes } from './queue/schedule-routes.ts'
import type { SaleCounts } from './report/sale-counts.ts'
import type { ChangeNotes } from './sales/change-notes.ts'
import type { SaleMemory } from './sales/sale-memory.ts'
import type { Sales } from './sales/sales.ts'
import { AdminSales } from './sales-api/admin-sales.ts'
import { Live } from './sales-api/live.ts'
import type { Halls } from './seats/halls.ts'
import { SeatStates } from './seats/seat-states.ts'
import type { Gates } from './stock/gate/gate.ts'
import type { Reconciler } from './stock/reconciler.ts'
import type { Store } from './stock/scripts.ts'
import { countedBy } from './views/count-queries.ts'
import type { ViewLog } from './views/view-log.ts'
import { edgeViewRoutes } from './views/view-routes.ts'
import type { ViewRules } from './views/view-rules.ts'
import type { SecretSealer } from './webhooks/sealing.ts'
import type { Sender } from './webhooks/sender.ts'

export interface Parts {
  readonly alertChannels: AlertChannels
  readonly arrivals: Arrivals
  readonly blocks: Blocks
  readonly buyers: Buyers
  readonly checkout: Checkout
  readonly config: Config
  readonly edge: EdgeNotifier
  readonly events: OrderEvents
  readonly files: ConsoleFiles
  readonly gates: Gates
  readonly goods: Goods
  readonly halls: Halls
  readonly images: Images
  readonly invitations: Invitations
  readonly keys: { readonly order: ReturnType<typeof importSecrets> }
  readonly loadShedder: LoadShedder
  readonly log: Logger
  readonly memory: SaleMemory
  readonly metrics: Metrics
  readonly networks: NetworkCounts
  readonly notes: ChangeNotes
  readonly orders: Orders
  readonly payments: Pick<Payments, 'sources' | 'charges'>
  readonly policies: Policies
  readonly queues: SaleQueues
  readonly reconciler: Reconciler
  readonly redis: Store
  readonly redisWatch: RedisWatch
  readonly responseTimes: ResponseTimes
  readonly saleCounts: SaleCounts
  readonly sales: Sales
  readonly searches: RecentSearches
  readonly sql: Sql
  readonly updates: SectionUpdates
  readonly viewLog: ViewLog
  readonly viewRules: ViewRules
  readonly vouchers: readonly VoucherSource[]
  readonly webhookSealer: SecretSealer
  readonly webhookSender: Sender
}

/** Routes by the path below which they are mounted. With an ADMIN_PORT those of operators are served there alone. */
export function createRoutes(parts: Parts) {
  const {
    alertChannels,
    arrivals,
    blocks,
    buyers,
    checkout,
    config,
    edge,
    events,
    files,
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
    networks,
    notes,
    orders,
    payments,
    policies,
    queues,
    reconciler,
    redis,
    redisWatch,
    responseTimes,
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
  } = parts
  const isDevelopment = config.NODE_ENV === 'development'
  const { perSecond } = config.payment
  const hall = { sales, halls, states: new SeatStates(sql, halls) }
  const totals = { buyers, sales, gates, halls, vouchers }
  const buyerRoutes = checkoutRoutes({
    buyers,
    sales,
    checkout,
    orders,
    networks,
    traffic: new CheckoutTraffic({ loadShedder, arrivals, responseTimes, saleCounts, metrics }),
  })
    .route('/', totalsRoutes(totals))
    .route('/', seatOfferRoutes(totals))
    .route('/', ownOrderRoutes({ sales, buyers, checkout, orders, events, responseTimes }))
    .route('/', hallBuyerRoutes({ ...hall, buyers, updates }))

  const sendsMail = config.SMTP_URL !== undefined && config.MAIL_FROM !== undefined
  const pushKey = config.vapid?.VAPID_PUBLIC_KEY ?? null
  const internalRoutes = new Hono()
    .use('*', requireSecret(...edgeTokens(config)))
    .route('/', edgeRoutes({ sql, metrics, sales, policies, queues, sendsMail, pushKey }))
    .route('/', redeemRoutes({ sales, invitations }))
    .route('/', feedPageRoutes({ sql, sales }))
    .route('/', edgeViewRoutes(viewLog))
    .route(
      '/',
      mailRoutes({ sql, sales, keys: keys.order, sender: webhookSender, pushServices: config.vapid?.PUSH_SERVICES }),
    )
    .route('/', hallDocumentRoutes(hall))
    .route('/', goodsDocumentRoutes({ sales, goods }))
    .route('/', catalogueRoutes(new Catalogues(sql, sales, sendsMail)))
    .route('/', recentSearchRoutes(searches))
    .route('/', ordersOfAllRoutes({ sales, buyers, orders }))
    .route('/', searchMissRoutes({ sql, redis, nowMs: () => sales.nowMs() }))

  const operators = new Operators(sql, () => sales.isLedgerUnresponsive(), adminTokensOf(config))
  const adminSales = new AdminSales({ sales, goods, reconciler, queues, edge })
  const environment = { name: isDevelopment ? 'development' : 'production', payments: config.payment.provider }
  const live = new Live({
    sql,
    sales: adminSales,
    redis,
    redisWatch,
    gates,
    memory,
    environment,
    paymentsPerSecond: perSecond,
    shopUrl: config.PUBLIC_URL ?? config.EDGE_URL,
  })
  const adminRoutes = operatorRoutes({
    alertChannels,
    announcements: listAnnouncements,
    blocks,
    checkout,
    config,
    gates,
    downloads: { allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE, allowHttp: isDevelopment },
    halls,
    images,
    invitations,
    live,
    log,
    metrics,
    notes,
    operators,
    orders,
    reconciler,
    redis,
    sales: adminSales,
    searches,
    sql,
    viewRules,
    views: countedBy('source'),
    viewsByNetwork: countedBy('network'),
    vouchers,
    webhookSealer,
    webhookSender,
  })
  const console = signInRoutes({ config, operators, files, log }).route(
    '/',
    consoleRoutes({ config, operators, files, sales }),
  )

  const ofOperators = {
    '/admin': adminRoutes,
    '/internal': internalRoutes,
    '/console': console,
    '': descriptionRoutes(files),
  }
  const ofBuyers = {
    '/images': imageRoutes(images),
    '/webhooks': paymentWebhooks(payments),
    '/sales': scheduleRoutes({ sales, config }),
    // The shop comes by no edge: it signs its calls about orders.
    '/': new Hono()
      .route('/', shopConfirmationRoutes({ secrets: config.PAYMENT_SECRET, sql, sales, orders, metrics }))
      .route('/', buyerRoutes),
  }
  return { ofOperators, ofBuyers }
}
