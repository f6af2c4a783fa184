/** The operators' call for the report of a sale. */
import { Hono } from 'hono'
import type { Config } from '../base/config.ts'
import type { Sql } from '../ledger/connection.ts'
import type { OperatedSales } from '../sales/sales.ts'
import { type ListAnnouncements, saleReport } from './sale-report.ts'

interface ReportDeps {
  readonly announcements?: ListAnnouncements
  readonly sql: Sql
  readonly config: Pick<Config, 'EDGE_URL' | 'PUBLIC_URL'>
  readonly sales: Pick<OperatedSales, 'find' | 'nowMs'>
}

export const reportRoutes = ({ sales, ...deps }: ReportDeps) =>
  new Hono().get('/sales/:sale/report', async (c) => {
    const nowMs = () => sales.nowMs()
    return c.json(await saleReport({ ...deps, nowMs }, await sales.find(c.req.param('sale'))))
  })
