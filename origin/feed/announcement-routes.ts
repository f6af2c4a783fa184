/** The operators' calls for announcements to visitors, and the edge's call for those that are over. */
import { Hono } from 'hono'
import { AnnouncementRequest } from '../../shared/api/operator.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { jsonBody, refuse } from '../lib/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import type { AdminSales } from '../sales/admin-sales.ts'
import type { Sales } from '../sales/sales.ts'
import {
  type AnnouncementRow,
  endAnnouncement,
  listAnnouncements,
  PastAnnouncementPages,
  putAnnouncement,
} from './announcement-queries.ts'

interface AnnouncementDeps {
  readonly sql: Sql
  readonly sales: Pick<AdminSales, 'publish'>
}

const LISTED = 500

export function announcementRoutes({ sql, sales }: AnnouncementDeps) {
  return new Hono()
    .put('/sales/:sale/announcement', jsonBody(AnnouncementRequest), async (c) => {
      const saleId = c.req.param('sale')
      const written = await sql.begin((tx) => putAnnouncement(tx, saleId, c.req.valid('json'), operatorOf(c)))
      await sales.publish(saleId)
      return c.json(toJson(written))
    })

    .delete('/sales/:sale/announcement', async (c) => {
      const saleId = c.req.param('sale')
      await sql.begin((tx) => endAnnouncement(tx, saleId, operatorOf(c)))
      await sales.publish(saleId)
      return c.body(null, 204)
    })

    .get('/sales/:sale/announcements', async (c) => {
      const all = await listAnnouncements(sql, c.req.param('sale'), LISTED)
      return c.json({ announcements: all.map(toJson) })
    })
}

interface PastAnnouncementDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'find' | 'nowMs'>
}

/** Below `/internal`: the announcements before the latest ones, page by page. */
export function pastAnnouncementRoutes({ sql, sales }: PastAnnouncementDeps): Hono {
  const pages = new PastAnnouncementPages(sql)
  return new Hono().get('/sales/:sale/announcements', async (c) => {
    const { sale_id } = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
    const wanted = c.req.query('page')
    const number = wanted === undefined ? null : Number(wanted)
    if (number !== null && !Number.isSafeInteger(number)) refuse(problem('not-found'))
    return c.json((await pages.read(sale_id, number, sales.nowMs())) ?? refuse(problem('not-found')))
  })
}

const toJson = ({ announcement_id: id, level, text, since, until, operator }: AnnouncementRow) => ({
  id,
  level,
  text,
  operator,
  since: since.toISOString(),
  until: until?.toISOString() ?? null,
})
