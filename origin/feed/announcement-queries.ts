/** What is said to the visitors of a sale: one announcement at a time, and all that were before. */

import type { AnnouncementRequest } from '../../shared/api/operator.ts'
import { ANNOUNCEMENTS_A_PAGE, type PastAnnouncements } from '../../shared/api/public.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { announcements } from '../ledger/schema/sales.ts'
import { audit } from '../operators/audit.ts'

export type AnnouncementRow = Readonly<typeof announcements.$inferSelect>

/** Puts an announcement in the place of the one before. */
export async function putAnnouncement(
  tx: Queryable,
  saleId: string,
  { level, text }: AnnouncementRequest,
  operator: string,
): Promise<AnnouncementRow> {
  const before = await endShown(tx, saleId)
  const [after] = await tx<AnnouncementRow[]>`
    insert into announcements (announcement_id, sale_id, level, text, operator, since)
    values (gen_random_uuid(), ${saleId}, ${level}, ${tx.json(text)}, ${operator}, clock_timestamp()) returning *`
  if (!after) throw new Error('no row')
  await audit(tx, [
    { actor: operator, action: 'announced', sale: saleId, before: inAudit(before), after: inAudit(after) },
  ])
  return after
}

/** Takes the announcement away, if there is one. */
export async function endAnnouncement(tx: Queryable, saleId: string, operator: string): Promise<void> {
  const before = inAudit(await endShown(tx, saleId))
  if (before) await audit(tx, [{ actor: operator, action: 'announcement ended', sale: saleId, before }])
}

const inAudit = (row: AnnouncementRow | undefined) => row && { level: row.level, text: row.text }

async function endShown(tx: Queryable, saleId: string): Promise<AnnouncementRow | undefined> {
  // The sale's row orders those who announce at the same moment.
  await tx`select 1 from sales where sale_id = ${saleId} for no key update`
  const [ended] = await tx<AnnouncementRow[]>`
    update announcements set until = clock_timestamp() where sale_id = ${saleId} and until is null returning *`
  return ended
}

/** How long the number of past announcements of a sale stays good, so that absent pages, however many, cost a query a second. */
const COUNTED_MS = 1_000
const MAX_SALES_COUNTED = 1_000

/** Announcements that are no longer shown, in pages counted from the oldest, so that a full one never changes. */
export class PastAnnouncementPages {
  readonly #sql: Sql
  readonly #counts = new RecentMap<string, { readonly count: Promise<number>; readonly atMs: number }>(
    MAX_SALES_COUNTED,
  )

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** A page, the latest first; without a number the newest page. Null: there is no such page. */
  async read(saleId: string, wanted: number | null, nowMs: number): Promise<PastAnnouncements | null> {
    const pages = Math.max(1, Math.ceil((await this.#count(saleId, nowMs, wanted === null)) / ANNOUNCEMENTS_A_PAGE))
    const page = wanted ?? pages
    if (page < 1 || page > pages) return null
    const rows = await this.#sql<(AnnouncementRow & { until: Date })[]>`
      select * from announcements where sale_id = ${saleId} and until is not null order by since, announcement_id
      limit ${ANNOUNCEMENTS_A_PAGE} offset ${(page - 1) * ANNOUNCEMENTS_A_PAGE}`
    const announcements = rows
      .map(({ announcement_id: id, level, text, since, until }) => ({
        id,
        level,
        text: { ...text },
        since: since.toISOString(),
        until: until.toISOString(),
      }))
      .reverse()
    return { page, older: page > 1 ? page - 1 : null, announcements }
  }

  #count(saleId: string, nowMs: number, anew: boolean): Promise<number> {
    const known = this.#counts.get(saleId)
    if (known && !anew && nowMs - known.atMs < COUNTED_MS) return known.count
    const count = countPast(this.#sql, saleId)
    count.catch(() => this.#counts.delete(saleId))
    this.#counts.set(saleId, { count, atMs: nowMs })
    return count
  }
}

async function countPast(sql: Sql, saleId: string): Promise<number> {
  const [row] = await sql<{ past: number }[]>`
    select count(*)::int as past from announcements where sale_id = ${saleId} and until is not null`
  return row?.past ?? 0
}

/** All announcements of a sale, the latest first. */
export const listAnnouncements = (sql: Sql, saleId: string, limit: number, offset = 0) => sql<AnnouncementRow[]>`
  select * from announcements where sale_id = ${saleId} order by since desc, announcement_id limit ${limit} offset ${offset}`
