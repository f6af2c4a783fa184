/**
 * A Redis of our own, from the machine's `redis-server` or `valkey-server`. It appends everything to a file and flushes it
 * every second, as in production.
 */
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { folderFor } from '../leftovers.ts'
import { freePort, LOOPBACK, Server } from '../processes.ts'
import { ensureProgram } from './install.ts'

export interface RedisOptions {
  /** Where the data stays; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  /** Further settings, as on redis-server's command line: `['--maxmemory', '64mb']`. */
  readonly args?: readonly string[]
  /** Called with what happens when Redis has to be installed. */
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

/** The program's path; installs it if there is none. */
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
