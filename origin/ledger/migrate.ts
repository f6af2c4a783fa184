/**
 * The ledger's schema and functions: their migration, and the check of a process that only serves. Functions belong
 * to a release, and those of a newer one stay, so that an old process that migrates last puts no old body back.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { assert, assertExists } from '../../shared/lib/assert.ts'
import { postgresAddress, tlsFault } from '../lib/store-tls.ts'
import { TimeoutError, withTimeout } from '../lib/with-timeout.ts'
import { KEEP_ALIVE_SECONDS, type SessionLimits, type Sql } from './connection.ts'
import { acceptedLimits, endForgottenSessions, PREPARING, requireSessions } from './sessions.ts'

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url))
const FUNCTIONS = fileURLToPath(new URL('./functions', import.meta.url))
const PACKAGE = new URL('../../package.json', import.meta.url)

/**
 * A start that gets no answer for so long ends with the reason: whoever started it learns of it, and starts it again.
 */
const ANSWER_WITHIN_SECONDS = 8
/** One statement of a migration, such as an index over all orders. */
const MIGRATION_SECONDS = 600
/** The time between two attempts to take the lock of the migrations. */
const LOCK_EVERY_MS = 200
/**
 * A migration waits this long for the lock of a table, since all others queue behind it, and then tries again. With the
 * pauses it tries for some two minutes.
 */
const TABLE_LOCK_SECONDS = 2
const TABLE_LOCK_TRIES = 20
const TABLE_LOCK_PAUSE_MS = 4_000

/** The oldest Postgres that accepts the schema and the functions. */
const OLDEST_SERVER = 15

/** The release of this program, `major.minor.patch`. */
export const RELEASE: string = JSON.parse(readFileSync(PACKAGE, 'utf8')).version

interface Migrated {
  /** How many migrations were applied; 0 if there was nothing to do. */
  readonly migrations: number
  /** The release whose functions are in force. */
  readonly release: string
}

/**
 * Migrates the schema and replaces the functions, unless those of a newer release are there. Several processes may run
 * it at the same time. Throws, with a reason that another attempt does not mend by itself, if Postgres gives no answer.
 */
export async function migrate(url: string): Promise<Migrated> {
  let one = open(url, ANSWER_WITHIN_SECONDS)
  try {
    await answered(checkedVersion(one))
    if (!(await answered(appliedIn(one))).includes(ourLatest())) {
      await one.end({ timeout: 1 })
      one = open(url, MIGRATION_SECONDS)
    }
    await answered(lockMigrations(one))
    const before = await appliedIn(one)
    await one.unsafe(`set lock_timeout = '${TABLE_LOCK_SECONDS}s'`)
    const sql = one
    if (!before.includes(ourLatest())) await whileLocked(() => applyMigrations(sql, before))
    const release = await whileLocked(() => replaceFunctions(sql))
    return { migrations: (await appliedIn(sql)).length - before.length, release }
  } finally {
    await one.end({ timeout: 1 })
  }
}

/**
 * The limits that sessions may bring, if this ledger is one that this release can serve. Throws an Error that says what
 * to do for a schema that is too old, or too new.
 */
export async function requireMigrated(url: string): Promise<SessionLimits> {
  const one = open(url, ANSWER_WITHIN_SECONDS)
  try {
    const limits = await answered(acceptedLimits(url, await answered(checkedVersion(one))))
    if (!(await answered(appliedIn(one))).includes(ourLatest()))
      throw new Error(`the ledger is older than release ${RELEASE}: run "npm run migrate" first`)
    const release = await answered(releaseIn(one))
    if (release !== null && isBeyond(release))
      throw new Error(`the ledger is of release ${release}, which ${RELEASE} cannot serve: start a newer process`)
    await answered(requireSessions(url))
    return limits
  } finally {
    await one.end({ timeout: 1 })
  }
}

/** Both, for development and tests. */
export async function prepare(url: string): Promise<SessionLimits> {
  await migrate(url)
  return requireMigrated(url)
}

function open(url: string, response_timeout: number): Sql {
  const { url: address, options } = postgresAddress(url)
  return postgres(address, {
    ...options,
    max: 1,
    connect_timeout: 5,
    keep_alive: KEEP_ALIVE_SECONDS,
    onnotice: () => {},
    connection: { application_name: PREPARING },
    response_timeout,
  })
}

/** Tries again while somebody else has the lock of a table. */
async function whileLocked<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03' || tries === TABLE_LOCK_TRIES) throw error
      await sleep(TABLE_LOCK_PAUSE_MS * (0.5 + Math.random()))
    }
  }
}

/** The result; fails with a reason if there is none within the time that a start may be silent. */
const answered = <Result>(work: Promise<Result>): Promise<Result> =>
  withTimeout(work, ANSWER_WITHIN_SECONDS * 1000).catch((error) => {
    if (error instanceof TimeoutError || error.code === 'CONNECT_TIMEOUT') throw new Error('Postgres does not answer')
    // Somebody waits for the start, and a password that is wrong then is rarely one that is being changed.
    if (error.code === '28P01') throw new Error(error.message)
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

interface Migration {
  readonly text: string
  /** The hash of the text, by which the ledger's journal names it. */
  readonly hash: string
  readonly generatedMs: number
}

/** The migrations of this release in their order, as drizzle-kit has generated and listed them. */
function ourMigrations(): Migration[] {
  const list = readFileSync(join(MIGRATIONS, 'meta/_journal.json'), 'utf8')
  const { entries } = JSON.parse(list) as { entries: { tag: string; when: number }[] }
  return entries.map(({ tag, when }) => {
    const text = readFileSync(join(MIGRATIONS, `${tag}.sql`), 'utf8')
    return { text, hash: createHash('sha256').update(text).digest('hex'), generatedMs: when }
  })
}

const ourLatest = () => assertExists(ourMigrations().at(-1), 'The ledger has migrations.').hash

/** The migrations that are applied. Throws for the tables of others. */
async function appliedIn(sql: Sql): Promise<string[]> {
  const ours = ourMigrations().map(({ hash }) => hash)
  const [tables] = await sql<{ journal: boolean; orders: boolean }[]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as journal,
      to_regclass('orders') is not null as orders`
  const journal = tables?.journal ? await sql`select hash from drizzle.__drizzle_migrations` : []
  const applied = journal.map(({ hash }) => hash)
  // Entries we do not know may come from a later version of ours. Where none is ours, another application keeps its
  // journal there.
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
 * The ledger's functions, which decide about stock under Postgres's row locks. They are replaced all in one statement and
 * so in one transaction. None is dropped: during a rollout the processes of two releases call the same functions. A
 * function with other arguments or another result gets a new name, and a change under the same name must be right for
 * the callers of both.
 */
const functions = () =>
  readdirSync(FUNCTIONS)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => readFileSync(join(FUNCTIONS, name), 'utf8'))
    .join('\n')

/** Returns the release whose functions are in force then. */
async function replaceFunctions(sql: Sql): Promise<string> {
  const release = await releaseIn(sql)
  if (release !== null && isOlder(RELEASE, release)) return release
  await sql.unsafe(`${functions()}
    insert into ledger_release (release, migrated_at) values ('${RELEASE}', clock_timestamp())
    on conflict (one) do update set release = excluded.release, migrated_at = excluded.migrated_at`)
  return RELEASE
}

/** The newest release that has migrated this ledger; null before the first. */
async function releaseIn(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ release: string }[]>`select release from ledger_release`
  return row?.release ?? null
}

function partsOf(release: string): [major: number, minor: number] {
  const [major, minor] = release.split('.').map(Number)
  assert(major !== undefined && minor !== undefined, 'A release has a major and a minor number.')
  return [major, minor]
}

export const isOlder = (one: string, other: string) => one.localeCompare(other, 'en', { numeric: true }) < 0

/** A release takes away only what the one before has stopped using, so a process may be one minor release behind. */
export function isBeyond(release: string, ours = RELEASE): boolean {
  const [[major, minor], [ourMajor, ourMinor]] = [partsOf(release), partsOf(ours)]
  return major > ourMajor || (major === ourMajor && minor > ourMinor + 1)
}

/** Applies the migrations that the journal lacks, all in one transaction. */
async function applyMigrations(sql: Sql, applied: readonly string[]): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`
      create schema if not exists drizzle;
      create table if not exists drizzle.__drizzle_migrations
        (id serial primary key, hash text not null, created_at bigint)`)
    for (const { text, hash, generatedMs } of ourMigrations()) {
      if (applied.includes(hash)) continue
      await tx.unsafe(text)
      await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${generatedMs})`
    }
  })
}
