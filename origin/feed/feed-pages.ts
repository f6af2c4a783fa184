/** Reads the feed as visitors see it: its newest posts, and pages by number. A page never changes once it is full. */

import type { FeedPage } from '../../shared/api/internal.ts'
import type { Post } from '../../shared/api/public.ts'
import { NEWEST_POSTS, POSTS_A_PAGE, pageOf } from '../../shared/feed.ts'
import type { Sql } from '../ledger/connection.ts'
import { Copies } from '../lib/copies.ts'
import type { PostRow } from './posts.ts'

/** A process reuses its result for this long, so that any number of edges costs two queries per second and sale. */
const FRESH_MS = 500
const MAX_PAGES = 1_000

export class FeedPages {
  readonly #sql: Sql
  readonly #copies = new Copies<FeedPage>({ max: MAX_PAGES, freshMs: FRESH_MS })

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** The newest posts, or a page by its number. Null if there is no such page. */
  async read(saleId: string, page: number | null, nowMs: number): Promise<FeedPage | null> {
    const newest = await this.#copies.of(saleId, nowMs, () => readNewest(this.#sql, saleId))
    if (page === null) return newest
    if (page < 1 || page > Math.max(1, pageOf(newest.latest))) return null
    return this.#copies.of(`${saleId} ${page}`, nowMs, () => readPage(this.#sql, saleId, page))
  }
}

const readNewest = (sql: Sql, saleId: string) =>
  feedPage(sql<Found[]>`
    select (select max(n) from posts where sale_id = ${saleId}) as latest,
      (select array_agg(n order by n desc) from (
        select n, removed_at from posts where sale_id = ${saleId} order by n desc limit ${2 * NEWEST_POSTS}) r
        where removed_at is not null) as retracted, p.*
    from (select) one left join (
      select * from posts where sale_id = ${saleId} and removed_at is null order by n desc
        limit ${NEWEST_POSTS}) p on true`)

/** The highest number comes from the same snapshot, because a page counts as full only if all its posts were read. */
const readPage = (sql: Sql, saleId: string, page: number) =>
  feedPage(sql<Found[]>`
    select (select max(n) from posts where sale_id = ${saleId}) as latest, p.* from (select) one
    left join posts p on p.sale_id = ${saleId} and p.removed_at is null
      and p.n > ${(page - 1) * POSTS_A_PAGE} and p.n <= ${page * POSTS_A_PAGE}
    order by p.n desc`)

/** A feed without posts returns one row whose post is null. */
type Found = { readonly latest: number | null; readonly retracted?: readonly number[] | null } & (
  | PostRow
  | { readonly [Field in keyof PostRow]: null }
)

async function feedPage(found: Promise<readonly Found[]>): Promise<FeedPage> {
  const rows = await found
  const { latest, retracted } = rows[0] ?? {}
  return {
    latest: latest ?? 0,
    posts: rows.flatMap((row) => (row.n === null ? [] : [postOf(row)])),
    ...(retracted && { retracted: [...retracted] }),
  }
}

/** The post in the form that visitors get. */
export const postOf = ({ n, at, level, text, image, edited_at }: PostRow): Post => ({
  n,
  at: at.toISOString(),
  urgent: level !== null,
  text: { ...text },
  ...(image && { image }),
  ...(edited_at && { edited_at: edited_at.toISOString() }),
})
