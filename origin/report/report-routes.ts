/** The operators' calls for the report of a sale, and for findings. They are mounted below `/admin`. */

import { Hono } from 'hono'
import * as v from 'valibot'
import { exactly, instant } from '../../shared/api/fields.ts'
import type { SeenFinding } from '../../shared/api/operators/alerts.ts'
import type { SecondsAnswer } from '../../shared/api/operators/seconds.ts'
import type { Config } from '../base/config.ts'
import { allFindings, NO_SALE, readFindings } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { query } from '../lib/http/request.ts'
import type { OperatedSales } from '../sales/sales.ts'
import { secondsOf } from './by-second/seconds.ts'
import { KEPT_MINUTES, readMarkers, readSeconds } from './by-second/seconds-queries.ts'
import { funnelOf, type ViewsBySource } from './funnel.ts'
import { FINDING_ADVICE, reasonIn } from './health/finding-advice.ts'
import type { ViewsByNetwork } from './honest-share.ts'
import { type ListAnnouncements, saleReport } from './sale-report.ts'

interface ReportDeps {
  readonly announcements?: ListAnnouncements
  /** Omitted if no views are counted. */
  readonly views?: ViewsBySource
  readonly viewsByNetwork?: ViewsByNetwork
  readonly sql: Sql
  readonly config: Pick<Config, 'EDGE_URL' | 'PUBLIC_URL'>
  readonly sales: Pick<OperatedSales, 'find' | 'nowMs'>
}

const FunnelQuery = exactly({ by: v.picklist(['source'], 'source is required') })

export const reportRoutes = ({ sales, ...deps }: ReportDeps) =>
  new Hono()
    .get('/sales/:sale/report', async (c) => {
      const nowMs = () => sales.nowMs()
      return c.json(await saleReport({ ...deps, nowMs }, await sales.find(c.req.param('sale'))))
    })
    .get('/sales/:sale/funnel', query(FunnelQuery), async (c) => {
      return c.json({ rows: await funnelOf(deps, await sales.find(c.req.param('sale'))) })
    })

const SecondsQuery = v.object({ from: v.optional(instant), to: v.optional(instant) })
/** A row this long before the first second shows from what its figures grew. */
const BEFORE_MS = 8_000
const SECOND_MS = 1_000
const WINDOW_MS = KEPT_MINUTES * 60 * SECOND_MS
/** Processes write the figures of a second within this time after its end. */
const WRITTEN_WITHIN_MS = 3_000

/** A sale by the second, by default its last quarter of an hour, and at most so much of it at once. */
export const secondsRoutes = ({ sql, sales }: Pick<ReportDeps, 'sql' | 'sales'>) =>
  new Hono().get('/sales/:sale/seconds', query(SecondsQuery), async (c) => {
    const { sale_id, opens_at } = await sales.find(c.req.param('sale'))
    const { from, to } = c.req.valid('query')
    const completeMs = sales.nowMs() - WRITTEN_WITHIN_MS
    const toMs = Math.min(to ? Date.parse(to) : completeMs, completeMs)
    const fromMs = Math.max(from ? Date.parse(from) : toMs - WINDOW_MS, toMs - WINDOW_MS)
    const [rows, markers] = await Promise.all([
      readSeconds(sql, sale_id, new Date(fromMs - BEFORE_MS), new Date(toMs)),
      readMarkers(sql, sale_id, new Date(fromMs), new Date(sales.nowMs())),
    ])
    const answer: SecondsAnswer = {
      opens_at: opens_at.toISOString(),
      until: new Date(toMs).toISOString(),
      seconds: secondsOf(rows, fromMs, toMs),
      markers,
    }
    return c.json(answer, 200)
  })

/** Findings of a sale, and those without a sale, such as a charge for an unknown order. */
export const findingRoutes = (sql: Sql) =>
  new Hono()
    .get('/findings', async (c) => {
      const [ofNoSale, all] = await Promise.all([readFindings(sql, NO_SALE), allFindings(sql)])
      return c.json({ ...ofNoSale, all: all.map(asSeen) })
    })
    .get('/sales/:sale/findings', async (c) => c.json(await readFindings(sql, c.req.param('sale'))))

function asSeen({ subject: _, detail, ...finding }: Awaited<ReturnType<typeof allFindings>>[number]): SeenFinding {
  const { sale, kind, product_id, first_seen_at, closed_at } = finding
  const { level, advice, place } = FINDING_ADVICE[kind] ?? FINDING_ADVICE.unknown
  const { order } = (detail ?? {}) as Readonly<Record<string, unknown>>
  return {
    ...finding,
    product_id: product_id || null,
    reason: reasonIn(kind, detail),
    level,
    advice,
    place: place({ saleId: sale ?? '', orderId: typeof order === 'string' ? order : null }),
    first_seen_at: first_seen_at.toISOString(),
    closed_at: closed_at?.toISOString() ?? null,
  }
}
