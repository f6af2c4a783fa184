/**
 * Kills parts of the system with SIGKILL while the crowd plays, in an order and at times that a seed decides, and
 * restarts them; Redis sometimes without its data. The network between the parts fails likewise (network.ts), another
 * version is deployed (deployment.ts), or Redis fails over (failover.ts). It polls the ledger meanwhile, because an
 * oversell must not occur even for a moment.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { freePort, LOOPBACK, type Server, startChild, untilReady } from '../../../dev/lib/processes.ts'
import { type System, type SystemOptions, startSystem } from '../../../dev/system.ts'
import { inTurn, seededRandom } from '../../../shared/lib/random.ts'
import type { Crowd } from '../../crowd/crowd.ts'
import type { FaultRecord } from '../../invariants/evidence.ts'
import { oversoldIn } from '../records/hall-records.ts'
import { Deployment } from './deployment.ts'
import { Failover } from './failover.ts'
import { Network } from './network.ts'

const PARTS = ['redis', 'postgres', 'api', 'worker'] as const
type Part = (typeof PARTS)[number]
/** A part that is killed, the network between all parts, a deployment of another version, or a failover of Redis. */
export const FAULTS = [...PARTS, 'network', 'deploy', 'failover'] as const
export type Fault = (typeof FAULTS)[number]

const CALM_MS = [300, 2_000] as const
const DOWN_MS = [500, 3_000] as const
/** Every second time, starting with the first, Redis restarts without its data. */
const isWiped = (kills: number) => kills % 2 === 1
const POLL_EVERY_MS = 300
/** A fault waits at most this long for a checkout or a payment in progress. */
const TARGET_WITHIN_MS = 2_000
const TARGET_POLL_MS = 2
/** A part that has not restarted after this time counts as broken. */
const BACK_WITHIN_MS = 60_000
const START_AGAIN_MS = 200
/** The timeout is short, so that `pm_timeout` and `pm_flaky` end within a rehearsal. */
const CHARGE_TIMEOUT_MS = '500'
const SANDBOX = fileURLToPath(new URL('../../../origin/providers/sandbox.ts', import.meta.url))

/** A system whose parts can be killed. There is a network between them if it fails. */
interface FragileSystem {
  readonly system: System
  readonly parts: Readonly<Record<Part, Server>>
  readonly network: Network | undefined
  readonly deployment: Deployment | undefined
  readonly failover: Failover | undefined
}

/**
 * Starts a system with api, worker and payment provider as separate processes, so that each can die alone; the
 * provider never does. A deployment begins with the code in the folder `old`.
 */
export async function startFragileSystem(
  options: SystemOptions,
  faults: readonly Fault[],
  old: string | null,
): Promise<FragileSystem> {
  const port = await freePort()
  const url = `http://${LOOPBACK}:${port}`
  const network = faults.includes('network') ? new Network() : undefined
  const deployment = old === null ? undefined : new Deployment(old)
  const failover = faults.includes('failover') ? new Failover() : undefined
  const route = async (from: string, to: string, address: string) =>
    (await (network ?? deployment ?? failover)?.route(from, to, address)) ?? address
  const envOf = async (role: string) => ({
    ...options.originEnv,
    ROLE: role,
    SANDBOX_URL: await route(role, 'provider', url),
    SANDBOX_TIMEOUT_MS: CHARGE_TIMEOUT_MS,
  })
  const system = await startSystem({
    ...options,
    ...(deployment && { code: deployment.code }),
    route,
    originEnv: await envOf('api'),
  })
  const sandbox = await startChild({
    name: 'the payment provider',
    command: process.execPath,
    args: [SANDBOX],
    logFile: join(system.dataDir, 'logs/sandbox.log'),
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      DATABASE_URL: system.databaseUrl,
      WEBHOOK_URL: `${await route('provider', 'api', system.originUrl)}/webhooks/sandbox`,
      WEBHOOK_SECRET: system.secrets.webhookSecret,
    },
  })
  await untilReady(sandbox, async () => (await fetch(`${url}/healthz`)).status < 500)
  const worker = await system.addOrigin(await envOf('worker'))
  const { postgres, redis, origin: api } = system
  if (!postgres || !redis) throw new Error('The stores must be ours to be killed.')
  const reached = (await deployment?.begin(system, worker, envOf)) ?? (await failover?.begin(system)) ?? system
  return { system: reached, parts: { redis, postgres, api, worker }, network, deployment, failover }
}

/** Plays faults for this many seconds. `stop` ends it, and resolves when all parts have restarted. */
export function startFaults(
  { system, parts, network, deployment, failover }: FragileSystem,
  wanted: readonly Fault[],
  seconds: number,
  crowd: Crowd,
  seed: number,
): { stop(): Promise<FaultRecord> } {
  const random = seededRandom(seed)
  const killed = PARTS.filter((part) => wanted.includes(part))
  const kills = Object.fromEntries(killed.map((part) => [part, 0]))
  const broken: string[] = []
  let [wipes, inFlight, over] = [0, 0, false]
  void system.failed.then((how) => {
    broken.push(how)
    crowd.stop()
  })
  const between = ([least, most]: readonly [number, number]) => least + random() * (most - least)

  /** Waits for calls in progress, because a fault that hits none proves little. */
  const underLoad = async () => {
    const untilMs = performance.now() + TARGET_WITHIN_MS
    while (crowd.tally.inFlight === 0 && performance.now() < untilMs && !over) await sleep(TARGET_POLL_MS)
    if (!over) inFlight += crowd.tally.inFlight
  }

  const back = async (fault: Part) => {
    const untilMs = performance.now() + BACK_WITHIN_MS
    for (;;) {
      try {
        return await parts[fault].restart()
      } catch (error) {
        // An origin that waits for its ledger gives up at some point, and is started again.
        if (performance.now() > untilMs) return void broken.push(`${fault}: ${(error as Error).message}`)
        await sleep(START_AGAIN_MS)
      }
    }
  }
  const killing = (async () => {
    if (killed.length === 0) return
    const away = new Map<Part, Promise<void>>()
    const endMs = performance.now() + seconds * 1000
    for (const fault of inTurn(killed, random)) {
      const [calmMs, downMs] = [between(CALM_MS), between(DOWN_MS)]
      await sleep(calmMs)
      await underLoad()
      // Each part dies at least once, even on a slow machine.
      if (over || (performance.now() > endMs && Object.values(kills).every((times) => times > 0))) break
      if (away.has(fault)) continue
      kills[fault] = (kills[fault] ?? 0) + 1
      await parts[fault].kill()
      if (fault === 'redis' && isWiped(kills.redis ?? 0)) {
        wipes++
        rmSync(join(system.dataDir, 'redis/appendonlydir'), { recursive: true, force: true })
      }
      const returned = sleep(downMs)
        .then(() => back(fault))
        .finally(() => away.delete(fault))
      away.set(fault, returned)
    }
    await Promise.all(away.values())
  })()
  const disturbing = network?.play(seededRandom(seed + 5), seconds, underLoad, () => over)
  const deploying = deployment?.play(seconds, underLoad, () => over)
  const swapping = failover
    ?.play(crowd.options.sale, seconds, seededRandom(seed + 6), underLoad, () => over)
    .catch((error: Error) => void broken.push(`Redis: ${error.message}`))

  const ledger = postgres(system.databaseUrl, {
    max: 1,
    connect_timeout: 2,
    backoff: () => 0.1,
    onnotice() {},
  })
  let [polls, oversold] = [0, 0]
  const polling = (async () => {
    while (!over) {
      await oversoldIn(ledger, crowd.options.sale)
        .then((found) => {
          polls++
          oversold += found.length
        })
        .catch(() => {})
      await sleep(POLL_EVERY_MS)
    }
    await ledger.end({ timeout: 1 })
  })()
  return {
    async stop() {
      over = true
      const [network, deployed, swapped] = await Promise.all([disturbing, deploying, swapping, killing, polling])
      broken.push(...(deployed?.broken ?? []))
      return {
        kills,
        network: network ?? {},
        steps: deployed?.played ?? {},
        failovers: failover ? (swapped ?? []) : null,
        wipes,
        inFlight,
        polls,
        oversold,
        broken,
      }
    },
  }
}
