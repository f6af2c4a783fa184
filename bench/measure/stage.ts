/** Where measurements are made: a system of our own, sales on it, and the bare servers it is held against. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, LOOPBACK, startChild, temporaryFolder, untilReady } from '../../dev/processes.ts'
import { type System, startSystem } from '../../dev/system.ts'
import { AdmissionMint } from '../lib/admissions.ts'
import { admin, type Target } from '../rehearsal/records.ts'

export interface Server {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

export interface Stage {
  readonly system: System
  readonly target: Target
  readonly mint: AdmissionMint
}

export async function startStage(edgeVars: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const system = await startSystem({ originEnv: { LOG_LEVEL: 'error' }, edgeVars })
  return {
    system,
    target: {
      edge: system.edgeUrl,
      origin: system.originUrl,
      adminToken: system.adminToken,
      databaseUrl: system.databaseUrl,
      redisUrl: system.redisUrl,
    },
    mint: new AdmissionMint(system.secrets.admissionKeys),
  }
}

/** A sale that is open, with so many units; with none it is sold out. */
export async function createSale(
  { target }: Stage,
  options: { stock: number; rate?: number; opensInMs?: number },
): Promise<string> {
  const sale = `bench-${randomUUID().slice(0, 8)}`
  await admin(target, 'PUT', `/sales/${sale}`, {
    name: 'Bench',
    opens_at: new Date(Date.now() + (options.opensInMs ?? -1_000)).toISOString(),
    hold_seconds: 3_600,
    products: [
      { product_id: 'unit', name: 'Unit', unit_price_minor: 4900, currency: 'EUR', total: options.stock },
    ],
    admission: { rate_per_second: options.rate ?? 1_000 },
  })
  // Known to the edge before the first crowd: how that goes is not what is measured here.
  for (let tries = 0; tries < KNOWN_TRIES; tries++) {
    const answer = await fetch(`${target.edge}/sales/${sale}/schedule`)
    await answer.body?.cancel()
    if (answer.ok) return sale
    await sleep(100)
  }
  throw new Error('The edge does not know the sale.')
}

const KNOWN_TRIES = 50

export async function endSale({ target }: Stage, sale: string): Promise<void> {
  await admin(target, 'POST', `/sales/${sale}/end`)
}

/** One of the servers in bench/servers, as a process of its own. */
export async function startServer(name: string, env: Readonly<Record<string, string>> = {}): Promise<Server> {
  const port = await freePort()
  const url = `http://${LOOPBACK}:${port}`
  const logs = temporaryFolder('bench')
  const child = await startChild({
    name,
    command: process.execPath,
    args: [fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url))],
    logFile: join(logs.path, `${name}.log`),
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
  })
  await untilReady(child, async () => (await fetch(`${url}/healthz`)).ok)
  return {
    url,
    pid: child.pid,
    async stop() {
      await child.stop()
      logs.remove()
    },
  }
}

/** What the field does instead, on the same stores and for the same tokens: see bench/measure/servers/alternative.ts. */
export function startAlternative({ system }: Stage, mode: string): Promise<Server> {
  return startServer('alternative', {
    MODE: mode,
    DATABASE_URL: system.databaseUrl,
    REDIS_URL: system.redisUrl,
    ADMISSION_KEYS: JSON.stringify(system.secrets.admissionKeys),
    QUEUE_KEYS: JSON.stringify(system.secrets.queueKeys),
  })
}

/** A Worker in the same runtime as the edge, for the edge to be held against. */
export async function startBareWorker(script: string): Promise<Server> {
  const port = await freePort()
  const folder = temporaryFolder('bench')
  mkdirSync(folder.path, { recursive: true })
  writeFileSync(join(folder.path, 'worker.js'), script)
  writeFileSync(
    join(folder.path, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "bare", worker = .bare)],
  sockets = [(name = "http", address = "${LOOPBACK}:${port}", http = (), service = "bare")],
);
const bare :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-08-15",
);
`,
  )
  const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string }
  const child = await startChild({
    name: 'the bare Worker',
    command: workerd,
    args: ['serve', join(folder.path, 'config.capnp')],
    logFile: join(folder.path, 'bare.log'),
    cwd: folder.path,
  })
  const url = `http://${LOOPBACK}:${port}`
  await untilReady(child, async () => (await fetch(url)).ok)
  return {
    url,
    pid: child.pid,
    async stop() {
      await child.stop()
      folder.remove()
    },
  }
}
