/**
 * What the fault test plays on: Postgres, Redis, an api, a worker and a payment provider, each a process of its own,
 * on data and ports that outlive it. The first four can be killed as a crash would, and are brought back by whoever
 * looks after them here, whatever else is away at that moment.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../../dev/postgres.ts'
import { freePort, LOOPBACK, Server, temporaryFolder } from '../../dev/processes.ts'
import { startRedis } from '../../dev/redis.ts'
import { newKeySet } from '../../shared/tokens.ts'
import { AdmissionMint } from '../lib/admissions.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ADMIN_TOKEN = 'torture-admin-token-of-at-least-32-chars'
const WEBHOOK_SECRET = 'torture-webhook-secret-of-at-least-32-chars'
/** A part that is not back after so long will not come back. */
const BACK_WITHIN_MS = 60_000
const START_AGAIN_AFTER_MS = 200
/** What of the log is told of one that ended by itself. */
const LAST_LINES = 5

export const PARTS = ['redis', 'postgres', 'api', 'worker'] as const
export type PartName = (typeof PARTS)[number]

type Running = Pick<Server, 'failed' | 'logTail' | 'kill' | 'stop'>

/** A process that is killed and comes back. */
class Part {
  readonly name: PartName
  readonly #launch: () => Promise<Running>
  readonly #fault: (what: string) => void
  #running: Running | undefined
  #why = ''
  #stopped = false
  #starting: Promise<void> | undefined

  constructor(name: PartName, launch: () => Promise<Running>, fault: (what: string) => void) {
    this.name = name
    this.#launch = launch
    this.#fault = fault
  }

  get up(): boolean {
    return this.#running !== undefined
  }

  /** What became of the last attempt to start it. */
  get why(): string {
    return this.#why
  }

  start(): Promise<void> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  /** An origin whose ledger is away waits for it; one that waits for too long is started again. */
  async #start(): Promise<void> {
    const until = performance.now() + BACK_WITHIN_MS
    while (!this.#stopped && !this.#running) {
      try {
        const running = await this.#launch()
        if (this.#stopped) return await running.kill()
        this.#running = running
        void running.failed.then((how) => this.#ended(running, how))
      } catch (error) {
        this.#why = (error as Error).message
        if (performance.now() > until) {
          this.#fault(`${this.name} did not come back: ${this.#why}`)
          return
        }
        await sleep(START_AGAIN_AFTER_MS)
      }
    }
  }

  /** Nothing that happens to the others is a reason for one that serves to end. */
  #ended(running: Running, how: string): void {
    if (this.#running !== running) return
    this.#running = undefined
    if (this.#stopped) return
    const lastWords = running.logTail().trimEnd().split('\n').slice(-LAST_LINES).join('\n')
    this.#fault(`${this.name} ended by itself (${how}); its last words:\n${lastWords}`)
    void this.start()
  }

  async kill(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    await running?.kill()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    const running = this.#running
    this.#running = undefined
    await running?.stop()
    await this.#starting
  }
}

function allUp(...parts: Part[]): void {
  for (const { name, up, why } of parts) if (!up) throw new Error(`${name} did not start: ${why}`)
}

export interface TortureSystem {
  readonly url: string
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly parts: Readonly<Record<PartName, Part>>
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** An admission token, signed as the edge would. */
  token(sale: string, visitor: string): string
  /** Redis forgets everything, as a lost disk would have it; while it is down. */
  wipeRedis(): void
  stop(): Promise<void>
}

/** `fault` is told of what should never happen to a process. */
export async function startTortureSystem(
  fault: (what: string) => void,
  logs?: string,
): Promise<TortureSystem> {
  const folders = ['postgres', 'redis', 'logs'].map((purpose) => temporaryFolder(`torture-${purpose}`))
  const [postgresDir = '', redisDir = '', logDir = ''] = folders.map((folder) => folder.path)
  const ports = { postgres: 0, redis: 0, sandbox: 0, api: 0, worker: 0 }
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort()
  const keys = newKeySet()
  const mint = new AdmissionMint(keys)
  const at = (port: number) => `http://${LOOPBACK}:${port}`
  const urls = { database: '', redis: `redis://${LOOPBACK}:${ports.redis}` }
  const logFile = (name: string) => join(logs ?? logDir, `${name}.log`)

  const node = async (name: string, script: string, port: number, env: Record<string, string>) => {
    const server = new Server({
      url: at(port),
      port,
      process: () => ({
        name,
        command: process.execPath,
        args: [join(ROOT, script)],
        logFile: logFile(name),
        cwd: ROOT,
        env: { PATH: process.env.PATH ?? '', PORT: String(port), DATABASE_URL: urls.database, ...env },
      }),
      // That it has begun: whether it can serve depends on what else is away at this moment.
      probe: async () => (await fetch(`${at(port)}/metrics`)).status < 500,
    })
    return server.start()
  }
  const origin = (role: 'api' | 'worker') =>
    node(role, 'origin/main.ts', ports[role], {
      ROLE: role,
      REDIS_URL: urls.redis,
      ADMIN_TOKEN,
      EDGE_TOKEN: 'torture-edge-token-of-at-least-32-characters',
      ORDER_TOKEN_SECRET: 'torture-order-token-secret-of-32-characters',
      WEBHOOK_SECRET,
      ADMISSION_KEYS: JSON.stringify(keys),
      SANDBOX_URL: at(ports.sandbox),
      SANDBOX_TIMEOUT_MS: '500',
      LOG_LEVEL: logs === undefined ? 'warn' : 'info',
    })
  const parts = {
    postgres: new Part(
      'postgres',
      () =>
        startPostgres({ dataDir: postgresDir, port: ports.postgres }).then((s) => {
          urls.database = s.url
          return s
        }),
      fault,
    ),
    redis: new Part('redis', () => startRedis({ dataDir: redisDir, port: ports.redis }), fault),
    api: new Part('api', () => origin('api'), fault),
    worker: new Part('worker', () => origin('worker'), fault),
  }
  let sandbox: Running | undefined
  const stop = async () => {
    for (const part of [parts.worker, parts.api]) await part.stop()
    await sandbox?.stop()
    for (const part of [parts.redis, parts.postgres]) await part.stop()
    for (const folder of folders) folder.remove()
  }
  try {
    await Promise.all([parts.postgres.start(), parts.redis.start()])
    allUp(parts.postgres, parts.redis)
    sandbox = await node('sandbox', 'origin/payments/sandbox.ts', ports.sandbox, {
      WEBHOOK_URL: `${at(ports.api)}/webhooks/sandbox`,
      WEBHOOK_SECRET,
    })
    await Promise.all([parts.api.start(), parts.worker.start()])
    allUp(parts.api, parts.worker)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: at(ports.api),
    databaseUrl: urls.database,
    redisUrl: urls.redis,
    parts,
    async admin(method, path, body) {
      const response = await fetch(`${at(ports.api)}/admin${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(5_000),
      })
      return { status: response.status, body: await response.json() }
    },
    token: (sale, visitor) => mint.next(sale, visitor),
    wipeRedis() {
      rmSync(join(redisDir, 'appendonlydir'), { recursive: true, force: true })
    },
    stop,
  }
}
