/**
 * The whole system on one machine: Postgres and Redis (unless addresses are given), the origin, the edge and, where one is
 * named, a cache before it, with secrets that are made once and kept beside the data. `npm start`, the tests and the rehearsal
 * all start it here. It stops in reverse order, on request or when a part cannot start.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { folderError, loadSecrets, type Secrets, takeFolder } from './data-folder.ts'
import { freePort, LOOPBACK, LocalError, reservePort, Server } from './processes.ts'
import { type Cdn, ensureVarnish, startCdn } from './servers/cdn.ts'
import { checkDatabase, checkRedis } from './servers/external-stores.ts'
import { startPostgres } from './servers/postgres.ts'
import { startRedis } from './servers/redis.ts'
import { startEdge } from './servers/workerd.ts'

export interface SystemOptions {
  /** Where data, secrets and logs stay; without it, a folder that is removed at the end. */
  readonly dataDir?: string | undefined
  /** Ports of the origin, the edge, and the origin's for monitors; without them, free ones. With a cache, visitors find it at the edge's. */
  readonly port?: number | undefined
  readonly edgePort?: number | undefined
  readonly opsPort?: number | undefined
  /** A Postgres and a Redis that run already. */
  readonly databaseUrl?: string | undefined
  readonly redisUrl?: string | undefined
  readonly adminToken?: string | undefined
  /** A real HTTP cache before the edge, for what Cloudflare has before a Worker. */
  readonly cdn?: boolean | undefined
  /** Further settings of the origin and the Worker; they win over our own. */
  readonly originEnv?: Readonly<Record<string, string>>
  readonly edgeVars?: Readonly<Record<string, string>>
  readonly progress?: Progress
}

/** Called as each part begins to start and is ready, and with what else a person should know. */
interface Progress {
  begin(part: string): void
  ready(part: string, address: string): void
  say(line: string): void
}

export interface System {
  /** Where visitors come: the edge, or the cache before it. */
  readonly edgeUrl: string
  readonly originUrl: string
  /** For monitors: metrics and readiness. */
  readonly opsUrl: string
  readonly adminToken: string
  readonly databaseUrl: string
  readonly redisUrl: string
  /** Where data, secrets and logs are. */
  readonly dataDir: string
  readonly secrets: Secrets
  readonly origin: Server
  readonly edge: Server
  /** Only where it was asked for. */
  readonly cdn: Cdn | undefined
  /** Only where they are ours. */
  readonly postgres: Server | undefined
  readonly redis: Server | undefined
  /** Starts one more origin on the same stores, on a port of its own: `{ ROLE: 'worker' }` for a worker alone. */
  addOrigin(env?: Readonly<Record<string, string>>): Promise<Server>
  /** Resolves when a part ends unexpectedly, with a sentence for people. */
  readonly failed: Promise<string>
  stop(): Promise<void>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const { progress } = options
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
    // What a killed start left running must not hold the ports.
    const { path: dataDir, release } = await takeFolder(options.dataDir)
    stops.push(release)
    const port = await choosePort(options.port, 'PORT')
    const edgePort = await choosePort(options.edgePort, 'EDGE_PORT', port)
    const opsPort = await choosePort(options.opsPort, 'OPS_PORT', port, edgePort)
    if (options.databaseUrl !== undefined) await checkDatabase(options.databaseUrl)
    if (options.redisUrl !== undefined) await checkRedis(options.redisUrl)
    const secrets = loadSecrets(dataDir, options.adminToken)
    // Not beside Redis: two installations at once would collide.
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
    const originEnv = {
      ...process.env,
      // Whatever the shell says of this machine, this system is for playing with.
      NODE_ENV: 'development',
      HOST: LOOPBACK,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      ADMIN_TOKEN: secrets.adminToken,
      EDGE_TOKEN: secrets.edgeToken,
      ALLOW_DIRECT: 'true',
      IMAGES_DIR: join(dataDir, 'images'),
      EDGE_URL: `http://${LOOPBACK}:${behindPort}`,
      PUBLIC_URL: edgeUrl,
      ORDER_KEYS: JSON.stringify(secrets.orderKeys),
      WEBHOOK_KEYS: JSON.stringify(secrets.webhookKeys),
      WEBHOOK_SECRET: secrets.webhookSecret,
      VAPID_PUBLIC_KEY: secrets.vapidKeys.public,
      VAPID_PRIVATE_KEY: secrets.vapidKeys.private,
      VAPID_SUBJECT: 'mailto:shop@example.com',
      ADMISSION_KEYS: JSON.stringify(secrets.admissionKeys),
      ...options.originEnv,
    }
    const origin = await part('the origin', () =>
      originServer('the origin', { port, opsPort }, join(dataDir, 'logs/origin.log'), () => originEnv).start(),
    )
    const edge = await part('the edge', () =>
      startEdge({
        port: behindPort,
        originUrl: origin.url,
        dataDir: join(dataDir, 'edge'),
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
      const another = originServer(name, await originPorts(), log, () => ({ ...originEnv, ...env }))
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

/** Of an origin: the one for calls and the one for monitors. */
interface OriginPorts {
  readonly port: number
  readonly opsPort: number
}

export const originPorts = async (): Promise<OriginPorts> => ({ port: await freePort(), opsPort: await freePort() })

/** An origin on ports of its own, not started yet. `env` is called at each start. */
export function originServer(
  name: string,
  { port, opsPort }: OriginPorts,
  logFile: string,
  env: () => NodeJS.ProcessEnv,
): Server {
  const url = `http://${LOOPBACK}:${port}`
  return new Server({
    url,
    port,
    process: () => ({
      name,
      command: process.execPath,
      args: [join(ROOT, 'origin/main.ts')],
      logFile,
      cwd: ROOT,
      env: { ...env(), PORT: String(port), OPS_PORT: String(opsPort) },
    }),
    async probe() {
      const response = await fetch(`http://${LOOPBACK}:${opsPort}/readyz`, { signal: AbortSignal.timeout(5_000) })
      const body = (await response.json()) as object
      // An origin's answer, and not that of another program which took the port.
      return response.ok && 'ledger' in body
    },
  })
}

/** A proxy that the environment names leads to other machines; our own servers are reached without it. */
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
  // fetch refuses the ports of other protocols, as browsers do.
  const why = await fetch(`http://${LOOPBACK}:${chosen}`).catch((error: Error) => error.cause)
  if ((why as Error | undefined)?.message === 'bad port')
    throw new LocalError(`Browsers refuse port ${chosen}: set ${name} to another.`)
  return chosen
}
