/** The operators' calls for announcements to visitors. */
import { Hono } from 'hono'
import { AnnouncementRequest } from '../../shared/api/operator.ts'
import type { Sql } from '../ledger/connection.ts'
import { operatorOf, readBody } from '../lib/request.ts'
import { endAnnouncement, listAnnouncements, putAnnouncement } from './announcement-queries.ts'

interface AnnouncementDeps {
  readonly sql: Sql
  /** Has this process and the edge learn of a change. */
  readonly changed: (saleId: string) => Promise<unknown>
}

const LISTED = 500

/** Below `/admin/sales/{sale}`. */
export function announcementRoutes({ sql, changed }: AnnouncementDeps): Hono {
  const app = new Hono()

  app.put('/announcement', async (c) => {
    const saleId = c.req.param('sale') ?? ''
    const wanted = await readBody(c, AnnouncementRequest)
    const actor = operatorOf(c)
    const written = await sql.begin((tx) => putAnnouncement(tx, saleId, wanted, actor))
    await changed(saleId)
    return c.json(shown(written))
  })

  app.delete('/announcement', async (c) => {
    const saleId = c.req.param('sale') ?? ''
    const actor = operatorOf(c)
    await sql.begin((tx) => endAnnouncement(tx, saleId, actor))
    await changed(saleId)
    return c.body(null, 204)
  })

  app.get('/announcements', async (c) => {
    const all = await listAnnouncements(sql, c.req.param('sale') ?? '', LISTED)
    return c.json({ announcements: all.map(shown) })
  })

  return app
}

const shown = ({
  announcement_id: id,
  level,
  text,
  since,
  until,
  operator,
}: Awaited<ReturnType<typeof listAnnouncements>>[number]) => ({
  id,
  level,
  text,
  operator,
  since: since.toISOString(),
  until: until?.toISOString() ?? null,
})
