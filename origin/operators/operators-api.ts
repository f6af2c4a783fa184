/** The operators' API: which calls there are, and who may make them. */
import { Hono } from 'hono'
import type { Logger } from 'pino'
import * as v from 'valibot'
import { queueNamesOf } from '../../shared/api/access.ts'
import { ID_FORM, SaleId } from '../../shared/api/public.ts'
import { problem } from '../../shared/problem.ts'
import { blockRoutes, ruleRoutes } from '../access/access-routes.ts'
import type { Blocks } from '../access/blocks.ts'
import { invitationRoutes } from '../access/invitation-routes.ts'
import type { Invitations } from '../access/invitations.ts'
import type { Config } from '../config.ts'
import { announcementRoutes } from '../feed/announcement-routes.ts'
import { findingRoutes } from '../findings/finding-routes.ts'
import { queueRoutes } from '../jobs/job-routes.ts'
import type { PaymentJobs } from '../jobs/payment-jobs.ts'
import type { Sql } from '../ledger/connection.ts'
import { refuse } from '../lib/request.ts'
import type { Orders } from '../orders/orders.ts'
import type { Arrivals } from '../queue/arrivals.ts'
import type { EdgeNotifier } from '../queue/edge-notifier.ts'
import type { HealthOf } from '../queue/edge-routes.ts'
import type { QueueReports } from '../queue/queue-reports.ts'
import { Live } from '../report/live.ts'
import { liveRoutes } from '../report/live-routes.ts'
import { inspectSale } from '../sales/inspect-sale.ts'
import { previewRoutes } from '../sales/preview-routes.ts'
import { saleRoutes } from '../sales/sale-routes.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import type { Sales } from '../sales/sales.ts'
import { scheduledRoutes } from '../scheduled/scheduled-routes.ts'
import type { Gates } from '../stock/gate.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import type { Store } from '../stock/scripts.ts'
import { OrderSearch } from '../support/order-search.ts'
import { orderRoutes } from '../support/support-routes.ts'
import { visitorRoutes } from '../support/visitor-routes.ts'
import type { Sender } from '../webhooks/sender.ts'
import { webhookRoutes } from '../webhooks/webhook-routes.ts'
import { auditRoutes } from './audit-routes.ts'
import { requireOperator } from './operator-auth.ts'
import { operatorKeyRoutes } from './operator-key-routes.ts'
import type { Operators } from './operators.ts'

interface OperatorDeps {
  readonly config: Pick<Config, 'ADMIN_TOKEN' | 'SMTP_URL' | 'EDGE_TOKEN' | 'EDGE_URL' | 'PUBLIC_URL'>
  readonly sql: Sql
  readonly operators: Operators
  readonly sales: Sales
  readonly reconciler: Pick<Reconciler, 'reconcileSale' | 'agrees' | 'unitsReturned'>
  readonly blocks: Pick<Blocks, 'refresh'>
  readonly invitations: Pick<Invitations, 'sign'>
  readonly orders: Pick<Orders, 'fulfil' | 'cancelByShop' | 'takeFrom'>
  readonly jobs: Pick<PaymentJobs, 'addRefundJobs' | 'addRun' | 'addAgain'>
  readonly arrivals: Pick<Arrivals, 'counts'>
  readonly queueReports: Pick<QueueReports, 'latest'>
  readonly edge: Pick<EdgeNotifier, 'notify'>
  readonly healthOf: HealthOf
  readonly webhookSender: Pick<Sender, 'refusal'>
  readonly redis: Pick<Store, 'hgetall'>
  readonly gates: Pick<Gates, 'of'>
  readonly environment: { readonly name: string; readonly payments: string }
  readonly log: Logger
}

export function operatorRoutes(deps: OperatorDeps): Hono {
  const { config, sql, sales, orders, reconciler, jobs, log } = deps
  const nowMs = () => sales.nowMs()
  const inspect = (sale: SaleRow) => inspectSale(deps, sale)
  const find = async (saleId: string) => (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
  const notify = ({ sale_id, lines }: SaleRow) => {
    for (const room of queueNamesOf(sale_id, lines)) deps.edge.notify(room)
  }
  const notifyAll = () => sales.inUse().forEach(notify)
  /** After a change: this process and the edge learn of it at once, other origins within REFRESH_MS. */
  const publish = async (saleId: string) => {
    await sales.refresh()
    const sale = await find(saleId)
    notify(sale)
    return inspect(sale)
  }

  const app = new Hono()
  app.use('*', requireOperator(config.ADMIN_TOKEN, deps.operators))
  app.use('/sales/:sale/*', async (c, next) => {
    const saleId = c.req.param('sale')
    if (!v.is(SaleId, saleId)) refuse(problem('unknown-sale', { detail: `A sale's name has ${ID_FORM}.` }))
    // Another origin may have changed the sale a moment ago. Without the ledger, reads show what is in memory.
    if (c.req.method !== 'GET' || !sales.isLedgerUnresponsive()) await sales.refresh()
    if (c.req.method !== 'PUT') await find(saleId)
    return next()
  })

  app.route('/sales', saleRoutes({ config, sql, sales, reconciler, log, find, inspect, publish }))
  const live = new Live({ ...deps, inspect })
  app.route('/sales/:sale', liveRoutes({ find, live }))
  app.route('/sales/:sale', announcementRoutes({ sql, changed: publish }))
  app.route('/sales/:sale', previewRoutes({ config, nowMs }))
  app.route('/sales/:sale/scheduled', scheduledRoutes({ sql, jobs, find, nowMs }))
  app.route('/sales/:sale/rules', ruleRoutes({ sql, find, changed: publish }))
  app.route('/sales/:sale/invitations', invitationRoutes({ sql, invitations: deps.invitations, find, nowMs }))

  const search = new OrderSearch(sql, log)
  const unitsReturned: Reconciler['unitsReturned'] = (returned) => reconciler.unitsReturned(returned)
  app.route('/', orderRoutes({ sql, orders, jobs, search, nowMs, unitsReturned }))
  app.route('/', visitorRoutes(sql))
  const saleIds = () => sales.inUse().map(({ sale_id }) => sale_id)
  app.route('/blocks', blockRoutes({ sql, blocks: deps.blocks, orders, saleIds, changed: notifyAll }))

  app.route('/', findingRoutes(sql))
  app.route('/webhooks', webhookRoutes({ sql, sender: deps.webhookSender }))
  app.route('/queues', queueRoutes({ sql, jobs }))
  app.route('/audit', auditRoutes(sql))
  app.route('/operators', operatorKeyRoutes(sql))
  return app
}
