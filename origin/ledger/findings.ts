/**
 * Findings, each one row for as long as a problem lasts, however often it is seen; and the audit log, one row per change.
 */
import type { Queryable } from './connection.ts'

type FindingKind =
  | 'fenced' // The fast gate was fenced, for instance after a restart of Redis.
  | 'drift' // The fast gate's counters differ from the ledger.
  | 'miscounted' // The ledger's counters are not the sum of its orders.
  | 'oversold' // More units are live than exist.
  | 'unreadable_intent' // An intent in the stream cannot be recorded.
  | 'unknown_charge' // The provider has a charge for an order that the ledger does not have.
  | 'refund_failed' // A refund failed its last attempt.
  | 'capture_failed' // A confirmed order's capture failed its last attempt, or is not authorized any more.
  | 'wrong_amount' // A charge has another amount than its order.
  | 'refunded_outside' // A sold order was refunded outside this system.

export interface FindingNote {
  readonly sale: string
  readonly product: string
  readonly kind: FindingKind
  /** Tells several findings of one kind and product apart. */
  readonly subject?: string
  readonly units: number
  readonly detail?: Readonly<Record<string, unknown>>
}

/** The sale of findings that belong to none. */
export const NO_SALE = ''

/** Opens a finding, or updates the open one. */
export async function note(sql: Queryable, finding: FindingNote): Promise<void> {
  const { sale, product, kind, subject = '', units, detail } = finding
  await sql`
    insert into findings (sale_id, product_id, kind, subject, units, detail)
    values (${sale}, ${product}, ${kind}, ${subject}, ${units}, ${json(detail)}::text::jsonb)
    on conflict (sale_id, product_id, kind, subject) where closed_at is null
    do update set last_seen_at = clock_timestamp(), seen = findings.seen + 1, units = excluded.units, detail = excluded.detail`
}

/** Closes the open findings of a kind for a product. */
export async function close(
  sql: Queryable,
  saleId: string,
  productId: string,
  kind: FindingKind,
  outcome: string,
): Promise<void> {
  await sql`
    update findings set closed_at = clock_timestamp(), outcome = ${outcome}
    where sale_id = ${saleId} and product_id = ${productId} and kind = ${kind} and closed_at is null`
}

/** Closes the open findings of a kind about these subjects, in any sale. */
export async function closeAbout(
  sql: Queryable,
  kind: FindingKind,
  subjects: readonly string[],
  outcome: string,
): Promise<void> {
  await sql`
    update findings set closed_at = clock_timestamp(), outcome = ${outcome}
    where kind = ${kind} and subject = any(${subjects as string[]}::text[]) and closed_at is null`
}

interface AuditEntry {
  /** `reconciler` or `operator`. */
  readonly actor: string
  readonly action: string
  readonly sale: string
  readonly product?: string
  readonly order?: string
  readonly before?: unknown
  readonly after?: unknown
}

/** Logs changes, in the transaction that makes them. */
export async function audit(tx: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  for (const { actor, action, sale, product, order, before, after } of entries) {
    await tx`
      insert into audit_log (actor, action, sale_id, product_id, order_id, before, after)
      values (${actor}, ${action}, ${sale}, ${product ?? null}, ${order ?? null},
              ${json(before)}::text::jsonb, ${json(after)}::text::jsonb)`
  }
}

const SHOWN = 200

/** The latest findings and changes of a sale (or NO_SALE), the latest first. */
export async function readFindings(sql: Queryable, saleId: string) {
  const findings = await sql`
    select product_id, kind, subject, units, detail, seen, first_seen_at, last_seen_at, closed_at, outcome
    from findings where sale_id = ${saleId} order by finding_id desc limit ${SHOWN}`
  const changes = await sql`
    select at, actor, action, product_id, order_id, before, after
    from audit_log where sale_id = ${saleId} order by entry_id desc limit ${SHOWN}`
  return { findings, changes }
}

const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
