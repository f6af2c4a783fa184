/**
 * The environment of measurements: a system, sales on it, their checkouts, and the servers with which they are
 * compared.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type ChildOptions, freePort, LOOPBACK, Server, temporaryFolder } from '../../dev/lib/processes.ts'
import { COMPATIBILITY_DATE, findWorkerd } from '../../dev/servers/workerd.ts'
import { type System, type SystemOptions, startSystem } from '../../dev/system.ts'
import { EDGE_TOKEN_HEADER } from '../../shared/api/internal.ts'
import { importSecrets, type SecretJwkSet } from '../../shared/keys.ts'
import { ADMISSION, ADMISSION_TTL_SECONDS, signToken } from '../../shared/tokens.ts'
import { requestText } from '../lib/http.ts'
import { admin } from '../lib/operator.ts'
import { closedLoop, type Load, type Measured, type Next } from './load.ts'

export interface Stage {
  readonly system: System
  readonly mint: ReturnType<typeof admissionMint>
}

/** The number of units that no run sells out. */
export const PLENTY = 10_000_000
const KNOWN_TRIES = 50
const KNOWN_EVERY_MS = 100
/** A closed loop warms up first, and must not run out of requests. */
const RUN_SHARE = 1.25
/** The numbers exceed what any checkout serves, and what one buyer gets, per second. */
const CHECKOUTS_PER_SECOND = 22_000
const CHECKOUTS_PER_BUYER = 4_000

/** The origin serves only the edge, as in production, so every load sends the edge's token. */
export async function startStage(originEnv: SystemOptions['originEnv'] = {}): Promise<Stage> {
  const system = await startSystem({ originEnv: { LOG_LEVEL: 'error', ALLOW_DIRECT: 'false', ...originEnv } })
  return { system, mint: admissionMint(system.secrets.admissionKeys) }
}

/** Makes thousands of admission tokens, as the edge would give them to new buyers. */
function admissionMint(secrets: SecretJwkSet) {
  const keys = importSecrets(secrets)
  let num = 0
  return (sale: string, count: number): string[] => {
    const iat = Math.floor(Date.now() / 1000)
    const claims = { sale, iat, exp: iat + ADMISSION_TTL_SECONDS }
    return Array.from({ length: count }, () =>
      signToken(ADMISSION, keys, { ...claims, sub: `bench-${randomUUID()}`, num: ++num, jti: randomUUID() }),
    )
  }
}

/** Creates an open sale, or one that opens later; without units it is sold out. */
export async function createSale(
  { system }: Stage,
  { stock = PLENTY, rate = 1_000, opensInMs = -1_000, products = 1, limit = 1, mails = false } = {},
): Promise<string> {
  const sale = `bench-${randomUUID().slice(0, 8)}`
  const product = { name: 'Unit', unit_price_minor: 4900, currency: 'EUR', total: stock }
  await admin(system, 'PUT', `/sales/${sale}`, {
    name: 'Bench',
    opens_at: new Date(Date.now() + opensInMs).toISOString(),
    hold_seconds: 3_600,
    limit_per_visitor: limit,
    contact: { email: mails ? 'optional' : 'off' },
    products: Array.from({ length: products }, (_, i) => ({
      ...product,
      product_id: i === 0 ? PRODUCT_ID : `${PRODUCT_ID}-${i}`,
    })),
    admission: { rate_per_second: rate },
  })
  for (let tries = 0; tries < KNOWN_TRIES; tries++) {
    const response = await fetch(`${system.edgeUrl}/sales/${sale}/schedule`)
    await response.body?.cancel()
    if (response.ok) return sale
    await sleep(KNOWN_EVERY_MS)
  }
  throw new Error('The edge does not know the sale.')
}

/** The first or only product of each sale here. */
export const PRODUCT_ID = 'unit'

export async function endSale({ system }: Stage, sale: string): Promise<void> {
  await admin(system, 'POST', `/sales/${sale}/end`)
}

const pidsOf = (...parts: readonly ({ readonly pid: number } | undefined)[]) =>
  parts.flatMap((part) => (part ? [part.pid] : []))

export const storesOf = ({ system }: Stage) => pidsOf(system.redis, system.postgres)

/** A load on the origin, which also counts the stores' processor time. */
export const atOrigin = (stage: Stage, seconds: number, next: Next, right: Load['right']): Load => ({
  url: stage.system.originUrl,
  pids: pidsOf(stage.system.origin, stage.system.redis, stage.system.postgres),
  seconds,
  next,
  right,
})

// -- Checkouts ------------------------------------------------------------------------------------------------------

/** Makes more tokens than a closed loop of this many buyers can use up. */
export const tokensFor = (
  stage: Stage,
  sale: string,
  seconds: number,
  { buyers = 1_000, perSecond = CHECKOUTS_PER_SECOND } = {},
) => stage.mint(sale, Math.ceil(seconds * RUN_SHARE * Math.min(perSecond, buyers * CHECKOUTS_PER_BUYER)))

const ONE_UNIT = '{"quantity":1}'

export const checkoutText = (
  { system }: Stage,
  host: string,
  sale: string,
  token: string,
  key: number,
  body = ONE_UNIT,
) =>
  requestText(
    'POST',
    `/sales/${sale}/checkout`,
    host,
    [
      'accept: application/json',
      `authorization: Bearer ${token}`,
      `${EDGE_TOKEN_HEADER}: ${system.secrets.edgeToken}`,
      `idempotency-key: bench-${key}`,
    ],
    body,
  )

/** Checkouts of new buyers until the tokens or the bodies are used up. */
export function checkoutsOf(
  stage: Stage,
  sale: string,
  tokens: readonly string[],
  bodyOf: (turn: number) => string | null = () => ONE_UNIT,
): Next {
  let next = 0
  return ({ host }) => {
    const token = tokens[next]
    const body = bodyOf(next)
    return token === undefined || body === null ? null : checkoutText(stage, host, sale, token, next++, body)
  }
}

/** Runs durable checkouts by this many concurrent buyers on a separate sale. */
export async function durableCheckouts(stage: Stage, seconds: number, buyers: number): Promise<Measured> {
  const sale = await createSale(stage)
  const next = checkoutsOf(stage, sale, tokensFor(stage, sale, seconds, { buyers }))
  const measured = await closedLoop(atOrigin(stage, seconds, next, 201), buyers)
  await endSale(stage, sale)
  return measured
}

// -- Servers to compare with ----------------------------------------------------------------------------------------

type Env = Readonly<Record<string, string>>

/** Starts one of the servers in servers/ as a process. */
export const startServer = (name: string, env: Env = {}) => startScript(name, `./servers/${name}.ts`, '/healthz', env)

/** Starts the stand-in of a payment provider as its own process, which otherwise runs in the origin's. */
export const startProvider = (port: number, env: Env) =>
  startScript('the provider', '../../origin/providers/sandbox.ts', '/charges?charge=none', env, port)

/** Starts a script, by its path from this folder, as a server. `probe` is a path that responds when it is ready. */
export function startScript(
  name: string,
  script: string,
  probe: string,
  env: Env = {},
  onPort?: number,
): Promise<Server> {
  const command = (_: string, port: number) => ({
    command: process.execPath,
    args: [fileURLToPath(new URL(script, import.meta.url))],
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
  })
  return start(name, probe, command, onPort)
}

/** Starts a server with the stores and the admission keys of the system. */
export function startRival({ system }: Stage, name: string, mode = ''): Promise<Server> {
  return startServer(name, {
    MODE: mode,
    DATABASE_URL: system.databaseUrl,
    REDIS_URL: system.redisUrl,
    ADMISSION_KEYS: JSON.stringify(system.secrets.admissionKeys),
  })
}

/** Starts a Worker in the edge's runtime; `object` is the class of its Durable Objects, bound as OBJECTS. */
export function startBareWorker(script: string, object?: string): Promise<Server> {
  return start('the bare Worker', '/', (folder, port) => {
    mkdirSync(join(folder, 'objects'))
    writeFileSync(join(folder, 'worker.js'), script)
    writeFileSync(join(folder, 'config.capnp'), configOf(port, join(folder, 'objects'), object))
    return { command: findWorkerd(), args: ['serve', join(folder, 'config.capnp')], cwd: folder }
  })
}

const configOf = (port: number, objects: string, object?: string) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "bare", worker = .bare),
    # The other servers are on this machine.
    (name = "internet", network = (allow = ["private"])),
    (name = "objects", disk = (path = ${JSON.stringify(objects)}, writable = true)),
  ],
  sockets = [(name = "http", address = "${LOOPBACK}:${port}", http = (), service = "bare")],
);
const bare :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
${
  object === undefined
    ? ''
    : `  bindings = [(name = "OBJECTS", durableObjectNamespace = "${object}")],
  durableObjectNamespaces = [(className = "${object}", uniqueKey = "bench", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
`
});
`

/** Starts a server in its own folder, and on its own port unless one is given, and waits until `probe` succeeds. */
async function start(
  name: string,
  probe: string,
  command: (folder: string, port: number) => Pick<ChildOptions, 'command' | 'args' | 'cwd' | 'env'>,
  onPort?: number,
): Promise<Server> {
  const port = onPort ?? (await freePort())
  const url = `http://${LOOPBACK}:${port}`
  const { path, remove } = temporaryFolder('bench')
  const options = { name, logFile: join(path, 'server.log'), ...command(path, port) }
  return new Server({
    url,
    port,
    remove,
    process: () => options,
    probe: async () => (await fetch(url + probe)).ok,
  }).start()
}
