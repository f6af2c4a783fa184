/**
 * What was found to be other than it should be, and what was changed because of it: two tables that operators read.
 * A finding is one row for as long as it is so, however often it is seen; the audit log has a row for every change.
 */
import type { Queryable } from './connection.ts'

type FindingKind =
  /** The fast gate was not in use, after a restart of Redis for instance. */
  | 'fenced'
  /** The fast gate counted otherwise than the ledger. */
  | 'drift'
  /** The ledger's counters are not the sum of its orders. */
  | 'miscounted'
  /** More units live than there are. */
  | 'oversold'
  /** An intent in the stream that cannot be recorded. */
  | 'unreadable_intent'
  /** A charge in the provider's records for an order that the ledger does not have. */
  | 'unknown_charge'
  /** A refund that is owed and that the provider has refused to the last. */
  | 'refund_failed'
  /** The money of a confirmed order, which the provider has refused to the last, or which is not authorized any more. */
  | 'capture_failed'
  /** A charge of another amount than the price of its order. */
  | 'wrong_amount'
  /** An order that is sold, and whose money was given back without this system. */
  | 'refunded_outside'

export interface FindingNote {
  readonly sale: string
  readonly product: string
  readonly kind: FindingKind
  /** What it is about, where one product can have several of a kind. */
  readonly subject?: string
  readonly units: number
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Where a finding stands that no sale can be told of; `readFindings` reads these as any sale's. */
export const NO_SALE = ''

/** Opens a finding, or notes that it is still so. */
export async function note(sql: Queryable, finding: FindingNote): Promise<void> {
  const { sale, product, kind, subject = '', units, detail } = finding
  await sql`
    insert into findings (sale_id, product_id, kind, subject, units, detail)
    values (${sale}, ${product}, ${kind}, ${subject}, ${units}, ${json(detail)}::text::jsonb)
    on conflict (sale_id, product_id, kind, subject) where closed_at is null
    do update set last_seen_at = clock_timestamp(), seen = findings.seen + 1, units = excluded.units, detail = excluded.detail`
}

/** Closes findings of a kind, if any are open. */
export async function close(
  sql: Queryable,
  sale: string,
  product: string,
  kind: FindingKind,
  outcome: string,
): Promise<void> {
  await sql`
    update findings set closed_at = clock_timestamp(), outcome = ${outcome}
    where sale_id = ${sale} and product_id = ${product} and kind = ${kind} and closed_at is null`
}

/** Closes the findings of a kind about some things, if any are open, in whichever sale they stand. */
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
  /** Who decided: the reconciler by itself, or an operator. */
  readonly actor: string
  readonly action: string
  readonly sale: string
  readonly product?: string
  readonly order?: string
  readonly before?: unknown
  readonly after?: unknown
}

/** Writes down changes; called with the transaction that makes them. */
export async function audit(tx: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  for (const { actor, action, sale, product, order, before, after } of entries) {
    await tx`
      insert into audit_log (actor, action, sale_id, product_id, order_id, before, after)
      values (${actor}, ${action}, ${sale}, ${product ?? null}, ${order ?? null},
              ${json(before)}::text::jsonb, ${json(after)}::text::jsonb)`
  }
}

const SHOWN = 200

/** The latest findings of a sale (or of none, NO_SALE), and what was changed in it, the latest first. */
export async function readFindings(sql: Queryable, sale: string) {
  const findings = await sql`
    select product_id, kind, subject, units, detail, seen, first_seen_at, last_seen_at, closed_at, outcome
    from findings where sale_id = ${sale} order by finding_id desc limit ${SHOWN}`
  const changes = await sql`
    select at, actor, action, product_id, order_id, before, after
    from audit_log where sale_id = ${sale} order by entry_id desc limit ${SHOWN}`
  return { findings, changes }
}

const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
