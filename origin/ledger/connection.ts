/**
 * The connection to Postgres and its schema. Nothing blocks a statement for longer than seconds: an unresponsive
 * server, a lock whose owner is gone and a dead connection each have a timeout.
 *
 * The driver (postgres.js 3.4.9) is patched after an install (patches/). Unpatched, a connection that dies during a
 * write or while it opens ends the process or blocks for 20 s (porsager/postgres#1154, #1208), a transaction whose
 * connection has died continues inside the next one (#1216), a proxy that hangs up at once makes statements wait
 * forever, and a server that vanishes is noticed (`response_timeout`) only when TCP gives up, after a quarter of an
 * hour.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import postgres from 'postgres'
import { AssertionError, assertExists } from '../../shared/lib/assert.ts'
import { postgresTls, tlsFault } from '../lib/store-tls.ts'
import { TimeoutError, withTimeout } from '../lib/with-timeout.ts'
import { acceptedLimits, endForgottenSessions, PREPARING, type SessionLimits } from './sessions.ts'

export type Sql = postgres.Sql
/** A connection pool, or a transaction on it. */
export type Queryable = postgres.Sql | postgres.TransactionSql

const MAX_CONNECTIONS = 10
/** Callers do not wait longer than this, so a longer statement would only keep its locks. */
const STATEMENT_TIMEOUT_MS = 10_000
/** Interval of TCP keep-alive probes on idle connections. */
const KEEP_ALIVE_SECONDS = 10
/** A transaction idle for longer belongs to a process that is gone, and its locks block everyone. */
const IDLE_TRANSACTION_MS = 30_000

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url))
const FUNCTIONS = fileURLToPath(new URL('./functions', import.meta.url))

/**
 * A start that gets no answer for so long ends with the reason: whoever started it learns of it, and starts it again.
 */
const ANSWER_WITHIN_SECONDS = 8
/** One statement of a migration, such as an index over all orders. */
const MIGRATION_SECONDS = 600
/** The time between two attempts to take the lock of the migrations. */
const LOCK_EVERY_MS = 200

/** The oldest Postgres that accepts the schema and the functions. */
const OLDEST_SERVER = 15

/** The name of our sessions, and how long one of their statements may take. */
export const ORIGIN_SESSIONS = { application: 'flash-sale-origin', statementMs: STATEMENT_TIMEOUT_MS }

/** A pool that connects on first use. Throws if the driver is not patched. */
export function connect(
  url: string,
  connections = MAX_CONNECTIONS,
  { application, statementMs } = ORIGIN_SESSIONS,
  limits: SessionLimits = {},
): Sql {
  // The server cancels each statement by then: if it is silent one second later, it is gone, whatever TCP reports.
  const responseSeconds = statementMs / 1000 + 1
  const { url: address, ssl } = postgresTls(url)
  const sql = postgres(address, {
    ssl,
    max: connections,
    connect_timeout: 3,
    idle_timeout: 60,
    response_timeout: responseSeconds,
    keep_alive: KEEP_ALIVE_SECONDS,
    backoff: (attempt) => Math.min(2, 0.05 * 2 ** attempt) * (0.5 + Math.random() / 2),
    onnotice: () => {},
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    connection: {
      ...limits,
      application_name: application,
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
      // Every statement has its index. Otherwise a plan made while the tables were small scans them whole, and stays
      // cached while they grow: with 30,000 orders a batch took half a second.
      enable_seqscan: 'off',
      // Where a scan is the only way (the few sales), its estimated cost makes Postgres 17 and older compile the
      // statement.
      jit: 'off',
    },
  })
  // The driver keeps this option only if it is patched.
  if (sql.options.response_timeout !== responseSeconds)
    throw new Error('the Postgres driver is not patched: run "npm run postinstall" and start again')
  return sql
}

export async function ping(sql: Sql): Promise<void> {
  await sql`select 1`
}

/** A write that changes nothing: a ledger that is read-only, or has no room, refuses it. */
export async function tryWrite(sql: Sql): Promise<void> {
  await sql`update event_offset set xids = xids`
}

/**
 * Migrates the schema and replaces the functions. Several origins may run it at the same time. Returns the limits
 * that sessions may bring. Throws, with a reason that another attempt does not mend by itself, if Postgres gives no
 * answer.
 */
export async function prepare(url: string): Promise<SessionLimits> {
  const { url: address, ssl } = postgresTls(url)
  const options = { ssl, max: 1, connect_timeout: 5, keep_alive: KEEP_ALIVE_SECONDS, onnotice: () => {} }
  const connection = { application_name: PREPARING }
  let one = postgres(address, { ...options, connection, response_timeout: ANSWER_WITHIN_SECONDS })
  try {
    const version = await answered(checkedVersion(one))
    const limits = await answered(acceptedLimits(url, version))
    if (!(await answered(appliedIn(one))).includes(ourLatest())) {
      await one.end({ timeout: 1 })
      one = postgres(address, { ...options, connection, response_timeout: MIGRATION_SECONDS })
    }
    await answered(lockMigrations(one))
    if (!(await appliedIn(one)).includes(ourLatest())) await applyMigrations(one)
    await one.unsafe(functions())
    return limits
  } finally {
    await one.end({ timeout: 1 })
  }
}

/** The result; fails with a reason if there is none within the time that a start may be silent. */
const answered = <Result>(work: Promise<Result>): Promise<Result> =>
  withTimeout(work, ANSWER_WITHIN_SECONDS * 1000).catch((error) => {
    if (error instanceof TimeoutError || error.code === 'CONNECT_TIMEOUT') throw new Error('Postgres does not answer')
    const fault = tlsFault('Postgres', 'sslrootcert of DATABASE_URL', error)
    throw fault === null ? error : new Error(fault)
  })

async function checkedVersion(sql: Sql): Promise<number> {
  const [server] = await sql<{ version: string }[]>`select current_setting('server_version') as version`
  const { version } = assertExists(server, 'A server has a version.')
  const number = Number.parseInt(version, 10)
  if (number < OLDEST_SERVER)
    throw new Error(`Postgres ${OLDEST_SERVER} or newer is required, and this one is ${version}`)
  return number
}

const oursIn = () => readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(({ hash }) => hash)
const ourLatest = () => assertExists(oursIn().at(-1), 'The ledger has migrations.')

/** The migrations that are applied. Throws for the tables of others. */
async function appliedIn(sql: Sql): Promise<string[]> {
  const ours = oursIn()
  const [tables] = await sql<{ journal: boolean; orders: boolean }[]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as journal,
      to_regclass('orders') is not null as orders`
  const journal = tables?.journal ? await sql`select hash from drizzle.__drizzle_migrations` : []
  const applied = journal.map(({ hash }) => hash)
  // Entries we do not know may come from a later version of ours. Drizzle itself reads only the latest entry: if
  // another application kept its journal there, the migrations of one of the two would be skipped silently.
  if ((applied.length > 0 || tables?.orders) && !applied.some((hash) => ours.includes(hash)))
    throw new Error(
      'DATABASE_URL holds the tables of another application or of an unreleased version: give the ledger a database of its own',
    )
  return applied
}

/**
 * Takes the lock of the migrations, which another origin has for as long as it migrates. One that was forgotten is
 * ended.
 */
async function lockMigrations(sql: Sql): Promise<void> {
  const untilMs = performance.now() + (ANSWER_WITHIN_SECONDS - 1) * 1000
  for (;;) {
    const [lock] = await sql<
      { free: boolean }[]
    >`select pg_try_advisory_lock(hashtext('flash-sale migrations')) as free`
    if (lock?.free) return
    await endForgottenSessions(sql)
    if (performance.now() > untilMs) break
    await sleep(LOCK_EVERY_MS)
  }
  const holders = await sql<{ pid: number }[]>`
    select pid from pg_locks where locktype = 'advisory' and granted
      and objid::bigint = hashtext('flash-sale migrations')::bigint & 4294967295`
  throw new Error(
    `the lock of the migrations is held by process ${holders.map(({ pid }) => pid).join(', ')} of Postgres`,
  )
}

/**
 * The ledger's functions, which decide about stock under Postgres's row locks. They are replaced at every start, all
 * in one statement and so in one transaction. None is dropped: during a rollout the origins of two versions call the
 * same functions. A function with other arguments or another result gets a new name, and a change under the same name
 * must be right for the callers of both versions.
 */
const functions = () =>
  readdirSync(FUNCTIONS)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => readFileSync(join(FUNCTIONS, name), 'utf8'))
    .join('\n')

async function applyMigrations(sql: Sql): Promise<void> {
  // Loaded here, since it is a third of the time an origin takes to start, and most find their ledger up to date.
  const [{ drizzle }, { migrate }] = await Promise.all([
    import('drizzle-orm/postgres-js'),
    import('drizzle-orm/postgres-js/migrator'),
  ])
  await migrate(drizzle(sql), { migrationsFolder: MIGRATIONS }).catch((error) => {
    // Drizzle's message is the whole statement; the cause is Postgres's reason.
    throw error.cause ?? error
  })
}

/** A statement that failed before anything of it was sent: it has had no effect, whatever the reason. */
export class NotSent extends Error {
  override readonly name = 'NotSent'
  readonly code: string | undefined
  constructor(cause: Error & { code?: string }) {
    super(cause.message, { cause })
    this.code = cause.code
  }
}

/** A failure of work that was also sent on another connection, which has not said what became of it there. */
export class Unheard extends Error {
  override readonly name = 'Unheard'
  readonly code: string | undefined
  constructor(cause: Error & { code?: string }) {
    super(cause.message, { cause })
    this.code = cause.code
  }
}

/** The result of a statement; fails with NotSent where that is certain. */
export async function sent<T>(statement: PromiseLike<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    // The driver (postgres.js 3.4.9) sets the state of a query as it writes it to a connection.
    throw (statement as { state?: unknown }).state === null ? new NotSent(error as Error) : error
  }
}

/** The codes of a connection that broke after it had sent something. */
const BROKEN = /^(CONNECTION_(CLOSED|DESTROYED)|ECONNRESET|EPIPE|ETIMEDOUT)$/

/**
 * True if a failed statement may have taken effect: the connection broke, or its answer could not be. What Postgres
 * itself rejects has not.
 */
export function mayHaveCommitted(error: Error & { code?: string }): boolean {
  if (error instanceof AssertionError) return true
  if (error instanceof NotSent) return false
  if (error instanceof Unheard) return true
  return error.code !== undefined && BROKEN.test(error.code)
}

/** True for text that no column can hold: with a NUL, or half of a character. */
export const isUnstorable = ({ code }: Error & { code?: string }) => code === '22021' || code === '22P05'

/**
 * True for temporary failures: of the network, of this machine (no file descriptor is left), of the driver, and of
 * Postgres by SQLSTATE (connections, resources, shutdown, timeouts, a standby not promoted yet (25006), conflicts
 * with others (40001, 40P01, 55P03)).
 */
export const isLedgerAway = ({ code }: Error & { code?: string }) => code !== undefined && AWAY.test(code)
const AWAY =
  /^(ECONN|EMFILE|ENFILE|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN|CONNECT|08|53|57P0|57014|25006|40001|40P01|55P03)/
