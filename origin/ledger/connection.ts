/**
 * The connection to Postgres, and the schema behind it. Whatever holds a statement up ends within seconds: a server that
 * says nothing, a lock whose owner is gone, a connection that has died without a word.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'

export type Sql = postgres.Sql
/** A connection pool, or a transaction on it. */
export type Queryable = postgres.Sql | postgres.TransactionSql

const MAX_CONNECTIONS = 10
/** A statement that takes longer has lost its callers anyway: nobody waits for it, and its locks are in the way. */
const STATEMENT_TIMEOUT_MS = 10_000
/** The server ends every statement by then: one that has said nothing a second later is gone, whatever TCP believes. */
const RESPONSE_TIMEOUT_SECONDS = STATEMENT_TIMEOUT_MS / 1000 + 1
/** A connection that nobody uses is asked so often whether there is still somebody at its other end. */
const KEEP_ALIVE_SECONDS = 10
/** A transaction that says nothing for longer is one of a process that is gone, and its locks are in everyone's way. */
const IDLE_TRANSACTION_MS = 30_000

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url))

/** The oldest Postgres that takes the schema and the functions. */
const OLDEST_SERVER = 15

/** A pool on the ledger; it connects when it is first used. Fails with a driver that was not mended. */
export function connect(url: string, connections = MAX_CONNECTIONS): Sql {
  const sql = postgres(url, {
    max: connections,
    connect_timeout: 3,
    idle_timeout: 60,
    response_timeout: RESPONSE_TIMEOUT_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    backoff: (attempt) => Math.min(2, 0.05 * 2 ** attempt) * (0.5 + Math.random() / 2),
    onnotice: () => {},
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    connection: {
      application_name: 'flash-sale-origin',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
      // Every statement has its index. Without this one, a plan made while the tables were small reads them whole, and is
      // kept while they grow: with 30,000 orders a batch took half a second.
      enable_seqscan: 'off',
      // Where there is no other way than to read all (the few sales), it looks so costly to Postgres 17 and older that they
      // would compile the statement first.
      jit: 'off',
    },
  })
  // The setting is one of ours: a driver as it was published drops it.
  if (sql.options.response_timeout !== RESPONSE_TIMEOUT_SECONDS)
    throw new Error(
      'the Postgres driver is not mended: run "node origin/ledger/patch-driver.ts" and start again',
    )
  return sql
}

/** Brings the schema up to date; safe to run from several origins at once. */
export async function prepare(url: string): Promise<void> {
  const one = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} })
  try {
    const [server] = await one<{ version: string }[]>`select current_setting('server_version') as version`
    if (Number.parseInt(server?.version ?? '', 10) < OLDEST_SERVER)
      throw new Error(`Postgres ${OLDEST_SERVER} or newer is required, and this one is ${server?.version}`)
    await one`select pg_advisory_lock(hashtext('flash-sale migrations'))`
    if (await isOfAnother(one))
      throw new Error(
        "DATABASE_URL holds another application's tables: give the ledger a database of its own",
      )
    await migrate(drizzle(one), { migrationsFolder: MIGRATIONS }).catch((error) => {
      // What Postgres says is the reason; drizzle's own words around it are the statement, all lines of it.
      throw error.cause ?? error
    })
    await one.unsafe(readFileSync(new URL('./functions.sql', import.meta.url), 'utf8'))
  } finally {
    await one.end({ timeout: 5 })
  }
}

/**
 * Drizzle looks at no more than the latest entry of its journal: where an application of somebody else's keeps its own
 * there, the migrations of one of the two would be passed over without a word.
 */
async function isOfAnother(sql: Sql): Promise<boolean> {
  const [there] = await sql<{ journal: boolean; orders: boolean }[]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as journal, to_regclass('orders') is not null as orders`
  if (!there?.journal) return there?.orders === true
  const entries = await sql<{ hash: string }[]>`select hash from drizzle.__drizzle_migrations`
  // Some may be of a later version of ours, which was here before.
  const ours = readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(({ hash }) => hash)
  return !entries.some(({ hash }) => ours.includes(hash)) && (entries.length > 0 || there.orders)
}

/**
 * True where a statement may have been done although it failed: it may have been sent, and the connection broke off before
 * the answer. What Postgres itself refuses, it has not done.
 */
export function isUnheard({ code }: Error & { code?: string }): boolean {
  return /^(CONNECTION_CLOSED|ECONNRESET|EPIPE|ETIMEDOUT)$/.test(code ?? '')
}

/**
 * True for what fails a statement while the ledger is away, and passes: of the network, of the driver, and of Postgres
 * (SQLSTATE): its connections, its resources, its end, its patience, a standby that is not promoted yet (25006), and others
 * who were in the way (40001, 40P01, 55P03).
 */
export function isLedgerAway({ code, message }: Error & { code?: string }): boolean {
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN|CONNECT|08|53|57P0|57014|25006|40001|40P01|55P03)/.test(
      code ?? '',
    ) ||
    // The job queue has a driver of its own (pg), which gives these no code.
    /^(Connection terminated|Query read timeout|timeout e)/.test(message)
  )
}
