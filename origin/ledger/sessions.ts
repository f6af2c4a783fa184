/**
 * Our sessions at the server, which outlive their connection where the network forgets it. They bring limits of their
 * own. What no limit ends is looked for: a connection that is lost after a part of a statement leaves a session that
 * waits for the rest, with its locks, and neither the timeout of statements nor that of idle transactions ends it.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import postgres from 'postgres'
import { postgresAddress } from '../lib/store-tls.ts'
import { connect, SESSION, type SessionLimits } from './connection.ts'

/** All servers that we accept know these: nobody at the other end is noticed within half a minute, at work or idle. */
const LIMITS: SessionLimits = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 3,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 15_000,
  client_connection_check_interval: 5_000,
}
/** A transaction of ours, a rebuild or an import, lasts seconds. Since Postgres 17. */
const WHOLE_TRANSACTION: SessionLimits = { transaction_timeout: 60_000 }
const KNOWS_WHOLE_TRANSACTION = 17

/** The name of the session that migrates. */
export const PREPARING = 'flash-sale-migrations'
const OURS = ['flash-sale-origin', 'flash-sale-sandbox', 'flash-sale-views', PREPARING]
/** The rest of a statement follows within milliseconds, and each statement ends within ten seconds. */
const SILENT_SECONDS = 5
const ACTIVE_SECONDS = 15
/** Idle transactions end by themselves after half a minute, and others by the server's limit, where it has one. */
const TRANSACTION_SECONDS = 75

/** The limits that sessions may bring: a pooler in between may refuse them, and then nobody could connect. */
export async function acceptedLimits(url: string, version: number): Promise<SessionLimits> {
  const limits = version >= KNOWS_WHOLE_TRANSACTION ? { ...LIMITS, ...WHOLE_TRANSACTION } : LIMITS
  const { url: address, options } = postgresAddress(url)
  const trial = postgres(address, { ...options, max: 1, connect_timeout: 5, connection: limits, onnotice: () => {} })
  try {
    await trial`select 1`
    return limits
  } catch (error) {
    if (!isRefusedParameter(error as Error)) throw error
    return {}
  } finally {
    await trial.end({ timeout: 1 })
  }
}

/** An unknown parameter, by Postgres (42704), with another value than it may have (22023), or by PgBouncer (08P01). */
const isRefusedParameter = ({ code }: Error & { code?: string }) =>
  code !== undefined && /^(42704|22023|08P01)$/.test(code)

/**
 * Throws an Error that says what to do if a pooler between us and Postgres refuses or drops what our sessions are
 * started with, or gives the statements of one session to several.
 */
export async function requireSessions(url: string): Promise<void> {
  const [one, other] = [connect(url, 1), connect(url, 1)]
  const [names, values] = [Object.keys(SESSION), Object.values(SESSION).map(String)]
  const mark = randomUUID()
  try {
    const [own] = await one<{ dropped: number }[]>`
      select set_config('flash_sale.mark', ${mark}, false), (
        select count(*)::int from pg_settings join unnest(${names}::text[], ${values}::text[]) as ours(name, value)
          using (name) where setting <> value) as dropped`
    // A pooler gives a transaction the connection that it got back last.
    const [seen] = await other.begin(
      (tx) => tx<{ shared: boolean | null }[]>`select current_setting('flash_sale.mark', true) = ${mark} as shared`,
    )
    if (seen?.shared)
      throw new Error('a pooler gives one session to several clients: PgBouncer must have pool_mode = session')
    const settings = names.map((name, i) => `alter role current_user set ${name} = '${values[i]}';`).join(' ')
    if (own && own.dropped > 0)
      throw new Error(`a pooler drops what sessions are started with: set it for the role that serves (${settings})`)
  } catch (error) {
    if (!isRefusedParameter(error as Error)) throw error
    const listed = names.join(', ')
    throw new Error(`a pooler refuses sessions: PgBouncer must have ignore_startup_parameters = ${listed}`)
  } finally {
    await Promise.all([one, other].map((sql) => sql.end({ timeout: 1 })))
  }
}

interface Forgotten {
  readonly pid: number
  readonly application: string
  readonly state: string
  readonly seconds: number
  readonly statement: string
}

/**
 * Ends those of our sessions in this database that last longer than any may: they belong to nobody. A session that
 * migrates may work for as long as it does; it is forgotten once it waits for its client.
 */
export const endForgottenSessions = (sql: postgres.Sql) => sql<Forgotten[]>`
  select pid, application_name as application, state,
    extract(epoch from clock_timestamp() - state_change)::int as seconds,
    left(query, 100) as statement, pg_terminate_backend(pid)
  from pg_stat_activity
  where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
    and application_name = any(${OURS})
    and (state = 'active' and wait_event = 'ClientRead'
      and state_change < clock_timestamp() - ${SILENT_SECONDS} * interval '1 second'
      or application_name = ${PREPARING} and state like 'idle%'
        and state_change < clock_timestamp() - ${SILENT_SECONDS} * interval '1 second'
      or application_name <> ${PREPARING} and (
        state = 'active' and query_start < clock_timestamp() - ${ACTIVE_SECONDS} * interval '1 second'
        or xact_start < clock_timestamp() - ${TRANSACTION_SECONDS} * interval '1 second'))`

/** One round of the watch. */
export async function watchSessions({ sql, metrics, log }: WatchDeps): Promise<void> {
  for (const { pid, application, state, seconds, statement } of await endForgottenSessions(sql)) {
    metrics.sessionsEnded.inc({ state })
    log.error({ pid, application, state, seconds, statement }, 'forgotten session of Postgres ended')
  }
}

interface WatchDeps {
  readonly sql: postgres.Sql
  readonly metrics: { readonly sessionsEnded: { inc(labels: { readonly state: string }): void } }
  readonly log: Logger
}
