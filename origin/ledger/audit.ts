/**
 * The audit log: what operators and the reconciler changed, one row per change, written in the transaction of the
 * change.
 */
import type { AuditRow } from '../../shared/api/operators/answers.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Queryable, Sql } from './connection.ts'
import { isParcel } from './order-statements.ts'

/** The name of the caller who has the admin token. */
export const ADMIN_NAME = 'admin'

/** The actions that read personal data. They change nothing, and are not part of a timeline. */
export const READS = ['order read', 'orders searched', 'orders exported', 'person exported'] as const

/** The sale of entries that concern all sales. */
export const ALL_SALES = ''

/** A change, with the operator who made it. */
interface AuditEntry {
  /** The operator's name, or `reconciler`. */
  readonly actor: string
  readonly action: string
  readonly sale: string
  readonly product?: string
  readonly order?: string
  /** The Idempotency-Key of the operator's call. The ledger refuses a second entry with the same key. */
  readonly key?: string | null
  readonly before?: unknown
  readonly after?: unknown
  /** The time of a change that is written later than it was made. */
  readonly at?: Date
}

/** The entry of a change that was made while the ledger was away: its time, and a key that is written once. */
export interface Audited {
  readonly at: Date
  readonly key: string
}

/** Logs changes in the transaction that makes them. */
export async function audit(tx: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  for (const { actor, action, sale, product, order, key, before, after, at } of entries) {
    await tx`
      insert into audit_log (actor, action, sale_id, product_id, order_id, idempotency_key, before, after, at)
      values (${actor}, ${action}, ${sale}, ${product ?? null}, ${order ?? null}, ${key ?? null},
              ${json(before)}::text::jsonb, ${json(after)}::text::jsonb, coalesce(${at ?? null}::timestamptz, now()))`
  }
}

/** Each process remembers this many reads, and does not log an operator's repeated read again within this time. */
const [MAX_READS, AGAIN_MS] = [10_000, 10 * 60_000]

/**
 * Logs reads of personal data before they are answered. The console repeats its reads, and one entry covers ten
 * minutes.
 */
export class ReadAudit {
  readonly #sql: Sql
  readonly #loggedAtMs = new RecentMap<string, number>(MAX_READS)

  constructor(sql: Sql) {
    this.#sql = sql
  }

  async log(read: AuditEntry & { readonly action: (typeof READS)[number] }): Promise<void> {
    const same = JSON.stringify(read)
    const nowMs = performance.now()
    if (nowMs - (this.#loggedAtMs.get(same) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return
    await audit(this.#sql, [read])
    this.#loggedAtMs.set(same, nowMs)
  }
}

/** The fields that differ between two states, with the values of each. */
export function changesBetween(before: Fields, after: Fields): { before: Fields; after: Fields } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const differing = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  const pick = (from: Fields) =>
    Object.fromEntries(differing.flatMap((name) => (name in from ? [[name, from[name]]] : [])))
  return { before: pick(before), after: pick(after) }
}
type Fields = Readonly<Record<string, unknown>>

const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))

interface AuditQuery {
  readonly sale?: string | undefined
  readonly operator?: string | undefined
  readonly action?: string | undefined
  /** Entries before this one. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Entries, the newest first. */
export async function readAudit(sql: Sql, { sale, operator, action, after, limit }: AuditQuery) {
  return sql<AuditRow[]>`
    select entry_id::text as entry, at, actor as operator, action, nullif(sale_id, '') as sale, product_id, order_id,
      before, after,
      (select s.name from sales s where s.sale_id = a.sale_id) as sale_name,
      (select p.name from products p where p.sale_id = a.sale_id and p.product_id = a.product_id) as product_name,
      o.currency, o.is_parcel
    from audit_log a
    left join lateral (
      select o.currency, ${isParcel(sql)} as is_parcel from orders o join sales s using (sale_id)
        left join contacts c using (order_id)
      where o.order_id = a.order_id) o on true
    where true ${sale === undefined ? sql`` : sql`and a.sale_id = ${sale}`}
      ${operator === undefined ? sql`` : sql`and actor = ${operator}`}
      ${action === undefined ? sql`` : sql`and action = ${action}`}
      ${after === undefined ? sql`` : sql`and entry_id < ${after}`}
    order by entry_id desc limit ${limit}`
}
