/**
 * The connection to Redis: one server, one behind Sentinels, or a Cluster. Commands fail at once while it is known to be
 * away: the exact gate serves meanwhile, and nobody waits for a reconnection. Where it vanishes without a word, that is
 * known after a second in which commands wait.
 */
import { Cluster, Redis } from 'ioredis'
import type { Logger } from 'pino'
import { defineScripts, type Scripts } from '../stock/scripts.ts'

/** Redis with our scripts as commands. */
export type Store = (Redis | Cluster) & Scripts

const DEFAULT_PORT = 6379
const SENTINEL_PORT = 26379
/** Who has a command under way waits no longer, and a connection on which none is answered for so long is given up. */
const COMMAND_TIMEOUT_MS = 1_000
/** In a failover a Cluster answers late; so long, and no longer, is asked again. */
const REDIRECTIONS = 4
const REDIRECT_AFTER_MS = 50

/** What ioredis asks between two attempts to connect: a quarter of a second at most, jittered, for as long as it takes. */
const retryStrategy = (attempt: number) =>
  Math.min(250, 50 * 2 ** Math.min(attempt, 5)) * (0.5 + Math.random() / 2)

/**
 * Connects to `redis(s)://[user:password@]host:port[/db]`,
 * `redis+sentinel://[user:password@]host:port,host:port,../name` or
 * `redis+cluster://[user:password@]host:port,host:port,..`.
 */
export function connectRedis(url: string, log: Logger): Store {
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
  return defineScripts(redis)
}

/** What was promised as "processing" waits in Redis alone: says which of its nodes may lose it. */
async function warnOfLosses(redis: Redis | Cluster, log: Logger): Promise<void> {
  for (const { node, server } of nodesOf(redis)) {
    // Who may not ask is not told; some who sell a Redis forbid it.
    const info = await server.info().catch(() => '')
    for (const loss of lossesIn(info)) log.warn({ node }, loss)
  }
}

/** The nodes of a Redis as they are told of: behind Sentinels it is now one machine and now another, under one name. */
export function nodesOf(redis: Redis | Cluster): { node: string; server: Redis }[] {
  const servers = redis instanceof Cluster ? redis.nodes() : [redis]
  return servers.map((server) => {
    const { name, host, port } = server.options
    return { node: name ?? `${host}:${port}`, server }
  })
}

/** How a Redis may lose what it was told, by what it says of itself (INFO). */
export function lossesIn(info: string): string[] {
  const policy = /^maxmemory_policy:(?!noeviction)([\w-]+)/m.exec(info)?.[1]
  return [
    ...(/^aof_enabled:0/m.test(info)
      ? ['this Redis may lose promised orders when it restarts: set appendonly yes']
      : []),
    ...(policy === undefined
      ? []
      : [`this Redis may evict promised orders (${policy}): set maxmemory-policy noeviction`]),
  ]
}

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
  const signIn = { ...(username && { username }), ...(password && { password }) }
  if (kind === 'sentinel') {
    return new Redis({
      ...options,
      ...signIn,
      sentinels: hosts.map((host) => ({ port: SENTINEL_PORT, ...host })),
      name: name ?? '',
      enableOfflineQueue: false,
      retryStrategy,
      sentinelRetryStrategy: retryStrategy,
      // A master that was replaced while it lives takes writes for some seconds more, and loses them.
      failoverDetector: true,
    })
  }
  return new Cluster(
    hosts.map((host) => ({ port: DEFAULT_PORT, ...host })),
    {
      redisOptions: { ...options, ...signIn },
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

/** True for what fails a command while Redis is away, with one server or with a Cluster. */
export function isRedisAway({ name, message }: Error): boolean {
  return (
    // What was under way on a connection that broke off, and a Cluster without its nodes.
    /^(AbortError|MaxRetriesPerRequestError|ClusterAllFailedError)$/.test(name) ||
    /Connection is closed|Stream isn't writeable|Command timed out/.test(message) ||
    /^(Cluster isn't ready|None of startup nodes|Too many Cluster redir)/.test(message) ||
    // What a server says that cannot serve, or has no master.
    /^(CLUSTERDOWN|LOADING|MASTERDOWN|READONLY|TRYAGAIN) /.test(message)
  )
}

const SEVERAL =
  /^redis\+(?<kind>sentinel|cluster):\/\/(?:(?<username>[^:@/]*):(?<password>[^@/]*)@)?(?<hosts>[^/@]+)(?:\/(?<name>[\w.-]+))?$/

/** True for an address this program can connect to. */
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
