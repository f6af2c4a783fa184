/**
 * Runs a Redis from the machine's `redis-server` or `valkey-server`. It appends every write to a file and flushes it
 * every second, as in production.
 */
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { folderFor } from '../lib/leftovers.ts'
import { freePort, LOOPBACK, Server } from '../lib/processes.ts'
import { ensureProgram } from './install.ts'

export interface RedisOptions {
  /** The folder of the data; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  /** Further settings in the form of redis-server's command line: `['--maxmemory', '64mb']`. */
  readonly args?: readonly string[]
  /** Called with progress messages if Redis has to be installed. */
  readonly say?: (line: string) => void
}

export async function startRedis(options: RedisOptions = {}): Promise<Server> {
  const command = await ensureRedis(options.say)
  const { path: folder, remove } = folderFor(options.dataDir, 'redis')
  const port = await freePort()
  return new Server({
    url: `redis://${LOOPBACK}:${port}`,
    port,
    remove,
    process: () => ({
      name: 'Redis',
      command,
      args: [
        ...['--bind', LOOPBACK, '--port', String(port), '--dir', folder],
        ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
        // A full disk or a failed snapshot must not stop writes while the append-only file works.
        ...['--stop-writes-on-bgsave-error', 'no', '--daemonize', 'no', '--maxmemory-policy', 'noeviction'],
        ...(options.args ?? []),
      ],
      logFile: join(folder, 'redis.log'),
      cwd: folder,
    }),
    probe: ({ pid }) => answers(port, pid),
  }).start()
}

/** True when the server has loaded its data, and is this process and not another one on the same port. */
async function answers(port: number, pid: number): Promise<boolean> {
  const info = await infoOf(port)
  return /^loading:0/m.test(info) && info.includes(`process_id:${pid}`)
}

/** What the Redis at this port says of itself. Rejects if it cannot be reached at once. */
export async function infoOf(port: number): Promise<string> {
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
    return await redis.info()
  } finally {
    redis.disconnect()
  }
}

/** Returns the program's path, and installs it if it is missing. */
export function ensureRedis(say?: (line: string) => void): Promise<string> {
  return ensureProgram(
    {
      name: 'Redis',
      binaries: ['redis-server', 'valkey-server'],
      apt: 'redis-server',
      brew: 'redis',
      otherwise: 'set REDIS_URL',
    },
    say,
  )
}
