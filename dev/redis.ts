/**
 * A Redis of our own, from the machine's `redis-server` or `valkey-server`. No npm package ships one. If there is none, the
 * system's package manager installs it where we may, and otherwise the person gets the one command to run. Redis appends
 * everything to a file and flushes it every second, as in production.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { Redis } from 'ioredis'
import { folderFor, LocalError, removedAtEnd, temporaryFolder } from './leftovers.ts'
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
/** Homebrew and system packages install here, and not every PATH says so. */
const FURTHER_FOLDERS = ['/usr/bin', '/usr/local/bin', '/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin']
const HOW_TO =
  'Redis is needed, and there is none here: install it (Debian and Ubuntu: "sudo apt-get install redis-server"; macOS: "brew install redis"), or set REDIS_URL.'

function findOnPath(...names: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...FURTHER_FOLDERS].filter(Boolean)
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

/** Debian starts a service as soon as it is installed, unless this file forbids it; we want the program only. */
const POLICY = '/usr/sbin/policy-rc.d'
const POLICY_MARK = '# Written by flash-sale while it installs Redis.'

export async function installWithApt(aptGet: string, policyFile = POLICY): Promise<void> {
  const isFree = !existsSync(policyFile) || readFileSync(policyFile, 'utf8').includes(POLICY_MARK)
  const policy = isFree ? removedAtEnd(policyFile) : undefined
  // If we are killed by SIGKILL, the file stays and forbids nothing.
  const script = `#!/bin/sh\n${POLICY_MARK}\nif kill -0 ${process.pid} 2>/dev/null; then exit 101; fi\n`
  if (isFree) writeFileSync(policyFile, script, { mode: 0o755 })
  // Without a terminal of its own, dpkg stays in apt-get's process group, and is never left behind.
  const apt = (...args: string[]) => run(aptGet, ['-o', 'Dpkg::Use-Pty=0', ...args])
  const redis = () => apt('install', '-y', '--no-install-recommends', 'redis-server')
  try {
    await redis().catch(async () => {
      await apt('update')
      await redis()
    })
  } finally {
    policy?.remove()
  }
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const folder = temporaryFolder('install')
  try {
    await runToEnd(
      {
        name: basename(command),
        command,
        args,
        logFile: join(folder.path, 'install.log'),
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        // With this signal, apt-get first finishes the package it is at; SIGTERM would leave half of it.
        stopSignal: 'SIGINT',
      },
      INSTALL_WITHIN_MS,
    )
  } finally {
    folder.remove()
  }
}
