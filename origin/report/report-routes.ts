/** The operators' calls for the report of a sale, and for findings. They are mounted below `/admin`. */

import { Hono } from 'hono'
import * as v from 'valibot'
import { exactly } from '../../shared/api/fields.ts'
import { parse } from '../../shared/parse.ts'
import type { Config } from '../base/config.ts'
import { NO_SALE, readFindings } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import type { OperatedSales } from '../sales/sales.ts'
import { funnelOf, type ViewsBySource } from './funnel.ts'
import { type ListAnnouncements, saleReport } from './sale-report.ts'

interface ReportDeps {
  readonly announcements?: ListAnnouncements
  /** Omitted if no views are counted. */
  readonly views?: ViewsBySource
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
    .get('/sales/:sale/funnel', async (c) => {
      parse(FunnelQuery, c.req.query())
      return c.json({ rows: await funnelOf(deps, await sales.find(c.req.param('sale'))) })
    })

/** Findings of a sale, and those without a sale, such as a charge for an unknown order. */
export const findingRoutes = (sql: Sql) =>
  new Hono()
    .get('/findings', async (c) => c.json(await readFindings(sql, NO_SALE)))
    .get('/sales/:sale/findings', async (c) => c.json(await readFindings(sql, c.req.param('sale'))))
