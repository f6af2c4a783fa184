/**
 * Runs the whole system on one machine: Postgres and Redis (unless addresses are given), the origin, the edge and, if
 * requested, a cache in front of it, with secrets that are made once and stored with the data. `npm start`, the tests
 * and the rehearsal all use it. It stops in reverse order, on request or if a part cannot start.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { ROOT } from './lib/build.ts'
import { folderError, loadSecrets, type Secrets, takeFolder } from './lib/data-folder.ts'
import { freePort, LOOPBACK, LocalError, reservePort, Server } from './lib/processes.ts'
import { type Cdn, ensureVarnish, startCdn } from './servers/cdn.ts'
import { checkDatabase, checkRedis } from './servers/external-stores.ts'
import { startPostgres } from './servers/postgres.ts'
import { startRedis } from './servers/redis.ts'
import { startEdge } from './servers/workerd.ts'

export interface SystemOptions {
  /** The folder of data, secrets and logs; without it, a folder that is removed at the end. */
  readonly dataDir?: string | undefined
  /**
   * The ports of the origin, the edge, and the origin's port for monitors; by default free ones. With a cache,
   * visitors reach it at the edge's port.
   */
  readonly port?: number | undefined
  readonly edgePort?: number | undefined
  readonly opsPort?: number | undefined
  /** The addresses of a running Postgres and Redis. */
  readonly databaseUrl?: string | undefined
  readonly redisUrl?: string | undefined
  readonly adminToken?: string | undefined
  /** True for a real HTTP cache in front of the edge, in the role of Cloudflare's cache in front of a Worker. */
  readonly cdn?: boolean | undefined
  /** Returns the address at which one part is to reach another, if that is not the other's own. */
  readonly route?: (from: string, to: string, url: string) => Promise<string>
  /** Further settings of the origin and the Worker, which override this system's own. */
  readonly originEnv?: Readonly<Record<string, string>>
  readonly edgeVars?: Readonly<Record<string, string>>
  /** Returns the folder whose code an origin runs, asked at each of its starts; by default this repository. */
  readonly code?: () => string
  readonly progress?: Progress
}

/** Called when a part begins to start and when it is ready, and with other messages for the user. */
interface Progress {
  begin(part: string): void
  ready(part: string, address: string): void
  say(line: string): void
}

export interface System {
  /** The address for visitors: the edge, or the cache in front of it. */
  readonly edgeUrl: string
  readonly originUrl: string
  /** The address for monitors, with metrics and readiness. */
  readonly opsUrl: string
  readonly adminToken: string
  readonly databaseUrl: string
  readonly redisUrl: string
  /** The folder of data, secrets and logs. */
  readonly dataDir: string
  readonly secrets: Secrets
  readonly origin: Server
  readonly edge: Server
  /** The cache, if it was requested. */
  readonly cdn: Cdn | undefined
  /** The stores, unless their addresses were given. */
  readonly postgres: Server | undefined
  readonly redis: Server | undefined
  /** Starts another origin on the same stores, on its own port; `{ ROLE: 'worker' }` makes it a worker only. */
  addOrigin(env?: Readonly<Record<string, string>>): Promise<Server>
  /** Resolves when a part ends unexpectedly, with a sentence for people. */
  readonly failed: Promise<string>
  stop(): Promise<void>
}

export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const { progress, code = () => ROOT } = options
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    for (let next = stops.pop(); next; next = stops.pop()) await next()
  }
  const say = (line: string) => progress?.say(line)
  const { promise: failed, resolve: fail } = Promise.withResolvers<string>()

  const part = async <S extends Server>(name: string, start: () => Promise<S>): Promise<S> => {
    progress?.begin(name)
    const server = await start()
    stops.push(() => server.stop())
    void server.failed.then((how) => fail(`${name} ended unexpectedly (${how})`))
    progress?.ready(name, server.url.replace(/\/\/.*@/, '//'))
    return server
  }

  try {
    bypassProxies()
    // Servers of a killed start must not hold the ports.
    const { path: dataDir, release } = await takeFolder(options.dataDir)
    stops.push(release)
    const port = await choosePort(options.port, 'PORT')
    const edgePort = await choosePort(options.edgePort, 'EDGE_PORT', port)
    const opsPort = await choosePort(options.opsPort, 'OPS_PORT', port, edgePort)
    if (options.databaseUrl !== undefined) await checkDatabase(options.databaseUrl)
    if (options.redisUrl !== undefined) await checkRedis(options.redisUrl)
    const secrets = loadSecrets(dataDir, options.adminToken)
    // Varnish is not installed together with Redis, because two installations at once would collide.
    if (options.cdn) await ensureVarnish(say)

    const stores = await Promise.allSettled([
      options.databaseUrl === undefined
        ? part('Postgres', () => startPostgres({ dataDir: join(dataDir, 'postgres') }))
        : undefined,
      options.redisUrl === undefined
        ? part('Redis', () => startRedis({ dataDir: join(dataDir, 'redis'), say }))
        : undefined,
    ])
    const [postgres, redis] = stores.map((store) => {
      if (store.status === 'rejected') throw store.reason
      return store.value
    })
    const databaseUrl = postgres?.url ?? options.databaseUrl ?? ''
    const redisUrl = redis?.url ?? options.redisUrl ?? ''

    const edgeUrl = `http://${LOOPBACK}:${edgePort}`
    const behindPort = options.cdn ? await freePort() : edgePort
    const purgeToken = randomUUID()
    const route = options.route ?? (async (_from, _to, url) => url)
    const originEnv = async (role: string): Promise<NodeJS.ProcessEnv> => ({
      ...process.env,
      // Whatever the shell's environment says, this system is for development.
      NODE_ENV: 'development',
      HOST: LOOPBACK,
      DATABASE_URL: await route(role, 'Postgres', databaseUrl),
      REDIS_URL: await route(role, 'Redis', redisUrl),
      ADMIN_TOKEN: secrets.adminToken,
      EDGE_TOKEN: secrets.edgeToken,
      ALLOW_DIRECT: 'true',
      IMAGES_DIR: join(dataDir, 'images'),
      EDGE_URL: await route(role, 'edge', `http://${LOOPBACK}:${behindPort}`),
      PUBLIC_URL: edgeUrl,
      ORDER_KEYS: JSON.stringify(secrets.orderKeys),
      WEBHOOK_KEYS: JSON.stringify(secrets.webhookKeys),
      WEBHOOK_SECRET: secrets.webhookSecret,
      VAPID_PUBLIC_KEY: secrets.vapidKeys.public,
      VAPID_PRIVATE_KEY: secrets.vapidKeys.private,
      VAPID_SUBJECT: 'mailto:shop@example.com',
      ADMISSION_KEYS: JSON.stringify(secrets.admissionKeys),
      ...options.originEnv,
    })
    const firstEnv = await originEnv(options.originEnv?.ROLE ?? 'origin')
    const origin = await part('the origin', () =>
      originServer('the origin', { port, opsPort }, join(dataDir, 'logs/origin.log'), () => firstEnv, code).start(),
    )
    const edge = await part('the edge', async () =>
      startEdge({
        port: behindPort,
        originUrl: await route('edge', options.originEnv?.ROLE ?? 'origin', origin.url),
        dataDir: join(dataDir, 'edge'),
        code: code(),
        vars: {
          EDGE_TOKEN: secrets.edgeToken,
          QUEUE_KEYS: JSON.stringify(secrets.queueKeys),
          ADMISSION_KEYS: JSON.stringify(secrets.admissionKeys),
          ENVIRONMENT: 'development',
          ...(options.cdn && { CACHE_PURGE_URL: edgeUrl, CACHE_PURGE_TOKEN: purgeToken }),
          ...options.edgeVars,
        },
      }),
    )
    const cdn = options.cdn
      ? await part('the cache', () =>
          startCdn({ edgeUrl: edge.url, port: edgePort, purgeToken, dataDir: join(dataDir, 'cdn'), say }),
        )
      : undefined
    let origins = 1
    const addOrigin = async (env: Readonly<Record<string, string>> = {}) => {
      const name = `origin-${++origins}`
      const log = join(dataDir, `logs/${name}.log`)
      const ofAnother = { ...(await originEnv(env.ROLE ?? name)), ...env }
      const another = originServer(name, await originPorts(), log, () => ofAnother, code)
      return part(name, () => another.start())
    }
    const { adminToken } = secrets
    return {
      edgeUrl,
      originUrl: origin.url,
      opsUrl: `http://${LOOPBACK}:${opsPort}`,
      adminToken,
      databaseUrl,
      redisUrl,
      dataDir,
      secrets,
      origin,
      edge,
      cdn,
      postgres,
      redis,
      addOrigin,
      failed,
      stop,
    }
  } catch (error) {
    await stop()
    throw folderError(error, options.dataDir)
  }
}

/** The two ports of an origin: for calls, and for monitors. */
interface OriginPorts {
  readonly port: number
  readonly opsPort: number
}

export const originPorts = async (): Promise<OriginPorts> => ({ port: await freePort(), opsPort: await freePort() })

/** An origin on its own ports, which is not started yet. `env` and `code`, the folder, are asked at each start. */
export function originServer(
  name: string,
  { port, opsPort }: OriginPorts,
  logFile: string,
  env: () => NodeJS.ProcessEnv,
  code = () => ROOT,
): Server {
  const url = `http://${LOOPBACK}:${port}`
  return new Server({
    url,
    port,
    process: () => ({
      name,
      command: process.execPath,
      args: [join(code(), 'origin/main.ts')],
      logFile,
      cwd: code(),
      env: { ...env(), PORT: String(port), OPS_PORT: String(opsPort) },
    }),
    async probe() {
      const response = await fetch(`http://${LOOPBACK}:${opsPort}/readyz`, { signal: AbortSignal.timeout(5_000) })
      const body = (await response.json()) as object
      // The response must come from an origin, because another program may have taken the port.
      return response.ok && 'ledger' in body
    },
  })
}

/** A proxy in the environment is for other machines; the servers of this system are reached without it. */
function bypassProxies(): void {
  const bypassed = process.env.no_proxy ?? process.env.NO_PROXY
  process.env.no_proxy = [bypassed, LOOPBACK].filter(Boolean).join(',')
}

async function choosePort(chosen: number | undefined, name: string, ...others: number[]): Promise<number> {
  if (chosen === undefined) return freePort()
  if (others.includes(chosen))
    throw new LocalError(`Port ${chosen} is given twice: PORT, EDGE_PORT and OPS_PORT must differ.`)
  if (!(await reservePort(chosen)))
    throw new LocalError(`Port ${chosen} is taken: stop what uses it, or set ${name} to another.`)
  // Ports of other protocols are refused by fetch and browsers.
  const why = await fetch(`http://${LOOPBACK}:${chosen}`).catch((error: Error) => error.cause)
  if ((why as Error | undefined)?.message === 'bad port')
    throw new LocalError(`Browsers refuse port ${chosen}: set ${name} to another.`)
  return chosen
}
