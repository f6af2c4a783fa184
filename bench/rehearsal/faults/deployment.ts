/**
 * Puts another version of the code into service while a sale runs, and then the first one back: the ledger's migration,
 * then api, worker and edge one after the other, so that both versions serve beside each other, and at last an old
 * process once more, as after a late restart. Behind a balancer there are two origins that serve, of which one always
 * does.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import postgres from 'postgres'
import { buildWorkers, ROOT } from '../../../dev/lib/build.ts'
import type { Server } from '../../../dev/lib/processes.ts'
import type { System } from '../../../dev/system.ts'
import { flakyProxy } from '../../lib/flaky-proxy.ts'

type Env = Readonly<Record<string, string>>

/** The calm before each step, as a share of the time for which visitors come. Most of the rest is for restarts. */
const CALM = 0.02

const STEPS = [
  ...['ledger', 'second api', 'worker', 'edge', 'first api', 'old process'],
  ...['edge back', 'first api back', 'worker back', 'second api back'],
] as const
type Step = (typeof STEPS)[number]
type Process = 'first api' | 'second api' | 'worker'

/** The system whose code changes, with the environments of its roles. */
interface Deployed {
  readonly system: System
  /** The processes of the origin that are in service; the first api serves alone at the beginning. */
  readonly processes: Record<Process, Server>
  readonly env: (role: string) => Promise<Env>
}

export class Deployment {
  readonly #old: string
  /** The folder whose code the next origin to start runs. */
  #code: string
  #serving: readonly number[] = []
  #turn = 0
  readonly #balancer = flakyProxy(() => this.#serving[this.#turn++ % this.#serving.length] ?? 0)
  #deployed: Deployed | undefined
  /** The ends of the processes that were replaced. */
  readonly #stops: Promise<void>[] = []

  /** Begins with the code in the folder `old`; the newer one is this repository's. */
  constructor(old: string) {
    this.#old = old
    this.#code = old
  }

  readonly code = () => this.#code

  /** The callers of the api reach it through the balancer. */
  readonly route = async (_from: string, to: string, url: string): Promise<string> => {
    if (to !== 'api') return url
    if (this.#serving.length === 0) {
      this.#serving = [Number(new URL(url).port)]
      await this.#balancer.listen()
    }
    return this.#balancer.through(url).replace(/\/$/, '')
  }

  /** Starts the second api. Returns the system as its users reach it. */
  async begin(system: System, worker: Server, env: Deployed['env']): Promise<System> {
    const [first, second] = [system.origin, await system.addOrigin(await env('api'))]
    this.#deployed = { system, env, processes: { 'first api': first, 'second api': second, worker } }
    this.#serving = [first.port, second.port]
    // The build of this repository's Workers takes seconds of a processor.
    await buildWorkers(join(system.dataDir, 'edge-next'), ROOT)
    return { ...system, originUrl: await this.route('the crowd', 'api', system.originUrl) }
  }

  /**
   * Plays all steps in the time for which visitors come, unless `isOver`. `underLoad` resolves when calls are in
   * progress. Returns how often each step was played, and what went wrong.
   */
  async play(seconds: number, underLoad: () => Promise<void>, isOver: () => boolean) {
    const played = Object.fromEntries(STEPS.map((step) => [step, 0])) as Record<Step, number>
    const broken: string[] = []
    const work = this.#steps()
    for (const step of STEPS) {
      await sleep(CALM * seconds * 1000)
      await underLoad()
      if (isOver()) break
      try {
        await work[step]()
        played[step]++
      } catch (error) {
        broken.push(`${step}: ${(error as Error).message}`)
      }
    }
    await Promise.all(this.#stops)
    return { played, broken }
  }

  #steps(): Record<Step, () => Promise<void>> {
    let functions = ''
    return {
      ledger: async () => {
        const { databaseUrl } = this.#parts.system
        await execa(process.execPath, ['origin/migrate.ts'], { cwd: ROOT, env: { DATABASE_URL: databaseUrl } })
        functions = await this.#functions()
      },
      'second api': () => this.#change('second api', ROOT),
      worker: () => this.#change('worker', ROOT),
      edge: () => this.#changeEdge(ROOT),
      'first api': () => this.#change('first api', ROOT),
      'old process': async () => {
        this.#code = this.#old
        const { port } = await this.#parts.system.addOrigin(await this.#parts.env('all'))
        this.#serving = [...this.#serving, port]
        if ((await this.#functions()) !== functions)
          throw new Error("it put functions of its own back: this repository needs a newer version than the old code's")
      },
      'edge back': () => this.#changeEdge(this.#old),
      'first api back': () => this.#change('first api', this.#old),
      'worker back': () => this.#change('worker', this.#old),
      'second api back': () => this.#change('second api', this.#old),
    }
  }

  get #parts() {
    if (!this.#deployed) throw new Error('The system has not begun.')
    return this.#deployed
  }

  /**
   * A process of the other code starts beside the one that it replaces. That one gets no new connection from then on,
   * and stops while the deployment goes on.
   */
  async #change(which: Process, code: string): Promise<void> {
    const { system, env, processes } = this.#parts
    this.#code = code
    const next = await system.addOrigin(await env(which === 'worker' ? 'worker' : 'api'))
    const last = processes[which]
    processes[which] = next
    this.#serving = this.#serving.map((port) => (port === last.port ? next.port : port))
    this.#stops.push(last.stop())
  }

  async #changeEdge(code: string): Promise<void> {
    const { edge, dataDir } = this.#parts.system
    await buildWorkers(join(dataDir, 'edge'), code)
    await edge.kill()
    await edge.start()
  }

  /** One text for the bodies of all functions of the ledger. */
  async #functions(): Promise<string> {
    const sql = postgres(this.#parts.system.databaseUrl, { max: 1, onnotice() {} })
    const [row] = await sql`select md5(string_agg(prosrc, '' order by oid::regprocedure::text)) as bodies
      from pg_proc where pronamespace = 'public'::regnamespace`
    await sql.end({ timeout: 1 })
    return row?.bodies
  }
}
