/** The operators' calls for posts and announcements, and the edge's call for the feed. */
import { Hono } from 'hono'
import { AnnouncementRequest, PostChange, PostRequest } from '../../shared/api/operators/requests.ts'
import { invalidField, problem } from '../../shared/problem.ts'
import type { DownloadOptions } from '../images/download.ts'
import type { Images } from '../images/images.ts'
import { ownImage } from '../images/sale-pictures.ts'
import type { Sql } from '../ledger/connection.ts'
import { jsonBody, refuse, requireFuture } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import type { ChangeNotes } from '../sales/change-notes.ts'
import type { OperatedSales, Sales } from '../sales/sales.ts'
import { FeedPages, postOf } from './feed-pages.ts'
import {
  type AnnouncementRow,
  editPost,
  endAnnouncement,
  type ListedPost,
  listAnnouncements,
  listPosts,
  publishPost,
  removePost,
} from './posts.ts'

interface FeedDeps {
  readonly sql: Sql
  readonly sales: Pick<OperatedSales, 'publish' | 'publishNoted' | 'nowMs'>
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
      const { text, urgent, image, until } = c.req.valid('json')
      requireFuture('until', until, sales.nowMs())
      const post = {
        until,
        level: urgent ? 'warning' : null,
        text,
        image: image && (await ownImage(image, images, downloads)),
      } as const
      const written = await sql.begin((tx) => publishPost(tx, saleId, post, operatorOf(c)))
      if (urgent) await sales.publish(saleId)
      return c.json(asOperatorsSee(written), 201)
    })

    .patch('/sales/:sale/feed/:n', jsonBody(PostChange), async (c) => {
      const saleId = c.req.param('sale')
      const n = numberIn(c.req.param('n'))
      const { image, ...change } = c.req.valid('json')
      requireFuture('until', change.until, sales.nowMs())
      const picture = image === undefined ? {} : { image: image && (await ownImage(image, images, downloads)) }
      const edited = await sql.begin((tx) => editPost(tx, saleId, n, { ...change, ...picture }, operatorOf(c)))
      if (edited === null) return refuse(invalidField('until', 'only a post on top of all pages has an end'))
      if (!edited) return refuse(NO_POST)
      await sales.publish(saleId)
      return c.json(asOperatorsSee(edited))
    })

    .delete('/sales/:sale/feed/:n', async (c) => {
      const saleId = c.req.param('sale')
      const n = numberIn(c.req.param('n'))
      if (!(await sql.begin((tx) => removePost(tx, saleId, n, operatorOf(c))))) refuse(NO_POST)
      await sales.publish(saleId)
      return c.body(null, 204)
    })

    .put('/sales/:sale/announcement', jsonBody(AnnouncementRequest), async (c) => {
      const saleId = c.req.param('sale')
      const operator = operatorOf(c)
      const announcement = c.req.valid('json')
      requireFuture('until', announcement.until, sales.nowMs())
      const made = await notes.make({ action: 'announce', sale: saleId, operator, ...announcement }, (audited) =>
        sql.begin((tx) => publishPost(tx, saleId, announcement, operator, audited)),
      )
      if ('noted' in made) {
        const { id, at_ms } = made.noted
        await sales.publishNoted(saleId)
        const since = new Date(at_ms).toISOString()
        return c.json({ id, ...announcement, operator, since, until: announcement.until ?? null }, 202)
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

const NO_POST = problem('not-found', { detail: 'There is no such post.' })
const numberIn = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : refuse(NO_POST))

const asOperatorsSee = (row: ListedPost) => ({
  ...postOf(row),
  operator: row.operator,
  level: row.level,
  shown: row.shown,
  until: row.until?.toISOString() ?? null,
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
