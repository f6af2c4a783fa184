/**
 * The connection to Postgres. Nothing blocks a statement for longer than seconds: an unresponsive
 * server, a lock whose owner is gone and a dead connection each have a timeout.
 *
 * The driver is a changed copy of postgres.js 3.4.9 (vendor/postgres). As published, a connection that dies during a
 * write or while it opens ends the process or blocks for 20 s (porsager/postgres#1154, #1208), a transaction whose
 * connection has died continues inside the next one (#1216), a proxy that hangs up at once makes statements wait
 * forever, and a server that vanishes is noticed (`response_timeout`) only when TCP gives up, after a quarter of an
 * hour.
 */

import postgres from 'postgres'
import { AssertionError } from '../../shared/lib/assert.ts'
import { postgresAddress } from '../lib/store-tls.ts'

export type Sql = postgres.Sql
/** A connection pool, or a transaction on it. */
export type Queryable = postgres.Sql | postgres.TransactionSql

const MAX_CONNECTIONS = 10
/** Callers do not wait longer than this, so a longer statement would only keep its locks. */
const STATEMENT_TIMEOUT_MS = 10_000
/** Interval of TCP keep-alive probes on idle connections. */
export const KEEP_ALIVE_SECONDS = 10
/** A transaction idle for longer belongs to a process that is gone, and its locks block everyone. */
const IDLE_TRANSACTION_MS = 30_000

/** The name of our sessions, and how long one of their statements may take. */
export const ORIGIN_SESSIONS = { application: 'flash-sale-origin', statementMs: STATEMENT_TIMEOUT_MS }

/** Parameters of Postgres that a session is started with. */
export type SessionLimits = Readonly<Record<string, number>>

/** What every session is started with, whoever opens it. */
export const SESSION = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
  // Every statement has its index. Otherwise a plan made while the tables were small scans them whole, and stays
  // cached while they grow: with 30,000 orders a batch took half a second.
  enable_seqscan: 'off',
  // Where a scan is the only way (the few sales), its estimated cost makes Postgres 17 and older compile the
  // statement.
  jit: 'off',
}

/** A pool that connects on first use. */
export function connect(
  url: string,
  connections = MAX_CONNECTIONS,
  { application, statementMs } = ORIGIN_SESSIONS,
  limits: SessionLimits = {},
): Sql {
  // The server cancels each statement by then: if it is silent one second later, it is gone, whatever TCP reports.
  const responseSeconds = statementMs / 1000 + 1
  const { url: address, options } = postgresAddress(url)
  return postgres(address, {
    ...options,
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
      ...SESSION,
      application_name: application,
      statement_timeout: statementMs,
    },
  })
}

/** How busy a pool is: connections in use, statements that wait for one, and how many connections there may be. */
export interface PoolLoad {
  readonly used: number
  readonly waiting: number
  readonly max: number
}

export async function ping(sql: Sql): Promise<void> {
  await sql`select 1`
}

/** A write that changes nothing: a ledger that is read-only, or has no room, refuses it. */
export async function tryWrite(sql: Sql): Promise<void> {
  await sql`update event_offset set xids = xids`
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
 * with others (40001, 40P01, 55P03)), and a password that is being changed (28P01).
 */
export const isLedgerAway = ({ code }: Error & { code?: string }) => code !== undefined && AWAY.test(code)
const AWAY =
  /^(ECONN|EMFILE|ENFILE|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN|CONNECT|08|53|57P0|57014|25006|28P01|40001|40P01|55P03)/
