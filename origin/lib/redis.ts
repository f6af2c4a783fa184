/**
 * The connection to Redis: one server, one behind Sentinels, or a Cluster. While Redis is known to be away, commands fail at
 * once, and nobody waits for a reconnection. A server that vanishes silently is noticed after one second.
 */
import { Cluster, Redis } from 'ioredis'
import type { Logger } from 'pino'

const DEFAULT_PORT = 6379
const SENTINEL_PORT = 26379
/** A command waits this long for its reply; a connection without any reply for this long is closed. */
const COMMAND_TIMEOUT_MS = 1_000
/** During a failover a Cluster answers late. Commands are redirected this often, this far apart. */
const REDIRECTIONS = 4
const REDIRECT_AFTER_MS = 50

/** The pause between two connection attempts: 250 ms at most, jittered. Attempts never end. */
const retryStrategy = (attempt: number) => Math.min(250, 50 * 2 ** Math.min(attempt, 5)) * (0.5 + Math.random() / 2)

/** Connects to `redis(s)://host:port/db`, `redis+sentinel://host,host,../name` or `redis+cluster://host:port,host,..`. */
export function connectRedis(url: string, log: Logger): Redis | Cluster {
  const redis = clientFor(url)
  let away = false
  redis.on('error', (error) => {
    if (!away) log.warn({ error: String(error) }, 'Redis is away')
    away = true
  })
  redis.on('ready', () => {
    if (away) log.info('Redis is back')
    away = false
  })
  redis.once('ready', () => void warnOfLosses(redis, log))
  return redis
}

/** A connection of its own to the same Redis, as one that listens needs. The two types of client share no signature. */
export const anotherConnection = (redis: Redis | Cluster): Redis | Cluster =>
  redis instanceof Cluster ? redis.duplicate() : redis.duplicate()

function clientFor(url: string): Redis | Cluster {
  const options = {
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: COMMAND_TIMEOUT_MS,
  }
  const several = severalHosts(url)
  if (!several) return new Redis(url, { ...options, enableOfflineQueue: false, retryStrategy })
  const { kind, hosts, name, username, password } = several
  const credentials = { ...(username && { username }), ...(password && { password }) }
  if (kind === 'sentinel') {
    return new Redis({
      ...options,
      ...credentials,
      sentinels: hosts.map((host) => ({ port: SENTINEL_PORT, ...host })),
      name: name ?? '',
      enableOfflineQueue: false,
      retryStrategy,
      sentinelRetryStrategy: retryStrategy,
      // A master that is replaced while it lives accepts writes for some seconds more, and loses them.
      failoverDetector: true,
    })
  }
  return new Cluster(
    hosts.map((host) => ({ port: DEFAULT_PORT, ...host })),
    {
      redisOptions: { ...options, ...credentials },
      enableOfflineQueue: false,
      clusterRetryStrategy: retryStrategy,
      maxRedirections: REDIRECTIONS,
      retryDelayOnFailover: REDIRECT_AFTER_MS,
      retryDelayOnClusterDown: REDIRECT_AFTER_MS,
      slotsRefreshTimeout: COMMAND_TIMEOUT_MS,
      slotsRefreshInterval: 5_000,
    },
  )
}

const SEVERAL =
  /^redis\+(?<kind>sentinel|cluster):\/\/(?:(?<username>[^:@/]*):(?<password>[^@/]*)@)?(?<hosts>[^/@]+)(?:\/(?<name>[\w.-]+))?$/

/** True for a URL that `connectRedis` accepts. */
export function isRedisUrl(url: string): boolean {
  if (/^rediss?:/.test(url)) return URL.canParse(url)
  const several = severalHosts(url)
  return several !== null && (several.kind === 'cluster' || several.name !== undefined)
}

function severalHosts(url: string) {
  const found = SEVERAL.exec(url)?.groups
  if (!found) return null
  const { kind, username, password, hosts = '', name } = found
  return {
    kind,
    name,
    username: username && decodeURIComponent(username),
    password: password && decodeURIComponent(password),
    hosts: hosts.split(',').map((host) => {
      const [, name = host, port] = /^(.*?)(?::(\d{1,5}))?$/.exec(host) ?? []
      return { host: name, ...(port && { port: Number(port) }) }
    }),
  }
}

/** True for errors of a command while Redis is away: one server or a Cluster. */
export function isRedisAway({ name, message }: Error): boolean {
  return (
    // Commands on a connection that broke, and a Cluster without its nodes.
    /^(AbortError|MaxRetriesPerRequestError|ClusterAllFailedError)$/.test(name) ||
    /Connection is closed|Stream isn't writeable|Command timed out/.test(message) ||
    /^(Cluster isn't ready|None of startup nodes|Too many Cluster redir)/.test(message) ||
    // Replies of a server that cannot serve, or has no master.
    /^(CLUSTERDOWN|LOADING|MASTERDOWN|READONLY|TRYAGAIN) /.test(message)
  )
}

/** The nodes of a Redis. Behind Sentinels the machine changes, so its name is the group's. */
function nodesOf(redis: Redis | Cluster): { node: string; server: Redis }[] {
  const servers = redis instanceof Cluster ? redis.nodes() : [redis]
  return servers.map((server) => {
    const { name, host, port } = server.options
    return { node: name ?? `${host}:${port}`, server }
  })
}

/** Orders answered with "processing" are stored in Redis only: warns of nodes that may lose them. */
async function warnOfLosses(redis: Redis | Cluster, log: Logger): Promise<void> {
  for (const { node, server } of nodesOf(redis)) {
    // Some hosted Redis forbid INFO: then nothing is known.
    const info = await server.info().catch(() => '')
    if (/^aof_enabled:0/m.test(info))
      log.warn({ node }, 'this Redis may lose promised orders when it restarts: set appendonly yes')
    // Many hosted Redis forbid CONFIG.
    const refused = (error: Error) => log.debug({ node, error: String(error) }, 'appendfsync cannot be read')
    const [, appendfsync] = (await server.config('GET', 'appendfsync').catch(refused)) ?? []
    if (appendfsync === 'no')
      log.warn(
        { node },
        'this Redis may lose promised orders when its machine fails: set appendfsync everysec or always',
      )
    const policy = /^maxmemory_policy:(?!noeviction)([\w-]+)/m.exec(info)?.[1]
    if (policy) log.warn({ node }, `this Redis may evict promised orders (${policy}): set maxmemory-policy noeviction`)
  }
}

interface NodeGauge {
  set(labels: { readonly node: string }, bytes: number): void
}
type MemoryMetrics = Readonly<Record<'redisMemoryUsed' | 'redisMemoryMax', NodeGauge>>

/** Measures how much memory each node uses, and may use. A full node accepts no writes. */
export async function watchMemory(redis: Redis | Cluster, metrics: MemoryMetrics): Promise<void> {
  await Promise.all(
    nodesOf(redis).map(async ({ node, server }) => {
      const info = await server.info('memory')
      const bytes = (name: string) => Number(new RegExp(`^${name}:(\\d+)\\r?$`, 'm').exec(info)?.[1] ?? 0)
      metrics.redisMemoryUsed.set({ node }, bytes('used_memory'))
      metrics.redisMemoryMax.set({ node }, bytes('maxmemory'))
    }),
  )
}
