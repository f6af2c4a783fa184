/** What waits to be done, and how long the oldest has waited, each read from an index of what is open. */
import type { Backlog } from '../../shared/api/live.ts'
import type { Sql } from '../ledger/connection.ts'

export type Backlogs = Readonly<Record<'charges' | 'captures' | 'refunds' | 'webhooks' | 'mails', Backlog>>

/** Nobody needs to know more exactly, and counting more would take long. */
const MOST = 100_000

export async function readBacklogs(sql: Sql): Promise<Backlogs> {
  const rows = await sql<({ of: keyof Backlogs } & Backlog)[]>`
    with waiting as (
      (select 'charges' as of, updated_at as since from orders where status = 'paying' and action is null
       order by updated_at limit ${MOST})
      union all (select 'captures', asked_at from captures where captured_at is null order by asked_at limit ${MOST})
      union all (select 'refunds', asked_at from refunds where refunded_at is null order by asked_at limit ${MOST})
      union all (select 'webhooks', created_at from webhook_deliveries where state = 'pending' limit ${MOST})
      union all (select 'mails', next_at from mails where state = 'pending' order by next_at limit ${MOST})
    )
    select of, count(*)::int as waiting, extract(epoch from clock_timestamp() - min(since))::float8 as oldest_seconds
    from waiting group by of`
  const none: Backlog = { waiting: 0, oldest_seconds: null }
  const found = Object.fromEntries(rows.map(({ of, ...backlog }) => [of, backlog]))
  return { charges: none, captures: none, refunds: none, webhooks: none, mails: none, ...found }
}
