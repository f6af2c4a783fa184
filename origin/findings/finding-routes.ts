/**
 * The operators' calls for findings: those of a sale, and those without a sale, such as a charge for an unknown
 * order.
 */
import { Hono } from 'hono'
import type { Sql } from '../ledger/connection.ts'
import { NO_SALE, readFindings } from './finding-queries.ts'

/** The routes are mounted below `/admin`. */
export const findingRoutes = (sql: Sql) =>
  new Hono()
    .get('/findings', async (c) => c.json(await readFindings(sql, NO_SALE)))
    .get('/sales/:sale/findings', async (c) => c.json(await readFindings(sql, c.req.param('sale'))))
