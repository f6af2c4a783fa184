/**
 * The connections to Redis: one server, one behind Sentinels, or a Cluster. While Redis is known to be away, commands
 * fail at once, and nobody waits for a reconnection. A server that vanishes silently is noticed after one second.
 *
 * Every client of the origin is made here. What ioredis begins without a caller is off, or its failures are caught,
 * since a rejection that nobody handles ends the process: after a reconnection it would repeat subscriptions
 * (`autoResubscribe`, also on its own connections to Sentinels, where no option ends it, so that `failoverDetector`
 * stays off) and commands (`autoResendUnfulfilledCommands`); the subscriber of a Cluster is never used; before a
 * redirected command a Cluster sends ASKING.
 */
import { Cluster, Redis } from 'ioredis'
import { StandaloneConnector } from 'ioredis/built/connectors/index.js'
import type { Logger } from 'pino'
import { redisAddress, tlsFault } from '../store-tls.ts'
import { isRefusedWrite, Writes } from '../writes.ts'
import { type Subscription, subscribe } from './redis-subscription.ts'

const DEFAULT_PORT = 6379
const SENTINEL_PORT = 26379
/** A command waits this long for its reply; a connection without any reply for this long is closed. */
const COMMAND_TIMEOUT_MS = 1_000
/** During a failover a Cluster answers late. Commands are redirected this often, this far apart. */
const REDIRECTIONS = 4
const REDIRECT_AFTER_MS = 50
/** On this channel a Sentinel says that another server is the master: `name old-host old-port new-host new-port`. */
const SWITCH = '+switch-master'

/** The pause between two connection attempts: 250 ms at most, jittered. Attempts never end. */
const retryStrategy = (attempt: number) => Math.min(250, 50 * 2 ** Math.min(attempt, 5)) * (0.5 + Math.random() / 2)

/**
 * Connects to `redis://host:port/db`, `redis+sentinel://host,host,../name` or `redis+cluster://host:port,host,..`; with
 * `rediss` by TLS, whose authority `?cafile=PATH` names, and with `?passwordfile=PATH` by the password in that file as
 * each connection is opened. What writes are refused, `writes` hears.
 */
export function connectRedis(url: string, log: Logger, writes = new Writes()): Redis | Cluster {
  const redis = clientFor(url, writes)
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

/**
 * A connection of its own to the same Redis, for commands that block it; they wait for it to be ready. It follows the
 * first one: to the server that this one has moved to, and to its end.
 */
export function anotherConnection(redis: Redis | Cluster): Redis | Cluster {
  const options = { enableOfflineQueue: true }
  // The two types of client share no signature.
  const other = redis instanceof Cluster ? redis.duplicate([], options) : redis.duplicate(options)
  usePassword(other, PASSWORDS.get(redis))
  other.on('error', () => {})
  redis.on('close', () => reopen(other))
  redis.once('end', () => other.disconnect())
  return other
}

/** Listens to a channel on a connection of its own, which follows the first one. Returns a function that ends it. */
export function listen(
  redis: Redis | Cluster,
  channel: string,
  hear: (message: string) => void,
  failed: (error: unknown) => void,
): () => void {
  const open = () => subscriberOf(redis)
  const { renew, stop } = subscribe({ open, channel, hear, failed })
  redis.on('close', renew)
  return () => {
    redis.off('close', renew)
    stop()
  }
}

const SUBSCRIBER = { lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null }

/** A Cluster passes what is published on to all nodes, so that any of them will do. */
function subscriberOf(redis: Redis | Cluster): Redis | undefined {
  const nodes = redis instanceof Cluster ? redis.nodes() : [redis]
  const subscriber = nodes[Math.floor(Math.random() * nodes.length)]?.duplicate(SUBSCRIBER)
  return subscriber && usePassword(subscriber, PASSWORDS.get(redis))
}

/** Closes a connection, which opens another one. One that is being opened would end for good. */
export function reopen(redis: Redis | Cluster): void {
  if (redis.status === 'ready') redis.disconnect(true)
}

const optionsFor = (writes: Writes) => ({
  maxRetriesPerRequest: 0,
  connectTimeout: 2_000,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: COMMAND_TIMEOUT_MS,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  // The address of a managed Redis leads to another server after a failover, which closes no connection: a new one
  // finds it.
  reconnectOnError(error: Error) {
    writes.heard(error)
    return isReadOnly(error)
  },
})

/** The password of each client that has it in a file. */
const PASSWORDS = new WeakMap<Redis | Cluster, () => string>()

/** The client, which reads its password whenever it connects: so one that was changed is used from then on. */
function usePassword<Client extends Redis | Cluster>(client: Client, password: (() => string) | undefined): Client {
  if (!password) return client
  PASSWORDS.set(client, password)
  const use = ({ options }: Redis) => Object.defineProperty(options, 'password', { get: password, enumerable: true })
  if (client instanceof Cluster) {
    for (const node of client.nodes()) use(node)
    client.on('+node', use)
  } else use(client)
  return client
}

function clientFor(text: string, writes: Writes): Redis | Cluster {
  const { url, tls, password } = redisAddress(text)
  const options = { ...optionsFor(writes), ...(tls && { tls }) }
  const several = severalHosts(url)
  const only = { enableOfflineQueue: false, retryStrategy }
  if (!several) return usePassword(new Redis(url, { ...options, ...only, Connector: PrimaryConnector }), password)
  const { kind, hosts, name = '', credentials } = several
  if (kind === 'sentinel') {
    const sentinels = hosts.map((host) => ({ port: SENTINEL_PORT, ...host }))
    const redis = new Redis({
      ...options,
      ...credentials,
      ...only,
      sentinels,
      name,
      sentinelRetryStrategy: retryStrategy,
      ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
    })
    followSentinels(redis, options, sentinels, name)
    return usePassword(redis, password)
  }
  const cluster = new Cluster(
    hosts.map((host) => ({ port: DEFAULT_PORT, ...host })),
    {
      redisOptions: { ...options, ...credentials },
      enableOfflineQueue: false,
      // A certificate is for the name of a node, which a lookup beforehand would replace by its address.
      ...(tls && { dnsLookup: (address: string, done: (error: null, address: string) => void) => done(null, address) }),
      clusterRetryStrategy: retryStrategy,
      maxRedirections: REDIRECTIONS,
      retryDelayOnFailover: REDIRECT_AFTER_MS,
      retryDelayOnClusterDown: REDIRECT_AFTER_MS,
      slotsRefreshTimeout: COMMAND_TIMEOUT_MS,
      slotsRefreshInterval: 5_000,
    },
  )
  cluster.on('+node', catchAsking)
  return usePassword(cluster, password)
}

/** The redirected command fails with its ASKING, and says so to its caller. */
function catchAsking(node: Redis): void {
  const asking = node.asking.bind(node)
  node.asking = () => asking().catch(() => 'OK' as const)
}

/** Refuses a replica: after a failover the address leads to the primary sooner or later. */
class PrimaryConnector extends StandaloneConnector {
  #emit: Parameters<StandaloneConnector['connect']>[0] = () => {}

  constructor(options: unknown) {
    super(options as ConstructorParameters<typeof StandaloneConnector>[0])
  }

  override connect(emit: Parameters<StandaloneConnector['connect']>[0]) {
    this.#emit = emit
    return super.connect(emit)
  }

  override check(info: { readonly role?: string }): boolean {
    const isReplica = info.role === 'slave'
    if (isReplica) this.#emit('error', new Error('READONLY This Redis is a replica.'))
    return !isReplica
  }
}

/** A master that is replaced while it lives accepts writes for some seconds more, and loses them. */
function followSentinels(
  redis: Redis,
  options: ReturnType<typeof optionsFor>,
  sentinels: readonly { host: string; port: number }[],
  master: string,
): void {
  const hear = (message: string) => {
    if (message.startsWith(`${master} `)) reopen(redis)
  }
  const all = sentinels.map((sentinel): Subscription => {
    const open = () => new Redis({ ...options, ...SUBSCRIBER, ...sentinel, enableReadyCheck: false })
    return subscribe({ open, channel: SWITCH, hear, failed: () => {} })
  })
  redis.once('end', () => {
    for (const { stop } of all) stop()
  })
}

const SEVERAL =
  /^redis\+(?<kind>sentinel|cluster):\/\/(?:(?<username>[^:@/]*):(?<password>[^@/]*)@)?(?<hosts>[^/@]+)(?:\/(?<name>[\w.-]+))?$/

/** True for a URL that `connectRedis` accepts. */
export function isRedisUrl(text: string): boolean {
  const url = text.replace(/\?.*/, '').replace(/^rediss/, 'redis')
  if (/^redis:/.test(url)) return URL.canParse(url)
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
    credentials: {
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    },
    hosts: hosts.split(',').map((host) => {
      const [, name = host, port] = /^(.*?)(?::(\d{1,5}))?$/.exec(host) ?? []
      return { host: name, ...(port && { port: Number(port) }) }
    }),
  }
}

/**
 * Connects once, and throws an Error for what waiting does not mend: a certificate that is not trusted, no TLS where it
 * is asked for, or a password that is refused. A Redis that is away is none of these.
 */
export async function requireTrusted(text: string): Promise<void> {
  const { url, tls, password } = redisAddress(text)
  const several = severalHosts(url)
  const once = { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2_000, maxRetriesPerRequest: 0 }
  // What the URL of Sentinels names is the password of their master.
  const isSentinel = several?.kind === 'sentinel'
  const options = { ...once, ...(tls && { tls }), ...(!isSentinel && several?.credentials) }
  const redis = several
    ? new Redis({ port: isSentinel ? SENTINEL_PORT : DEFAULT_PORT, ...several.hosts[0], ...options })
    : new Redis(url, options)
  if (!isSentinel) usePassword(redis, password)
  let reason: (Error & { code?: string }) | undefined
  redis.on('error', (error) => {
    reason ??= error
  })
  await redis.connect().catch((error) => {
    reason ??= error
  })
  redis.disconnect()
  if (!reason) return
  const fault = tlsFault('Redis', '?cafile= of REDIS_URL', reason)
  if (fault) throw new Error(fault)
  if (!isSentinel && /^(WRONGPASS|NOAUTH) /.test(reason.message))
    throw new Error(`Redis refuses the name or password of REDIS_URL (${reason.message})`)
}

/** True for the reply of a replica, also inside the error of a script. */
function isReadOnly({ message }: Error): boolean {
  return /\bREADONLY /.test(message)
}

/** True for errors of a command while Redis is away, or takes no writes: one server or a Cluster. */
export function isRedisAway(error: Error): boolean {
  const { name, message } = error
  return (
    // Commands on a connection that broke, and a Cluster without its nodes.
    /^(AbortError|MaxRetriesPerRequestError|ClusterAllFailedError)$/.test(name) ||
    /Connection is closed|Stream isn't writeable|Command timed out/.test(message) ||
    /^(Cluster isn't ready|None of startup nodes|Too many Cluster redir)/.test(message) ||
    // Replies of a server that cannot serve, or has no master.
    /^(CLUSTERDOWN|LOADING|MASTERDOWN|TRYAGAIN) /.test(message) ||
    isRefusedWrite(error)
  )
}

/** The nodes of a Redis. Behind Sentinels the machine changes, so its name is the group's. */
export function nodesOf(redis: Redis | Cluster): { node: string; server: Redis }[] {
  const servers = redis instanceof Cluster ? redis.nodes() : [redis]
  return servers.map((server) => {
    const { name, host, port } = server.options
    return { node: name ?? `${host}:${port}`, server }
  })
}

/** Orders answered with "processing" are stored in Redis only: warns of nodes that may lose them. */
async function warnOfLosses(redis: Redis | Cluster, log: Logger): Promise<void> {
  for (const { node, server } of nodesOf(redis)) {
    // The settings are unknown if the service forbids INFO, as some hosted Redis services do.
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
  }
}
