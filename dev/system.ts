/**
 * The whole system on one machine: Postgres and Redis (unless addresses are given), the origin and the edge, with secrets
 * that are made once and kept beside the data. `npm start`, the tests and the rehearsal all start it here. What was
 * started is stopped in reverse, whether it is asked to stop or could not start.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { folderTrouble, loadSecrets, type Secrets, takeFolder } from './data-folder.ts'
import { checkDatabase, checkRedis } from './given-stores.ts'
import { startPostgres } from './postgres.ts'
import {
  claimPort,
  freePort,
  LOOPBACK,
  LocalError,
  type LocalServer,
  localServer,
  portTaken,
  startChild,
  untilReady,
} from './processes.ts'
import { startRedis } from './redis.ts'
import { startEdge } from './workerd.ts'

export interface SystemOptions {
  /** Where data, secrets and logs stay; without it, a folder that is removed at the end. */
  readonly dataDir?: string | undefined
  /** Ports of origin and edge; without them, free ones. */
  readonly port?: number | undefined
  readonly edgePort?: number | undefined
  /** A Postgres and a Redis that are there already. */
  readonly databaseUrl?: string | undefined
  readonly redisUrl?: string | undefined
  readonly adminToken?: string | undefined
  /** Further settings of the origin and the Worker; they win over our own. */
  readonly originEnv?: Readonly<Record<string, string>>
  readonly edgeVars?: Readonly<Record<string, string>>
  /** Told as each part begins and is ready, and what else a person should know. */
  readonly progress?: Progress
}

export interface Progress {
  begin(part: string): void
  ready(part: string, address: string): void
  say(line: string): void
}

/** A server of the system, which can be taken away and brought back while the rest runs. */
export interface Part {
  readonly url: string
  readonly pid: number
  /** Ends it as a crash would; it stays away until `restart`. */
  kill(): Promise<void>
  /** Ends it in good order, if it runs, and starts it again on the same port and data. */
  restart(): Promise<void>
}

export interface System {
  readonly edgeUrl: string
  readonly originUrl: string
  readonly adminToken: string
  readonly databaseUrl: string
  readonly redisUrl: string
  /** Where data, secrets and logs are. */
  readonly dataDir: string
  readonly secrets: Secrets
  readonly origin: Part
  readonly edge: Part
  /** Starts one more origin on the same stores, on a port of its own: `{ ROLE: 'worker' }` for a worker alone. */
  addOrigin(env?: Readonly<Record<string, string>>): Promise<Part>
  /** Only where they are ours. */
  readonly postgres: Part | undefined
  readonly redis: Part | undefined
  /** Settles when a part ended that nobody asked to, with a sentence for people. */
  readonly failed: Promise<string>
  stop(): Promise<void>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const progress = options.progress ?? { begin() {}, ready() {}, say() {} }
  const stops: (() => Promise<void> | void)[] = []
  const stop = async () => {
    for (let next = stops.pop(); next; next = stops.pop()) await next()
  }
  const { promise: failed, resolve: fail } = Promise.withResolvers<string>()

  /** Starts one part, and watches it from then on. */
  const part = async (name: string, start: () => Promise<LocalServer>): Promise<Part> => {
    progress.begin(name)
    let server = await start()
    let asked = false
    const watch = (begun: LocalServer) => {
      asked = false
      void begun.ended.then((how) => {
        if (!asked && begun === server) fail(`${name} ended unexpectedly (${how})`)
      })
    }
    watch(server)
    stops.push(async () => {
      asked = true
      await server.stop()
    })
    const { url } = server
    progress.ready(name, url)
    return {
      url,
      get pid() {
        return server.pid
      },
      async kill() {
        asked = true
        await server.kill()
      },
      async restart() {
        asked = true
        await server.stop()
        server = await start()
        watch(server)
      },
    }
  }

  try {
    passProxies()
    // What the person gave is looked at first.
    for (const given of [options.port, options.edgePort]) if (given !== undefined) claimPort(given)
    const port = await choosePort(options.port, 'PORT')
    const edgePort = await choosePort(options.edgePort, 'EDGE_PORT', port)
    if (options.databaseUrl !== undefined) await checkDatabase(options.databaseUrl)
    if (options.redisUrl !== undefined) await checkRedis(options.redisUrl)
    const { path: dataDir, release } = takeFolder(options.dataDir)
    stops.push(release)
    const secrets = loadSecrets(dataDir, options.adminToken)
    const stores = await Promise.allSettled([
      options.databaseUrl === undefined
        ? freePort().then((p) =>
            part('Postgres', () => startPostgres({ dataDir: join(dataDir, 'postgres'), port: p })),
          )
        : undefined,
      options.redisUrl === undefined
        ? freePort().then((p) =>
            part('Redis', () =>
              startRedis({ dataDir: join(dataDir, 'redis'), port: p, say: (line) => progress.say(line) }),
            ),
          )
        : undefined,
    ])
    const [database, redis] = stores.map((store) => {
      if (store.status === 'rejected') throw store.reason
      return store.value
    })
    const databaseUrl = database?.url ?? options.databaseUrl ?? ''
    const redisUrl = redis?.url ?? options.redisUrl ?? ''

    const originUrl = `http://${LOOPBACK}:${port}`
    const edgeUrl = `http://${LOOPBACK}:${edgePort}`
    const originEnv = {
      ...inherited(),
      PORT: String(port),
      // Some shells have one that names the machine, or its kind.
      HOST: LOOPBACK,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      ADMIN_TOKEN: secrets.adminToken,
      EDGE_TOKEN: secrets.edgeToken,
      EDGE_URL: edgeUrl,
      ORDER_TOKEN_SECRET: secrets.orderTokenSecret,
      WEBHOOK_SECRET: secrets.webhookSecret,
      ADMISSION_KEYS: JSON.stringify(secrets.admissionKeys),
      // Whatever NODE_ENV says of this machine, what runs here is to be played with.
      PAYMENT_PROVIDER: process.env.PAYMENT_PROVIDER || 'sandbox',
      ...options.originEnv,
    }
    const origin = await part('the origin', () => startOrigin(dataDir, originUrl, originEnv))
    const edge = await part('the edge', () =>
      startEdge({
        port: edgePort,
        originUrl,
        dataDir: join(dataDir, 'edge'),
        vars: {
          EDGE_TOKEN: secrets.edgeToken,
          QUEUE_KEYS: JSON.stringify(secrets.queueKeys),
          ADMISSION_KEYS: JSON.stringify(secrets.admissionKeys),
          ENVIRONMENT: 'development',
          ...options.edgeVars,
        },
      }),
    )
    let origins = 1
    const addOrigin = async (env: Readonly<Record<string, string>> = {}) => {
      const anotherPort = await freePort()
      const name = `origin-${++origins}`
      return part(name, () =>
        startOrigin(
          dataDir,
          `http://${LOOPBACK}:${anotherPort}`,
          { ...originEnv, ...env, PORT: String(anotherPort) },
          name,
        ),
      )
    }
    return {
      edgeUrl,
      originUrl,
      addOrigin,
      adminToken: secrets.adminToken,
      databaseUrl,
      redisUrl,
      dataDir,
      secrets,
      origin,
      edge,
      postgres: database,
      redis,
      failed,
      stop,
    }
  } catch (error) {
    await stop()
    throw folderTrouble(error, options.dataDir)
  }
}

async function startOrigin(
  dataDir: string,
  url: string,
  env: NodeJS.ProcessEnv,
  name = 'origin',
): Promise<LocalServer> {
  const child = await startChild({
    name: name === 'origin' ? 'the origin' : name,
    command: process.execPath,
    args: [join(ROOT, 'origin/main.ts')],
    logFile: join(dataDir, `logs/${name}.log`),
    cwd: ROOT,
    env,
  })
  await untilReady(child, async () => {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })
    const answer = (await response.json()) as object
    // An origin's answer, and not that of another program which took the port.
    return response.ok && 'ledger' in answer
  })
  return localServer(child, { url, port: Number(new URL(url).port) })
}

/** A proxy that the environment names is the way to other machines: this one, and what is started here, needs none to itself. */
function passProxies(): void {
  const passed = process.env.no_proxy ?? process.env.NO_PROXY
  process.env.no_proxy = [passed, LOOPBACK].filter(Boolean).join(',')
}

/** Our environment, without what a test runner adds to it for its own processes. */
function inherited(): NodeJS.ProcessEnv {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST') && name !== 'NODE_OPTIONS'),
  )
  if (env.NODE_ENV === 'test') delete env.NODE_ENV
  return env
}

async function choosePort(wanted: number | undefined, name: string, other?: number): Promise<number> {
  if (wanted === undefined) return freePort()
  if (wanted === other) throw new LocalError(`PORT and EDGE_PORT are both ${wanted}: they must differ.`)
  if (await portTaken(wanted)) {
    throw new LocalError(`Port ${wanted} is taken: stop what uses it, or set ${name} to another.`)
  }
  if (await isRefused(wanted)) throw new LocalError(`Browsers refuse port ${wanted}: set ${name} to another.`)
  return wanted
}

/** True of the ports that fetch goes to nowhere, here as in a browser, since other protocols have them. */
async function isRefused(port: number): Promise<boolean> {
  const [answered] = await Promise.allSettled([
    fetch(`http://${LOOPBACK}:${port}`, { method: 'HEAD', signal: AbortSignal.timeout(5_000) }),
  ])
  return answered.status === 'rejected' && answered.reason.cause?.message === 'bad port'
}
