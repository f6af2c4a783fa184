/**
 * The operators' API below `/admin`: who may call it, and the features whose routes it mounts. Its type is the
 * console's client.
 */
import { Hono } from 'hono'
import type { Logger } from 'pino'
import { blockRoutes, ruleRoutes } from './access/access-routes.ts'
import type { Blocks } from './access/blocks.ts'
import { invitationRoutes } from './access/invitation-routes.ts'
import type { Invitations } from './access/invitations.ts'
import { alertRoutes } from './alerts/alert-routes.ts'
import type { AlertChannels } from './alerts/channels.ts'
import type { Config } from './base/config.ts'
import type { Metrics } from './base/metrics.ts'
import { boxOfficeRoutes, hallRoutes } from './box-office/hall-routes.ts'
import type { VoucherSource } from './checkout/cart/vouchers.ts'
import type { Checkout } from './checkout/checkout.ts'
import { adminFeedRoutes } from './feed/feed-routes.ts'
import { searchRoutes } from './front/front-routes.ts'
import type { RecentSearches } from './front/recent-searches.ts'
import { missesRoute } from './front/search-misses.ts'
import type { DownloadOptions } from './images/download.ts'
import { adminImageRoutes } from './images/image-routes.ts'
import type { Images } from './images/images.ts'
import type { Sql } from './ledger/connection.ts'
import { auditRoutes } from './operators/audit-routes.ts'
import { requireOperator, requireRole } from './operators/operator-auth.ts'
import { operatorKeyRoutes } from './operators/operator-key-routes.ts'
import { adminTokensOf, type Operators } from './operators/operators.ts'
import type { Orders } from './orders/orders.ts'
import { refundRoutes } from './payments/payment-routes.ts'
import { promoCodeRoutes } from './promo-codes/promo-code-routes.ts'
import type { ViewsBySource } from './report/funnel.ts'
import type { ViewsByNetwork } from './report/honest-share.ts'
import { rehearsalRoutes } from './report/rehearsals.ts'
import { findingRoutes, reportRoutes, secondsRoutes } from './report/report-routes.ts'
import type { ListAnnouncements } from './report/sale-report.ts'
import { queueRoutes } from './report/work/job-routes.ts'
import type { ChangeNotes } from './sales/change-notes.ts'
import type { AdminSales } from './sales-api/admin-sales.ts'
import type { Live } from './sales-api/live.ts'
import { liveRoutes } from './sales-api/live-routes.ts'
import { draftRoutes, previewRoutes } from './sales-api/preview-routes.ts'
import { saleRoutes } from './sales-api/sale-routes.ts'
import { scheduledRoutes } from './scheduled/scheduled-routes.ts'
import type { Halls } from './seats/halls.ts'
import type { Gates } from './stock/gate/gate.ts'
import type { Reconciler } from './stock/reconciler.ts'
import type { Store } from './stock/scripts.ts'
import { orderRoutes } from './support/order-routes.ts'
import { supportRoutes } from './support/support-routes.ts'
import { viewRoutes } from './views/view-routes.ts'
import type { ViewRules } from './views/view-rules.ts'
import type { SecretSealer } from './webhooks/sealing.ts'
import type { Sender } from './webhooks/sender.ts'
import { webhookRoutes } from './webhooks/webhook-routes.ts'

/** All that the features below take together. */
interface OperatorRoutesDeps {
  readonly alertChannels: AlertChannels
  readonly announcements?: ListAnnouncements
  readonly blocks: Blocks
  readonly checkout: Checkout
  readonly config: Config
  readonly gates: Gates
  readonly downloads: DownloadOptions
  readonly halls: Halls
  readonly images: Images
  readonly invitations: Invitations
  readonly live: Live
  readonly log: Logger
  readonly metrics: Metrics
  readonly notes: ChangeNotes
  readonly operators: Operators
  readonly orders: Orders
  readonly redis: Store
  readonly reconciler: Reconciler
  readonly sales: AdminSales
  readonly searches: RecentSearches
  readonly sql: Sql
  readonly viewRules: ViewRules
  readonly views?: ViewsBySource
  readonly viewsByNetwork?: ViewsByNetwork
  readonly vouchers: readonly VoucherSource[]
  readonly webhookSealer: SecretSealer
  readonly webhookSender: Sender
}

export function operatorRoutes(deps: OperatorRoutesDeps) {
  const { config, operators, sales, sql } = deps
  return new Hono()
    .use('*', requireOperator(adminTokensOf(config), operators))
    .use('/sales/:sale/scheduled/:action/resume', requireRole('owner'))
    .route('/', draftRoutes(deps))
    .use('/sales/:sale/*', sales.requireSale)
    .route('/', saleRoutes(deps))
    .route('/', adminImageRoutes(deps))
    .route('/', liveRoutes(deps))
    .route('/', reportRoutes(deps))
    .route('/', secondsRoutes(deps))
    .route('/', rehearsalRoutes(sql))
    .route('/', adminFeedRoutes(deps))
    .route('/', previewRoutes(deps))
    .route('/', scheduledRoutes(deps))
    .route('/', viewRoutes(deps))
    .route('/', ruleRoutes(deps))
    .route('/', blockRoutes(deps))
    .route('/', invitationRoutes(deps))
    .route('/', promoCodeRoutes(deps))
    .route('/', hallRoutes(deps))
    .route('/', boxOfficeRoutes(deps))
    .route('/', orderRoutes(deps))
    .route('/', refundRoutes(deps))
    .route('/', supportRoutes(deps))
    .route('/', findingRoutes(sql))
    .route('/', alertRoutes(deps))
    .route('/', webhookRoutes(deps))
    .route('/', queueRoutes(sql, config.payment.perSecond))
    .route('/', searchRoutes(deps))
    .route('/', missesRoute({ sql, nowMs: () => sales.nowMs() }))
    .route('/', auditRoutes(sql))
    .route('/', operatorKeyRoutes(sql))
}

export type AdminApi = ReturnType<typeof operatorRoutes>
