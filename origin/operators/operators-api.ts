/** The operators' API below `/admin`: who may call it, and the features whose routes it mounts. Its type is the console's client. */
import { Hono } from 'hono'
import { blockRoutes, ruleRoutes } from '../access/access-routes.ts'
import { invitationRoutes } from '../access/invitation-routes.ts'
import type { Config } from '../config.ts'
import { announcementRoutes } from '../feed/announcement-routes.ts'
import { findingRoutes } from '../findings/finding-routes.ts'
import { queueRoutes } from '../jobs/job-routes.ts'
import { orderRoutes } from '../orders/order-routes.ts'
import { refundRoutes } from '../payments/refund-routes.ts'
import { liveRoutes } from '../report/live-routes.ts'
import { reportRoutes } from '../report/report-routes.ts'
import { AdminSales, type AdminSalesDeps } from '../sales/admin-sales.ts'
import { previewRoutes } from '../sales/preview-routes.ts'
import { saleRoutes } from '../sales/sale-routes.ts'
import { scheduledRoutes } from '../scheduled/scheduled-routes.ts'
import { supportRoutes } from '../support/support-routes.ts'
import { webhookRoutes } from '../webhooks/webhook-routes.ts'
import { auditRoutes } from './audit-routes.ts'
import { requireOperator } from './operator-auth.ts'
import { operatorKeyRoutes } from './operator-key-routes.ts'
import type { Operators } from './operators.ts'

type Takes<Routes extends (deps: never) => unknown> = Omit<Parameters<Routes>[0], 'sales'>

/** Each group of routes names in its own type what it takes of these. */
type Parts = AdminSalesDeps & { readonly config: Config; readonly operators: Operators } & Takes<typeof saleRoutes> &
  Takes<typeof liveRoutes> &
  Takes<typeof scheduledRoutes> &
  Takes<typeof invitationRoutes> &
  Takes<typeof blockRoutes> &
  Takes<typeof orderRoutes> &
  Takes<typeof refundRoutes> &
  Takes<typeof supportRoutes> &
  Takes<typeof webhookRoutes>

export function operatorRoutes(given: Parts) {
  const sales = new AdminSales(given)
  const parts = { ...given, sales }
  return new Hono()
    .use('*', requireOperator(parts.config.ADMIN_TOKEN, parts.operators))
    .use('/sales/:sale/*', sales.requireSale)
    .route('/', saleRoutes(parts))
    .route('/', liveRoutes(parts))
    .route('/', reportRoutes(parts))
    .route('/', announcementRoutes(parts))
    .route('/', previewRoutes(parts))
    .route('/', scheduledRoutes(parts))
    .route('/', ruleRoutes(parts))
    .route('/', blockRoutes(parts))
    .route('/', invitationRoutes(parts))
    .route('/', orderRoutes(parts))
    .route('/', refundRoutes(parts))
    .route('/', supportRoutes(parts))
    .route('/', findingRoutes(parts.sql))
    .route('/', webhookRoutes(parts))
    .route('/', queueRoutes(parts.sql))
    .route('/', auditRoutes(parts.sql))
    .route('/', operatorKeyRoutes(parts.sql))
}

export type AdminApi = ReturnType<typeof operatorRoutes>
