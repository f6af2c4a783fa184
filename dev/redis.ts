/**
 * A Redis of our own, from the machine's `redis-server` or `valkey-server`. No npm package ships one. If there is none, the
 * system's package manager installs it where we may, and otherwise the person gets the one command to run. Redis appends
 * everything to a file and flushes it every second, as in production.
 */
import { existsSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { Redis } from 'ioredis'
import { folderFor, LocalError, temporaryFolder } from './leftovers.ts'
import { freePort, LOOPBACK, runToEnd, Server } from './processes.ts'

export interface RedisOptions {
  /** Where the data stays; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  readonly port?: number
  /** Further settings, as on redis-server's command line: `['--maxmemory', '64mb']`. */
  readonly args?: readonly string[]
  /** Called with what happens when Redis has to be installed. */
  readonly say?: (line: string) => void
}

const INSTALL_WITHIN_MS = 180_000

export async function startRedis(options: RedisOptions = {}): Promise<Server> {
  const command = await ensureRedis(options.say)
  const { path: folder, remove } = folderFor(options.dataDir, 'redis')
  const port = options.port ?? (await freePort())
  return new Server({
    ...{ url: `redis://${LOOPBACK}:${port}`, port, remove },
    process: () => ({
      name: 'Redis',
      command,
      args: [
        ...['--bind', LOOPBACK, '--port', String(port), '--dir', folder],
        ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
        // A full disk or a failed snapshot must not stop writes while the append-only file is fine.
        ...['--stop-writes-on-bgsave-error', 'no', '--daemonize', 'no', '--maxmemory-policy', 'noeviction'],
        ...(options.args ?? []),
      ],
      logFile: join(folder, 'redis.log'),
      cwd: folder,
    }),
    probe: ({ pid }) => answers(port, pid),
  }).start()
}

/** True when it has loaded its data and serves; and it is ours, not another that took the port. */
async function answers(port: number, pid: number): Promise<boolean> {
  const redis = new Redis({
    host: LOOPBACK,
    port,
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: 5_000,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    const info = await redis.info()
    return /^loading:0/m.test(info) && info.includes(`process_id:${pid}`)
  } finally {
    redis.disconnect()
  }
}

// -- Finding and installing ------------------------------------------------------------------------------------------

const BINARIES = ['redis-server', 'valkey-server']
const HOW_TO =
  'Redis is needed, and there is none here: install it (Debian and Ubuntu: "sudo apt-get install redis-server"; macOS: "brew install redis"), or set REDIS_URL.'

function findOnPath(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file))
}

/** The program's path; installs it if there is none. Two installations at once would collide: call it early. */
export async function ensureRedis(say: (line: string) => void = () => {}): Promise<string> {
  return findOnPath(...BINARIES) ?? (await install(say))
}

async function install(say: (line: string) => void): Promise<string> {
  const aptGet = findOnPath('apt-get')
  const brew = findOnPath('brew')
  try {
    if (aptGet && process.getuid?.() === 0) {
      say('Redis is not on this machine; installing it with apt-get (redis-server)')
      await installWithApt(aptGet)
    } else if (brew) {
      say('Redis is not on this machine; installing it with Homebrew (redis)')
      await run(brew, ['install', 'redis'])
    }
  } catch (error) {
    throw new LocalError(`${HOW_TO} (${(error as Error).message})`)
  }
  const binary = findOnPath(...BINARIES)
  if (binary === undefined) throw new LocalError(HOW_TO)
  return binary
}

export async function installWithApt(aptGet: string): Promise<void> {
  // Without a terminal of its own, dpkg stays in apt-get's process group, and is never left behind.
  const apt = (...args: string[]) => run(aptGet, ['-o', 'Dpkg::Use-Pty=0', ...args])
  const redis = () => apt('install', '-y', '--no-install-recommends', 'redis-server')
  await redis().catch(async () => {
    await apt('update')
    await redis()
  })
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const folder = temporaryFolder('install')
  try {
    await runToEnd({
      ...{ name: basename(command), command, args, logFile: join(folder.path, 'install.log') },
      // We want the program only: systemd must not start Debian's service.
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1' },
      // With this signal, apt-get first finishes the package it is at; SIGTERM would leave half of it.
      killSignal: 'SIGINT',
      timeout: INSTALL_WITHIN_MS,
    })
  } finally {
    folder.remove()
  }
}
