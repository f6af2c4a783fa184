/**
 * Posts of the shop to the visitors of a sale. An urgent post is an announcement: all pages show the latest one until
 * its end, or until an operator ends it.
 */

import type { Image } from '../../shared/api/goods.ts'
import type { AnnouncementRequest } from '../../shared/api/operators/requests.ts'
import { type Audited, audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { posts } from '../ledger/schema/sales.ts'

export type PostRow = Readonly<typeof posts.$inferSelect>
export type AnnouncementRow = PostRow & { readonly level: NonNullable<PostRow['level']> }
/** `shown` is true for the announcement that all pages show. */
export type ListedPost = PostRow & { readonly shown: boolean }

/** `level` is null for a post that is not an announcement. */
interface NewPost {
  readonly level: PostRow['level']
  readonly text: AnnouncementRequest['text']
  readonly image?: Image | undefined
  readonly until?: string | undefined
}

/** An SQL condition that is true for a post that all pages show. */
const isShown = (sql: Queryable) =>
  sql`(level is not null and removed_at is null and (until is null or until > clock_timestamp()))`

/** A column rounds to milliseconds, and an end must not be in the future by a part of one. */
const nowIn = (sql: Queryable) => sql`date_trunc('milliseconds', clock_timestamp())`

/**
 * Publishes a post. An announcement replaces the one before; one that was noted while the ledger was away has its own
 * time, and is over at once if there has been a later one.
 */
export async function publishPost<const P extends NewPost>(
  tx: Queryable,
  saleId: string,
  { level, text, image, until }: P,
  operator: string,
  { isOver = false, ...noted }: Partial<Audited & { readonly isOver: boolean }> = {},
): Promise<ListedPost & Pick<P, 'level'>> {
  await lockFeed(tx, saleId)
  const before = level === null || isOver ? undefined : await endShown(tx, saleId)
  const [after] = await tx<(ListedPost & Pick<P, 'level'>)[]>`
    insert into posts (sale_id, n, level, text, image, operator, at, until)
    select ${saleId}, coalesce(max(n), 0) + 1,
      ${level}, ${tx.json(text)}, ${image ? tx.json(image) : null}, ${operator},
      coalesce(${noted.at ?? null}::timestamptz, clock_timestamp()),
      case when ${isOver} then ${nowIn(tx)} else ${until ?? null}::timestamptz end
    from posts where sale_id = ${saleId} returning *, ${isShown(tx)} as shown`
  if (!after) throw new Error('no row')
  const action = level === null ? 'posted' : 'announced'
  await audit(tx, [{ actor: operator, action, sale: saleId, before: inAudit(before), after: inAudit(after), ...noted }])
  return after
}

/** What is left out stays. A null `until` means that no end is set. */
export interface PostEdit {
  readonly text?: AnnouncementRequest['text']
  readonly image?: Image | null
  readonly urgent?: boolean
  readonly until?: string | null
}

/** Changes a post. Returns undefined if there is none, and null if it would get an end without being on top. */
export async function editPost(
  tx: Queryable,
  saleId: string,
  n: number,
  { text, image, urgent, until }: PostEdit,
  operator: string,
): Promise<ListedPost | null | undefined> {
  await lockFeed(tx, saleId)
  const [before] = await tx<ListedPost[]>`
    select *, ${isShown(tx)} as shown from posts where sale_id = ${saleId} and n = ${n} and removed_at is null`
  if (!before) return undefined
  const isOnTop = urgent ?? before.shown
  if (until && !isOnTop) return null
  if (isOnTop && !before.shown) await endShown(tx, saleId)
  const end = until === undefined ? (before.shown ? before.until : null) : until
  const isRewritten = text !== undefined || image !== undefined
  const picture = image === undefined ? before.image : image
  const [after] = await tx<ListedPost[]>`
    update posts set text = ${tx.json(text ?? before.text)}, image = ${picture ? tx.json(picture) : null},
      level = case when ${isOnTop} then coalesce(level, 'warning') else level end,
      until = case when ${isOnTop} then ${end}::timestamptz
        when ${before.shown} then ${nowIn(tx)} else until end,
      edited_at = case when ${isRewritten} then clock_timestamp() else edited_at end,
      edits = edits + 1
    where sale_id = ${saleId} and n = ${n} returning *, ${isShown(tx)} as shown`
  if (!after) throw new Error('no row')
  const [was, is] = [before, after].map((row) => ({ n, ...inAudit(row), on_top: row.shown }))
  await audit(tx, [{ actor: operator, action: 'post edited', sale: saleId, before: was, after: is }])
  return after
}

/** Ends the announcement, if there is one: it stays in the feed. */
export async function endAnnouncement(tx: Queryable, saleId: string, operator: string): Promise<void> {
  await lockFeed(tx, saleId)
  const before = inAudit(await endShown(tx, saleId))
  if (before) await audit(tx, [{ actor: operator, action: 'announcement ended', sale: saleId, before }])
}

/** Removes a post, so that nobody can read it any more. Returns false if there is none. */
export async function removePost(tx: Queryable, saleId: string, n: number, operator: string): Promise<boolean> {
  await lockFeed(tx, saleId)
  const [removed] = await tx<PostRow[]>`
    update posts set removed_at = clock_timestamp(),
      until = case when level is not null then least(until, ${nowIn(tx)}) end
    where sale_id = ${saleId} and n = ${n} and removed_at is null returning *`
  if (removed)
    await audit(tx, [{ actor: operator, action: 'post removed', sale: saleId, before: { n, ...inAudit(removed) } }])
  return removed !== undefined
}

const inAudit = (row: PostRow | undefined) =>
  row && {
    ...(row.level !== null && { level: row.level }),
    text: row.text,
    ...(row.until !== null && { until: row.until }),
  }

/** The lock on the sale's row orders concurrent posts, so that their numbers appear in order. */
const lockFeed = (tx: Queryable, saleId: string) => tx`select 1 from sales where sale_id = ${saleId} for no key update`

async function endShown(tx: Queryable, saleId: string): Promise<PostRow | undefined> {
  const [ended] = await tx<PostRow[]>`
    update posts set until = ${nowIn(tx)} where sale_id = ${saleId} and ${isShown(tx)} returning *`
  return ended
}

/** All posts of a sale, including removed ones, the latest first. */
export const listPosts = (sql: Sql, saleId: string, limit: number) => sql<ListedPost[]>`
  select *, ${isShown(sql)} as shown from posts where sale_id = ${saleId} order by n desc limit ${limit}`

/** All announcements of a sale, the latest first. */
export const listAnnouncements = (sql: Sql, saleId: string, limit: number) => sql<AnnouncementRow[]>`
  select * from posts where sale_id = ${saleId} and level is not null order by n desc limit ${limit}`
