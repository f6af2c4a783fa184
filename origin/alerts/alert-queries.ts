/** Alerts in the ledger: from which severity each channel is used, and the jobs that send what has opened. */
import type { TransactionSql } from 'postgres'
import {
  ALERT_CHANNELS,
  type Alert,
  type AlertChannel,
  type AlertLevel,
  type Severity,
} from '../../shared/api/operators/alerts.ts'
import { readEvents } from '../events/reader.ts'
import { addJobs } from '../jobs/job-queries.ts'
import { ALL_SALES, audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { EventRow } from '../ledger/schema/events.ts'
import { reasonOf } from '../webhooks/failure.ts'
import { findingAlert, type OpenedFinding } from './alert.ts'
import type { AlertChannels } from './channels.ts'

export const ALERT_READER = 'alerts'
/** A finding that opened again within this time is not told again. */
const QUIET_MINUTES = 30
/** A finding wakes nobody if it opened longer ago, as at the first start and after an outage. */
const OLD_MS = 3_600_000

/** A channel hears of these severities until an owner decides otherwise: only what is urgent wakes somebody. */
const DEFAULTS: Readonly<Record<AlertChannel, AlertLevel>> = { mail: 'warn', slack: 'warn', pagerduty: 'page' }

export async function readLevels(sql: Queryable): Promise<Readonly<Record<AlertChannel, AlertLevel>>> {
  const rows = await sql<{ channel: AlertChannel; level: AlertLevel }[]>`select channel, level from alert_channels`
  return { ...DEFAULTS, ...Object.fromEntries(rows.map(({ channel, level }) => [channel, level])) }
}

/** Changes from which severity the named channels are used. */
export async function writeLevels(
  sql: Sql,
  change: Readonly<Partial<Record<AlertChannel, AlertLevel>>>,
  operator: string,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`lock table alert_channels in share row exclusive mode`
    const before = await readLevels(tx)
    for (const [channel, level] of Object.entries(change))
      await tx`
        insert into alert_channels (channel, level) values (${channel}, ${level})
        on conflict (channel) do update set level = excluded.level`
    const after = await readLevels(tx)
    await audit(tx, [{ actor: operator, action: 'alerts changed', sale: ALL_SALES, before, after }])
  })
}

const hears = (level: AlertLevel, severity: Severity) =>
  level !== 'off' && (severity === 'page' || (level === 'warn' && severity === 'warn'))

interface ReaderDeps {
  readonly sql: Sql
  readonly channels: Pick<AlertChannels, 'targets' | 'consoleUrl'>
  readonly nowMs: () => number
  /** Called for each sale that has ended. */
  readonly onSaleEnded: (tx: Queryable, saleId: string) => Promise<unknown>
}

/** Makes the jobs that tell people of what has opened. The result is true if there may be more. */
export function readAlerts({ sql, channels, nowMs, onSaleEnded }: ReaderDeps): Promise<boolean> {
  const handle = async (tx: TransactionSql, events: readonly EventRow[]) => {
    const recent = events.filter(({ at }) => nowMs() - at.getTime() < OLD_MS)
    for (const { type, sale_id } of recent)
      if (type === 'sale.ended' && sale_id !== null) await onSaleEnded(tx, sale_id)
    const opened = recent.filter(({ type }) => type === 'finding.opened')
    if (opened.length === 0) return
    const levels = await readLevels(tx)
    const targets = channels.targets()
    for (const event of opened) {
      const alert = await alertOf(tx, event, channels.consoleUrl)
      if (!alert) continue
      const wanted = ALERT_CHANNELS.filter((one) => targets[one] !== null && hears(levels[one], alert.severity))
      await addAlerts(tx, wanted, alert)
    }
  }
  return readEvents(sql, ALERT_READER, handle, undefined, sql`e.type in ('finding.opened', 'sale.ended')`)
}

/** Null if the same finding has been told of lately. */
async function alertOf(tx: Queryable, { data, at }: EventRow, consoleUrl: string | null): Promise<Alert | null> {
  const finding = data as OpenedFinding
  const [known] = await tx<{ times: number; quiet: boolean; name: string | null }[]>`
    select count(*)::int as times,
      coalesce(bool_or(f.finding_id < ${finding.finding}::bigint
        and f.last_seen_at > ${at}::timestamptz - ${QUIET_MINUTES} * interval '1 minute'), false) as quiet,
      (select name from sales where sale_id = ${finding.sale}) as name
    from findings f
    where f.sale_id = ${finding.sale ?? ''} and f.product_id = ${finding.product_id ?? ''} and f.kind = ${finding.kind}
      and f.subject = ${finding.subject ?? ''} and f.finding_id <= ${finding.finding}::bigint
      and f.last_seen_at > ${at}::timestamptz - interval '1 day'`
  if (!known || known.quiet) return null
  const around = { at: at.toISOString(), saleName: known.name, times: known.times, consoleUrl, reasonOf }
  return findingAlert(finding, around)
}

export const addAlerts = (tx: Queryable, channels: readonly AlertChannel[], alert: Alert, to?: readonly string[]) =>
  addJobs(
    tx,
    'alert',
    channels.map((channel) => ({ data: { channel, alert, ...(to && { to }) } })),
  )

/** The last error of each channel for which an alert waits or was given up. */
export async function readErrors(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ channel: string; error: string }[]>`
    select distinct on (data ->> 'channel') data ->> 'channel' as channel, error from jobs
    where queue = 'alert' and state in ('pending', 'dead') and error is not null
    order by data ->> 'channel', job_id desc`
  return new Map(rows.map(({ channel, error }) => [channel, error]))
}
