/**
 * The whole system on one machine: Postgres and Redis (unless addresses are given), the origin and the edge, with secrets
 * that are made once and kept beside the data. `npm start`, the tests and the rehearsal all start it here. What was
 * started is stopped in reverse, whether it is asked to stop or could not start.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exportJWK, generateKeyPair } from 'jose'
import { pino } from 'pino'
import postgres from 'postgres'
import * as v from 'valibot'
import { connectRedis, isRedisUrl } from '../gate/redis.ts'
import {
  claimPort,
  freePort,
  LOOPBACK,
  LocalError,
  type LocalServer,
  portTaken,
  startChild,
  temporaryFolder,
  untilReady,
} from './children.ts'
import { startEdge } from './edge.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'

export interface SystemOptions {
  /** Where data, secrets and logs stay; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  /** Ports of origin and edge; without them, free ones. */
  readonly port?: number
  readonly edgePort?: number
  /** A Postgres and a Redis that are there already. */
  readonly databaseUrl?: string
  readonly redisUrl?: string
  readonly adminToken?: string
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

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const progress = options.progress ?? { begin() {}, ready() {}, say() {} }
  const stops: (() => Promise<void> | void)[] = []
  const stop = async () => {
    for (let next = stops.pop(); next; next = stops.pop()) await next()
  }
  const { promise: failed, resolve: fail } = Promise.withResolvers<string>()

  /** Starts one part, and watches it from then on. */
  const part = async (name: string, start: () => Promise<LocalServer>): Promise<Part> => {
    let asked = false
    const begin = async () => {
      const begun = await start()
      asked = false
      void begun.ended.then((how) => {
        if (!asked && begun === server) fail(`${name} ended unexpectedly (${how})`)
      })
      return begun
    }
    progress.begin(name)
    let server: LocalServer = await begin()
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
        server = await begin()
      },
    }
  }

  try {
    // What the person gave is looked at first, before anything is started for nothing.
    for (const given of [options.port, options.edgePort]) if (given !== undefined) claimPort(given)
    const port = await choosePort(options.port, 'PORT')
    const edgePort = await choosePort(options.edgePort, 'EDGE_PORT', port)
    if (options.databaseUrl !== undefined) await checkDatabase(options.databaseUrl)
    if (options.redisUrl !== undefined) await checkRedis(options.redisUrl)
    const dataDir = takeFolder(options.dataDir, stops)
    const secrets = await loadSecrets(dataDir, options.adminToken)
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
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      ADMIN_TOKEN: secrets.adminToken,
      EDGE_TOKEN: secrets.edgeToken,
      EDGE_URL: edgeUrl,
      ORDER_TOKEN_SECRET: secrets.orderTokenSecret,
      WEBHOOK_SECRET: secrets.webhookSecret,
      ADMISSION_JWKS: JSON.stringify({ keys: [publicHalf(secrets.admissionPrivateJwk)] }),
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
          QUEUE_SECRET: secrets.queueSecret,
          ADMISSION_PRIVATE_JWK: JSON.stringify(secrets.admissionPrivateJwk),
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
    throw options.dataDir === undefined ? error : forPeople(error, resolve(options.dataDir))
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
    await response.body?.cancel()
    return response.ok
  })
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid,
    ended: child.ended,
    stop: () => child.stop(),
    kill: () => child.kill(),
  }
}

/** Our environment, without what a test runner adds to it for its own processes. */
function inherited(): NodeJS.ProcessEnv {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST') && name !== 'NODE_OPTIONS'),
  )
  if (env.NODE_ENV === 'test') delete env.NODE_ENV
  return env
}

// -- Ports and folders ---------------------------------------------------------------------------------------------

async function choosePort(wanted: number | undefined, name: string, other?: number): Promise<number> {
  if (wanted === undefined) return freePort()
  if (wanted === other) throw new LocalError(`PORT and EDGE_PORT are both ${wanted}: they must differ.`)
  if (await portTaken(wanted)) {
    throw new LocalError(`Port ${wanted} is taken: stop what uses it, or set ${name} to another.`)
  }
  return wanted
}

function takeFolder(wanted: string | undefined, stops: (() => void)[]): string {
  if (wanted === undefined) {
    const temporary = temporaryFolder('system')
    // Postgres may run as another user, who must pass through here to its own folder.
    chmodSync(temporary.path, 0o711)
    stops.push(() => temporary.remove())
    return temporary.path
  }
  const folder = resolve(wanted)
  mkdirSync(folder, { recursive: true })
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  stops.push(lock(folder))
  return folder
}

/** What the file system refuses in the data folder, whichever part wanted it, is for the person to put right. */
function forPeople(error: unknown, folder: string): unknown {
  const { code, path } = error as NodeJS.ErrnoException
  if (code === undefined || !path?.startsWith(folder)) return error
  const why = [code, relative(folder, path)].filter(Boolean).join(': ')
  return new LocalError(
    `The data folder ${folder} cannot be used (${why}): make all of it your own, or choose another with --data.`,
  )
}

/** Keeps a second system off the same data. A lock whose process has ended is worth nothing. */
function lock(folder: string): () => void {
  const file = join(folder, 'lock')
  if (existsSync(file)) {
    const [pid = 0, since = ''] = readFileSync(file, 'utf8').trim().split(' ')
    if (startedAt(Number(pid)) === since) {
      throw new LocalError(
        `Process ${pid} is already running a system on ${folder}: stop it, or choose another folder with --data.`,
      )
    }
  }
  writeFileSync(file, `${process.pid} ${startedAt(process.pid)}\n`)
  return () => rmSync(file, { force: true })
}

/** When a process began, so that a later one with the same number is not taken for it; undefined if there is none. */
function startedAt(pid: number): string | undefined {
  try {
    // Linux: the 22nd field; the second, the program's name, may hold spaces and ends with the last parenthesis.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]
  } catch {
    if (existsSync('/proc/self/stat')) return undefined
  }
  try {
    process.kill(pid, 0)
    return 'alive'
  } catch {
    return undefined
  }
}

// -- Secrets -------------------------------------------------------------------------------------------------------

const secretText = v.pipe(v.string(), v.nonEmpty())
const Secrets = v.object({
  adminToken: secretText,
  edgeToken: secretText,
  orderTokenSecret: secretText,
  webhookSecret: secretText,
  queueSecret: secretText,
  /** The edge's Ed25519 key, as a private JWK with `kid`. */
  admissionPrivateJwk: v.looseObject({
    kty: v.literal('OKP'),
    crv: v.literal('Ed25519'),
    kid: secretText,
    x: secretText,
    d: secretText,
  }),
})
export type Secrets = Readonly<v.InferOutput<typeof Secrets>>

/** Where the operator's token of this start stands by itself: for `$(cat ...)` on a command line, and for a rehearsal. */
export const ADMIN_TOKEN_FILE = 'admin-token'

/** Makes the secrets the first time and finds them again afterwards, so that tokens outlive a restart. */
async function loadSecrets(dataDir: string, adminToken: string | undefined): Promise<Secrets> {
  const file = join(dataDir, 'secrets.json')
  let secrets: Secrets
  if (existsSync(file)) {
    try {
      secrets = v.parse(Secrets, JSON.parse(readFileSync(file, 'utf8')))
    } catch {
      throw new LocalError(`The secrets in ${file} cannot be read: mend the file, or remove the data folder.`)
    }
  } else {
    secrets = await makeSecrets()
    // Complete or not there at all, whenever we are interrupted.
    writeFileSync(`${file}.unfinished`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${file}.unfinished`, file)
  }
  const inUse = { ...secrets, ...(adminToken !== undefined && { adminToken }) }
  writeFileSync(join(dataDir, ADMIN_TOKEN_FILE), `${inUse.adminToken}\n`, { mode: 0o600 })
  return inUse
}

async function makeSecrets(): Promise<Secrets> {
  const secret = () => randomBytes(32).toString('base64url')
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  return v.parse(Secrets, {
    adminToken: secret(),
    edgeToken: secret(),
    orderTokenSecret: secret(),
    webhookSecret: secret(),
    queueSecret: secret(),
    admissionPrivateJwk: {
      ...(await exportJWK(privateKey)),
      alg: 'EdDSA',
      use: 'sig',
      kid: randomBytes(8).toString('hex'),
    },
  })
}

function publicHalf({ d: _, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return rest
}

// -- Stores that are given -----------------------------------------------------------------------------------------

const CHECK_WITHIN_SECONDS = 10

/** Fails with one line when the address is wrong or nobody serves there. */
async function checkDatabase(url: string): Promise<void> {
  if (!/^postgres(ql)?:\/\/./.test(url) || !URL.canParse(url)) {
    throw new LocalError(
      'DATABASE_URL is not an address such as postgres://user:password@host:5432/database.',
    )
  }
  const sql = postgres(url, { max: 1, connect_timeout: CHECK_WITHIN_SECONDS, onnotice: () => {} })
  try {
    await sql`select 1`
  } catch (error) {
    throw new LocalError(`The Postgres at DATABASE_URL (${placeOf(url)}) does not serve: ${reasonOf(error)}`)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** By the origin's own rule and client, so that what it takes is taken here. */
async function checkRedis(url: string): Promise<void> {
  if (!isRedisUrl(url)) {
    throw new LocalError(
      'REDIS_URL is not an address such as redis://host:6379, redis+sentinel://host,host/name or redis+cluster://host,host.',
    )
  }
  const redis = connectRedis(url, pino({ level: 'silent' }))
  try {
    // Fails with its first error; the client itself would go on trying.
    await once(redis, 'ready', { signal: AbortSignal.timeout(CHECK_WITHIN_SECONDS * 1000) })
    await redis.ping()
  } catch (error) {
    throw new LocalError(`The Redis at REDIS_URL (${placeOf(url)}) does not serve: ${reasonOf(error)}`)
  } finally {
    redis.disconnect()
  }
}

/** Hosts and ports: never the password. */
const placeOf = (url: string) => url.replace(/^.*?:\/\/(.*@)?/, '').replace(/[/?].*$/, '')

function reasonOf(error: unknown): string {
  // A Cluster says that no node helped, and what the last of them said; a time that is over, why it is.
  const { message, code, lastNodeError, cause } = error as NodeJS.ErrnoException & { lastNodeError?: Error }
  if (lastNodeError || cause) return reasonOf(lastNodeError ?? cause)
  return (message || code || String(error)).split('\n')[0] ?? ''
}
