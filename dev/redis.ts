/**
 * A Redis of our own, from the machine's `redis-server` or `valkey-server`. No npm package ships one; where there is
 * none, it is installed with the system's package manager if we may, and otherwise the person is told the one command
 * to run. Everything is appended to a file and flushed every second, as a real one would be set up.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { basename, delimiter, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import {
  freePort,
  LOOPBACK,
  LocalError,
  type LocalServer,
  localServer,
  startChild,
  temporaryFile,
  temporaryFolder,
  untilReady,
} from './processes.ts'

export interface RedisOptions {
  /** Where the data stays; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  readonly port?: number
  /** Further settings, as on redis-server's command line: `['--maxmemory', '64mb']`. */
  readonly args?: readonly string[]
  /** Told what is being done when Redis has to be installed. */
  readonly say?: (line: string) => void
}

const MAX_START_ATTEMPTS = 5
const INSTALL_WITHIN_MS = 180_000

export async function startRedis(options: RedisOptions = {}): Promise<LocalServer> {
  const binary = await ensureRedis(options.say)
  const temporary = options.dataDir === undefined ? temporaryFolder('redis') : undefined
  const folder = resolve(options.dataDir ?? temporary?.path ?? '')
  try {
    mkdirSync(folder, { recursive: true })
    const { child, port } = await launch(binary, folder, options)
    return localServer(child, { url: `redis://${LOOPBACK}:${port}`, port }, temporary)
  } catch (error) {
    temporary?.remove()
    throw error
  }
}

async function launch(binary: string, folder: string, options: RedisOptions) {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort())
    const child = await startChild({
      name: 'Redis',
      command: binary,
      args: [
        ...['--bind', LOOPBACK, '--port', String(port), '--dir', folder],
        ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
        // A full disk or a failed snapshot must not stop writes while the append-only file is fine.
        ...['--stop-writes-on-bgsave-error', 'no', '--daemonize', 'no', '--maxmemory-policy', 'noeviction'],
        ...(options.args ?? []),
      ],
      logFile: join(folder, 'redis.log'),
      cwd: folder,
    })
    try {
      await untilReady(child, () => answers(port, child.pid))
      return { child, port }
    } catch (error) {
      await child.kill()
      const lostPort = options.port === undefined && /Address already in use/.test(child.lastWords())
      if (!lostPort || attempt >= MAX_START_ATTEMPTS) throw error
    }
  }
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

// -- Finding and installing ----------------------------------------------------------------------------------------

const BINARIES = ['redis-server', 'valkey-server']
/** Homebrew and system packages install here, and not every PATH says so. */
const FURTHER_FOLDERS = ['/usr/bin', '/usr/local/bin', '/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin']

function findOnPath(...names: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...FURTHER_FOLDERS].filter(Boolean)
  for (const name of names) {
    for (const folder of folders) {
      const candidate = join(folder, name)
      if (existsSync(candidate)) return candidate
    }
  }
  return undefined
}

/** The program's path; installs it if there is none. Two at once would be in each other's way: call it early. */
export async function ensureRedis(say: (line: string) => void = () => {}): Promise<string> {
  return findOnPath(...BINARIES) ?? (await install(say))
}

const HOW_TO =
  'Redis is needed, and there is none here: install it (Debian and Ubuntu: "sudo apt-get install redis-server"; macOS: "brew install redis"), or set REDIS_URL.'

async function install(say: (line: string) => void): Promise<string> {
  const aptGet = findOnPath('apt-get')
  const brew = findOnPath('brew')
  if (aptGet && process.getuid?.() === 0) {
    say('Redis is not on this machine; installing it with apt-get (redis-server)')
    await installWithApt(aptGet).catch((error: unknown) => failed('apt-get', error))
  } else if (brew) {
    say('Redis is not on this machine; installing it with Homebrew (redis)')
    await run(brew, ['install', 'redis']).catch((error: unknown) => failed('brew', error))
  }
  const binary = findOnPath(...BINARIES)
  if (binary === undefined) throw new LocalError(HOW_TO)
  return binary
}

function failed(tool: string, error: unknown): never {
  const lines = (error instanceof Error ? error.message : String(error)).split('\n')
  const line = lines.find((text) => /^E:|error/i.test(text)) ?? lines.at(-1)
  throw new LocalError(`${HOW_TO} (${tool} could not: ${line})`)
}

/** Debian starts a service as soon as it is installed, unless this file forbids it; we want the program only. */
const POLICY = '/usr/sbin/policy-rc.d'

export async function installWithApt(aptGet: string, policyFile = POLICY): Promise<void> {
  const policy = temporaryFile(policyFile, '#!/bin/sh\nexit 101\n', 0o755)
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

/** Runs it to its end, as a child that is stopped as all others are. */
async function run(command: string, args: readonly string[]): Promise<void> {
  const folder = temporaryFolder('install')
  try {
    const child = await startChild({
      name: basename(command),
      command,
      args,
      logFile: join(folder.path, 'install.log'),
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      // With this one, apt-get first finishes the package it is at; SIGTERM would leave half of it.
      stopSignal: 'SIGINT',
    })
    const tooLong = `not within ${INSTALL_WITHIN_MS / 1000} s`
    const how = await Promise.race([child.ended, sleep(INSTALL_WITHIN_MS, tooLong, { ref: false })])
    await child.stop()
    if (how !== 'exit code 0') throw new Error(`${child.lastWords()}\n${how}`)
  } finally {
    folder.remove()
  }
}
