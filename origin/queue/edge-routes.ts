/** The calls of the edge: the state of a sale, by a secret of its own that opens nothing else. */
import { Hono } from 'hono'
import { PUBLIC_LINE, queueName, RedeemRequest, saleAndLineOf } from '../../shared/api/access.ts'
import type { SaleState } from '../../shared/api/internal.ts'
import { problem } from '../../shared/problem.ts'
import type { Blocks } from '../access/blocks.ts'
import type { Invitations } from '../access/invitations.ts'
import { policyOf } from '../access/policy.ts'
import { tryAgain } from '../checkout/outcome.ts'
import type { Config } from '../config.ts'
import { pastAnnouncements } from '../feed/announcement-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { readBody, refuse, requireSecret } from '../lib/request.ts'
import { describeSale, inLine, publicProducts } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import type { Arrivals } from './arrivals.ts'
import type { JoinCounter } from './join-counts.ts'
import type { LineShares } from './line-shares.ts'
import { type QueueReports, reportIn } from './queue-reports.ts'

/** slow: the edge should admit fewer. */
export type HealthOf = (saleId: string) => SaleState['health']

interface InternalDeps {
  readonly sql: Sql
  readonly config: Pick<Config, 'EDGE_TOKEN' | 'PROOF_OF_WORK'>
  readonly blocks: Pick<Blocks, 'all'>
  readonly invitations: Pick<Invitations, 'redeem'>
  readonly sales: Sales
  readonly arrivals: Arrivals
  readonly queueReports: QueueReports
  readonly joinCounter: Pick<JoinCounter, 'add'>
  readonly lineShares: Pick<LineShares, 'of'>
  readonly redis: { readonly status: string }
  readonly healthOf: HealthOf
}

export function internalRoutes(deps: InternalDeps): Hono {
  const { sales, arrivals, queueReports, lineShares, redis } = deps
  const app = new Hono()
  app.use('*', requireSecret(deps.config.EDGE_TOKEN))
  app.get('/sales/:room', async (c) => {
    const { sale: saleId, line } = saleAndLineOf(c.req.param('room'))
    const found = (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
    // The room of the sale itself is there also where nobody can join it: it knows who may join the others.
    const [sale, room] = [inLine(found, line), queueName(saleId, line)]
    const isLine = line === PUBLIC_LINE || found.lines.some((one) => one.line === line)
    if (!isLine || room !== c.req.param('room')) refuse(problem('unknown-sale'))
    deps.joinCounter.add(saleId, c.req.query('counts'))
    const report = reportIn(c.req.query())
    if (report) arrivals.lineWaits(saleId, room, report.waiting)
    const counts = await countsOf(saleId, room)
    // Nobody admitted now could be served: the edge pauses the queue, and everyone keeps their place. A full Redis responds
    // and still takes no orders; that it cannot count arrivals shows it.
    const redisServes = redis.status === 'ready' && counts.counted
    if (sales.isLedgerUnresponsive() && !redisServes) refuse(tryAgain('Neither store takes orders.'))
    const nowMs = sales.nowMs()
    const { share, ...admission } = await lineShares.of(found, line, report, {
      waiting_for_stock: counts.waiting_for_stock,
      nowMs,
    })
    if (report) queueReports.add(room, admission.rate_per_second, report, nowMs)
    const policy = policyOf(sale, deps.blocks.all(), deps.config.PROOF_OF_WORK)
    return c.json({
      ...describeSale(sale, nowMs),
      products: publicProducts(sale),
      line,
      share,
      admission,
      contact: sale.contact.email,
      read_ago_ms: sales.readAgoMs(),
      pre_queue_opens_in_ms: (sale.pre_queue_opens_at ?? sale.created_at).getTime() - nowMs,
      opens_in_ms: sale.opens_at.getTime() - nowMs,
      ends_in_ms: sale.ends_at ? sale.ends_at.getTime() - nowMs : null,
      ...counts,
      arrived_lately: arrivals.takeRecent(room),
      ticket_shards: sale.ticket_shards,
      policy: policy.version === c.req.query('policy') ? null : policy,
      health: deps.healthOf(sale.sale_id),
    } satisfies SaleState)
  })
  app.get('/sales/:sale/announcements', async (c) => {
    const { sale_id } = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
    const page = c.req.query('page')
    const wanted = page === undefined ? null : Number(page)
    if (wanted !== null && !Number.isSafeInteger(wanted)) refuse(problem('not-found'))
    return c.json((await pastAnnouncements(deps.sql, sale_id, wanted)) ?? refuse(problem('not-found')))
  })
  app.post('/sales/:sale/redeem', async (c) => {
    const sale = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
    const { visitor, invitation } = await readBody(c, RedeemRequest)
    const result = await deps.invitations.redeem(sale.sale_id, visitor, invitation, sales.nowMs())
    return c.json({ result })
  })
  return app

  /** Arrivals are the line's own; who waits for stock is no longer in any line. */
  async function countsOf(saleId: string, room: string) {
    const ofSale = await arrivals.firstCounts(saleId)
    if (room === saleId) return ofSale
    const ofLine = await arrivals.firstCounts(room)
    return { ...ofLine, waiting_for_stock: ofSale.waiting_for_stock, counted: ofSale.counted && ofLine.counted }
  }
}
