/** Findings in the ledger. A problem has one row for as long as it lasts, however often it is seen. */
import type { OpenFinding } from '../../shared/api/operators/live.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'

export type FindingKind =
  | 'fenced' // The fast gate was fenced, for instance after a restart of Redis.
  | 'assertion_failed' // The code met a state that cannot be; the subject is the sentence that does not hold.
  | 'evicting' // Redis may evict keys, so that the fast gate is shut.
  | 'evicted' // Redis has evicted keys, and promised orders with them.
  | 'drift' // The fast gate's counters differ from the ledger.
  | 'miscounted' // The ledger's counters are not the sum of its orders.
  | 'oversold' // The sale has more live units than its stock.
  | 'unreadable_intent' // An intent in Redis cannot be recorded.
  | 'unknown_charge' // The provider has a charge for an order that the ledger does not have.
  | 'refund_failed' // A refund failed its last attempt.
  | 'capture_failed' // A confirmed order's capture failed its last attempt, or is not authorized any more.
  | 'charge_refused' // The provider refuses the request independently of the card, for example because of the amount.
  | 'wrong_amount' // A charge has another amount than its order.
  | 'payment_answer_invalid' // The shop's payment server said something that counts as no answer.
  | 'confirmation_refused' // The shop took money for a hold that it cannot have sold: too late, or another sum.
  | 'mail_failed' // Mails to buyers of a sale were given up.
  | 'refunded_outside' // A sold order was refunded outside this system.
  | 'webhook_failed' // An endpoint accepts no messages, or some were set aside.
  | 'purge_failed' // The edge cannot purge the cache, so visitors may see a page of before a change.
  | 'views_dropped' // Beacons of views were dropped, since the ledger was away for too long.
  | 'views_differ' // Views counted again from the raw log differ from those counted as they came.
  | 'scheduled_failed' // A scheduled action could not be carried out.
  | 'scheduled_suspended' // The operator who scheduled an action lost the role for it.

interface FindingNote {
  readonly sale: string
  readonly product: string
  readonly kind: FindingKind
  /** Distinguishes findings of the same kind and product. */
  readonly subject?: string
  readonly units: number
  readonly detail?: Readonly<Record<string, unknown>>
}

/** The sale of findings that do not belong to any sale. */
export const NO_SALE = ''

/** Opens a finding, with its event, or updates the open one. */
export async function note(sql: Queryable, finding: FindingNote): Promise<void> {
  const { sale, product, kind, subject = '', units, detail } = finding
  await sql`
    with noted as (
      insert into findings (sale_id, product_id, kind, subject, units, detail)
      values (${sale}, ${product}, ${kind}, ${subject}, ${units}, ${json(detail)}::text::jsonb)
      on conflict (sale_id, product_id, kind, subject) where closed_at is null
      do update set last_seen_at = clock_timestamp(), seen = findings.seen + 1, units = excluded.units,
        detail = excluded.detail
      returning *, xmax = 0 as opened)
    insert into events (xid, type, sale_id, data)
    select event_xid(), 'finding.opened', nullif(sale_id, ''),
      jsonb_build_object('finding', finding_id::text, 'sale', nullif(sale_id, ''),
      'product_id', nullif(product_id, ''), 'kind', kind, 'subject', nullif(subject, ''), 'units', units, 'detail',
        detail)
    from noted where opened`
}

/** Opens a finding that is not about units, and counts it. */
export async function openFinding(
  sql: Queryable,
  metrics: Pick<Metrics, 'findings'>,
  finding: Omit<FindingNote, 'units'>,
): Promise<void> {
  await note(sql, { ...finding, units: 0 })
  metrics.findings.inc({ sale: finding.sale, kind: finding.kind })
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

type About = readonly [kind: FindingKind, subjects: readonly string[], outcome: string]

/**
 * Closes the open findings of a kind about these subjects, in any sale. The result is a statement, or the end of a
 * statement.
 */
export const closingAbout = (sql: Queryable, ...[kind, subjects, outcome]: About) => sql`
  update findings set closed_at = clock_timestamp(), outcome = ${outcome}
  where kind = ${kind} and subject = any(${subjects as string[]}::text[]) and closed_at is null`

export async function closeAbout(sql: Queryable, ...about: About): Promise<void> {
  await closingAbout(sql, ...about)
}

/** The open findings of a sale, and those without a sale, the latest first. */
export const openFindings = (sql: Sql, saleId: string, limit: number) => sql<OpenFinding[]>`
  select kind, product_id, subject, units, detail, first_seen_at from findings
  where sale_id in (${saleId}, ${NO_SALE}) and closed_at is null order by finding_id desc limit ${limit}`

/** The number of open findings of each sale. */
export async function countOpenFindings(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ sale_id: string; open: number }[]>`
    select sale_id, count(*)::int as open from findings
      where closed_at is null and sale_id <> ${NO_SALE} group by sale_id`
  return Object.fromEntries(rows.map(({ sale_id, open }) => [sale_id, open]))
}

const SHOWN = 200

/** The latest findings of a sale (or NO_SALE) and changes of its products' stock, the latest first. */
export async function readFindings(sql: Queryable, saleId: string) {
  const findings = await sql`
    select product_id, kind, subject, units, detail, seen, first_seen_at, last_seen_at, closed_at, outcome
    from findings where sale_id = ${saleId} order by finding_id desc limit ${SHOWN}`
  const changes = await sql`
    select at, actor, action, product_id, order_id, before, after
    from audit_log where sale_id = ${saleId} and product_id is not null order by entry_id desc limit ${SHOWN}`
  return { findings, changes }
}

interface AnyFinding extends OpenFinding {
  readonly finding: string
  readonly sale: string | null
  readonly sale_name: string | null
  readonly seen: number
  readonly closed_at: Date | null
  readonly outcome: string | null
}

/** The findings of all sales: those that are open first, then the closed ones, the latest first. */
export const allFindings = (sql: Sql) => sql<AnyFinding[]>`
  (select ${anyFinding(sql)} where f.closed_at is null order by f.finding_id desc limit ${SHOWN})
  union all
  (select ${anyFinding(sql)} where f.closed_at is not null order by f.finding_id desc limit ${SHOWN_CLOSED})`

const SHOWN_CLOSED = 50

const anyFinding = (sql: Sql) => sql`
  f.finding_id::text as finding, nullif(f.sale_id, '') as sale, s.name as sale_name, f.kind, f.product_id, f.subject,
  f.units, f.detail, f.seen, f.first_seen_at, f.closed_at, f.outcome
  from findings f left join sales s using (sale_id)`

const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
