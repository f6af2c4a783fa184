/** Monitors the log of events: it must continue after the ledger has moved, and every reader must advance. */
import type { Logger } from 'pino'
import type { Metrics } from '../base/metrics.ts'
import type { Sql } from '../ledger/connection.ts'

/** An older transaction is logged, because no reader gets the events that were written after its start. */
const LONG_SECONDS = 60

interface EventWatchDeps {
  readonly sql: Sql
  readonly metrics: Pick<Metrics, 'readerBehind' | 'eventsHeldBack'>
  readonly log: Logger
}

/** One round. */
export async function watchEvents({ sql, metrics, log }: EventWatchDeps): Promise<void> {
  const [moved] = await sql<{ moved: boolean }[]>`select continue_events() as moved`
  if (moved?.moved) log.warn('the ledger has moved to another server: its log of events goes on behind what came along')
  const behind = await sql<{ reader: string; seconds: number | null }[]>`
    select reader, (select extract(epoch from clock_timestamp() - e.at)::float8 from events e
      where (e.xid, e.seq) > (r.xid, r.seq) order by e.xid, e.seq limit 1) as seconds
    from readers r`
  for (const { reader, seconds } of behind) metrics.readerBehind.set({ reader }, Math.max(0, seconds ?? 0))
  const oldest = await oldestTransaction(sql)
  metrics.eventsHeldBack.set({}, oldest?.seconds ?? 0)
  if (oldest && oldest.seconds > LONG_SECONDS)
    log.warn(oldest, 'events wait for a long transaction on the server of the ledger, in this database or another one')
}

/**
 * Finds the oldest writing transaction on the whole server, because events that were written after its start are read
 * only after its end. Without pg_read_all_stats, a user sees only that other users' transactions exist.
 */
async function oldestTransaction(sql: Sql) {
  const [row] = await sql<{ seconds: number; database: string | null; application: string | null; who: string }[]>`
    select extract(epoch from clock_timestamp() - since)::float8 as seconds, database, application, who from (
      select xact_start as since, datname as database, application_name as application, 'process ' || pid as who
      from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid()
      union all select prepared, database, null, 'prepared ' || gid from pg_prepared_xacts) running
    where since is not null order by since limit 1`
  return row
}
