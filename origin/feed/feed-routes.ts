/** The operators' calls for posts and announcements, and the edge's call for the feed. */
import { Hono } from 'hono'
import { AnnouncementRequest, PostRequest } from '../../shared/api/operators/requests.ts'
import { problem } from '../../shared/problem.ts'
import type { DownloadOptions } from '../images/download.ts'
import type { Images } from '../images/images.ts'
import { ownImage } from '../images/sale-pictures.ts'
import type { Sql } from '../ledger/connection.ts'
import { jsonBody, refuse } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import type { ChangeNotes } from '../sales/change-notes.ts'
import type { OperatedSales, Sales } from '../sales/sales.ts'
import { FeedPages, postOf } from './feed-pages.ts'
import {
  type AnnouncementRow,
  endAnnouncement,
  listAnnouncements,
  listPosts,
  type PostRow,
  publishPost,
  removePost,
} from './posts.ts'

interface FeedDeps {
  readonly sql: Sql
  readonly sales: Pick<OperatedSales, 'publish' | 'publishNoted'>
  readonly notes: Pick<ChangeNotes, 'make'>
  readonly images: Images
  readonly downloads: DownloadOptions
}

const LISTED = 500

export function adminFeedRoutes({ sql, sales, notes, images, downloads }: FeedDeps) {
  return new Hono()
    .get('/sales/:sale/feed', async (c) => {
      const all = await listPosts(sql, c.req.param('sale'), LISTED)
      return c.json({ posts: all.map(asOperatorsSee) })
    })

    .post('/sales/:sale/feed', jsonBody(PostRequest), async (c) => {
      const saleId = c.req.param('sale')
      const { text, urgent, image } = c.req.valid('json')
      const post = {
        level: urgent ? 'warning' : null,
        text,
        image: image && (await ownImage(image, images, downloads)),
      } as const
      const written = await sql.begin((tx) => publishPost(tx, saleId, post, operatorOf(c)))
      if (urgent) await sales.publish(saleId)
      return c.json(asOperatorsSee(written), 201)
    })

    .delete('/sales/:sale/feed/:n', async (c) => {
      const { sale: saleId, n } = c.req.param()
      const isRemoved =
        /^[1-9]\d{0,8}$/.test(n) && (await sql.begin((tx) => removePost(tx, saleId, Number(n), operatorOf(c))))
      if (!isRemoved) refuse(problem('not-found', { detail: 'There is no such post.' }))
      await sales.publish(saleId)
      return c.body(null, 204)
    })

    .put('/sales/:sale/announcement', jsonBody(AnnouncementRequest), async (c) => {
      const saleId = c.req.param('sale')
      const operator = operatorOf(c)
      const announcement = c.req.valid('json')
      const made = await notes.make({ action: 'announce', sale: saleId, operator, ...announcement }, (audited) =>
        sql.begin((tx) => publishPost(tx, saleId, announcement, operator, audited)),
      )
      if ('noted' in made) {
        const { id, at_ms } = made.noted
        await sales.publishNoted(saleId)
        return c.json({ id, ...announcement, operator, since: new Date(at_ms).toISOString(), until: null }, 202)
      }
      await sales.publish(saleId)
      return c.json(announcementOf(made.written))
    })

    .delete('/sales/:sale/announcement', async (c) => {
      const saleId = c.req.param('sale')
      await sql.begin((tx) => endAnnouncement(tx, saleId, operatorOf(c)))
      await sales.publish(saleId)
      return c.body(null, 204)
    })

    .get('/sales/:sale/announcements', async (c) => {
      const all = await listAnnouncements(sql, c.req.param('sale'), LISTED)
      return c.json({ announcements: all.map(announcementOf) })
    })
}

interface FeedPagesDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'find' | 'nowMs'>
}

/** The route is mounted below `/internal`. It returns the newest posts, or a page by its number. */
export function feedPageRoutes({ sql, sales }: FeedPagesDeps): Hono {
  const pages = new FeedPages(sql)
  return new Hono().get('/sales/:sale/feed', async (c) => {
    const { sale_id } = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
    const wanted = c.req.query('page')
    const page = wanted === undefined ? null : Number(wanted)
    if (page !== null && !Number.isSafeInteger(page)) refuse(problem('not-found'))
    return c.json((await pages.read(sale_id, page, sales.nowMs())) ?? refuse(problem('not-found')))
  })
}

/** `shown` is true for the announcement that all pages show. */
const asOperatorsSee = (row: PostRow) => ({
  ...postOf(row),
  operator: row.operator,
  shown: row.level !== null && row.until === null,
  removed_at: row.removed_at?.toISOString() ?? null,
})

const announcementOf = ({ n, level, text, at, until, operator }: AnnouncementRow) => ({
  id: String(n),
  level,
  text,
  operator,
  since: at.toISOString(),
  until: until?.toISOString() ?? null,
})
