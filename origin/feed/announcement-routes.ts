/** The operators' calls for announcements to visitors. */
import { Hono } from 'hono'
import { AnnouncementRequest } from '../../shared/api/operator.ts'
import type { Sql } from '../ledger/connection.ts'
import { jsonBody, operatorOf } from '../lib/request.ts'
import type { AdminSales } from '../sales/admin-sales.ts'
import { type AnnouncementRow, endAnnouncement, listAnnouncements, putAnnouncement } from './announcement-queries.ts'

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

const toJson = ({ announcement_id: id, level, text, since, until, operator }: AnnouncementRow) => ({
  id,
  level,
  text,
  operator,
  since: since.toISOString(),
  until: until?.toISOString() ?? null,
})
