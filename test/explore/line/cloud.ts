/**
 * Cloudflare as the line's code meets it: isolates and Durable Objects on machines whose clocks are apart, over
 * storage that confirms and forgets. Each call, alarm and confirmation is an item of the scheduler.
 *
 * What is imitated, from the platform's documentation: a response or call leaves an object only once all its writes
 * are confirmed; an object may be evicted at any await, and whoever waits for it gets an error; an alarm rings once at
 * least, late at times, and again after a failure; and a ghost, an instance that another has replaced, goes on from
 * memory until its first write is refused.
 */
import type { Env } from '../../../edge/http/config.ts'
import type { SaleSnapshot } from '../../../edge/queue/timeline.ts'
import { BEGIN_MS, type Fate, type Process, type Scheduler } from '../scheduler.ts'
import { Host, type Instance, type Outcome } from './host.ts'
import type { Judge } from './judge.ts'
import type { Edge, Start } from './machine.ts'
import { SALE } from './shop.ts'

/** An answer that is slow, or very slow, is so long on its way. */
const SLOW_MS: Partial<Record<Fate, number>> = { slow: 150, 'very slow': 2_500 }
/** The platform repeats an alarm that failed after so long, doubled each time, so often at most. */
const ALARM_RETRY_MS = 2_000
const ALARM_RETRIES = 6

/** A call that arrives twice, far apart, arrives the second time so late. */
const APART_MS = 400

const CALL_FATES: readonly Fate[] = [
  'done',
  ...(['late', 'slow', 'very slow', 'lost', 'failed', 'delayed', 'twice', 'twice, far apart'] as const),
  ...(['dies', 'dies after', 'its object dies', 'its object becomes a ghost'] as const),
]
/** A range of numbers that goes back may arrive at any time, since nobody waits for it. */
const RETURN_FATES: readonly Fate[] = ['done', 'slow', 'failed', 'delayed', 'twice', 'twice, far apart']
const FETCH_FATES: readonly Fate[] = ['done', 'late', 'slow', 'very slow', 'lost', 'failed', 'dies after']
const WRITE_FATES: readonly Fate[] = ['done', 'slow', 'very slow', 'dies', 'dies after']
const ALARM_FATES: readonly Fate[] = ['done', 'slow', 'very slow', 'twice']

/** Answers a request of the waiting room to the origin. */
export type Origin = (url: URL) => { readonly status: number; readonly body: unknown }

export class Cloud {
  readonly scheduler: Scheduler
  readonly #start: Start
  readonly #origin: Origin
  readonly #settings: Readonly<Record<string, string>>
  readonly #objects = new Map<string, Host>()
  /** The network, the platform and the visitors: what never ends. */
  readonly world: Process
  readonly #judge: Judge
  readonly #machines: Machine[] = []
  /** Clocks differ from the true one by so much, by the name of the machine. */
  readonly clocks = new Map<string, number>()

  constructor(scheduler: Scheduler, start: Start, judge: Judge, origin: Origin, settings: Record<string, string>) {
    this.#judge = judge
    this.scheduler = scheduler
    this.#start = start
    this.#origin = origin
    this.#settings = settings
    this.world = scheduler.process('the world')
  }

  get nowMs(): number {
    return this.scheduler.nowMs - BEGIN_MS
  }

  /** What the clock of a machine shows. */
  clockOf(name: string): number {
    return Math.floor(this.scheduler.nowMs + (this.clocks.get(name) ?? 0))
  }

  /** Ends all machines. */
  end(): void {
    for (const { process } of this.#machines) process.end()
    this.world.end()
  }

  object(name: string): Host {
    const found = this.#objects.get(name) ?? new Host(this, name)
    this.#objects.set(name, found)
    return found
  }

  /** A machine that starts now. What it sends leaves it at once, or once `leaves` resolves. */
  machine(name: string, leaves: () => Promise<void> = () => Promise.resolve()): Machine {
    const process = this.scheduler.process(name)
    const { runtime } = process
    const now = () => this.clockOf(name)
    const ids = new Map<number, () => void>()
    let lastId = 0
    const setTimeout = (act: () => void, ms = 0) => {
      ids.set(++lastId, runtime.after(ms, act))
      return lastId
    }
    const machine: Machine = {
      name,
      process,
      leaves,
      edge: this.#start({
        Date: class extends Date {
          constructor(given: number | string = now()) {
            super(given)
          }
          static override now = now
        } as DateConstructor,
        Math: Object.create(Math, { random: { value: runtime.random } }),
        crypto: { getRandomValues: (bytes: Uint8Array) => bytes.map(() => Math.floor(runtime.random() * 256)) },
        setTimeout,
        clearTimeout: (id) => ids.get(id)?.(),
        scheduler: { wait: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)) },
        AbortSignal: { timeout: (ms) => ({ ms }) },
        fetch: (url, init) => this.#fetch(machine, url, init),
        console: { warn() {} },
      }),
    }
    machine.edge.watchAssertions((error) => this.#judge.failed(error))
    this.#machines.push(machine)
    return machine
  }

  /** The settings and objects as one machine has them. */
  envOf(machine: Machine): Env {
    const namespace = { getByName: (name: string) => this.#stub(machine, this.object(name)) }
    return { ...this.#settings, WAITING_ROOM: namespace, TICKET_SHARD: namespace } as unknown as Env
  }

  #stub(from: Machine, to: Host): object {
    return new Proxy({}, { get: (_, method) => (argument: unknown) => this.#call(from, to, String(method), argument) })
  }

  #call(from: Machine, to: Host, method: string, argument: unknown): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const sentMs = this.nowMs
    const settle = (outcome: Outcome) => {
      if (method === 'lease' || method === 'take') this.#judge.leased({ method, sentMs, heardMs: this.nowMs })
      if ('value' in outcome) resolve(outcome.value)
      else reject(outcome.error)
    }
    const what = `calls ${to.label}, ${method}`
    const add = (owner: Process, name: string, text: string, act: () => void) =>
      this.scheduler.add({ owner, name, what: text, fates: ['done'], go: async () => act() })
    const go = async (fate: Fate) => {
      if (fate === 'dies') return from.process.end()
      if (fate === 'failed') return reject(new Error('the network failed'))
      const deliver = (answer: (outcome: Outcome) => void) => to.receive(from.name, method, argument, answer)
      const again = () => add(this.world, this.world.name, `${from.name} ${what}, again`, () => deliver(() => {}))
      if (fate === 'delayed') {
        again()
        return reject(new Error('the network failed'))
      }
      if (fate === 'its object becomes a ghost') to.haunt(from.name)
      deliver((outcome) => {
        this.#watch(to, outcome)
        if (fate === 'lost') return reject(new Error('the answer is lost'))
        const slowMs = SLOW_MS[fate]
        if (slowMs !== undefined) return void this.world.runtime.after(slowMs, () => settle(outcome))
        if (fate !== 'late') return settle(outcome)
        add(from.process, to.label, `answers ${from.name}, ${method}`, () => settle(outcome))
      })
      if (fate === 'its object dies') to.evict()
      if (fate === 'dies after') from.process.end()
      if (fate === 'twice') again()
      if (fate === 'twice, far apart') this.world.runtime.after(APART_MS, again)
    }
    void from.leaves().then(() => {
      const fates = method === 'takeBack' ? RETURN_FATES : CALL_FATES
      this.scheduler.add({ owner: from.process, name: from.name, what, fates, go })
    })
    return promise
  }

  /** What leaves the room is published. */
  #watch(host: Host, outcome: Outcome): void {
    const { snapshot } = (('value' in outcome && outcome.value) || {}) as { snapshot?: SaleSnapshot }
    if (host.name === SALE && snapshot) this.#judge.published(snapshot.timeline, snapshot.at_ms)
  }

  async #fetch(from: Machine, url: string, init: { signal?: unknown } = {}): Promise<object> {
    const late = Promise.withResolvers<never>()
    const { ms = 0 } = (init.signal ?? {}) as { ms?: number }
    const cancel = from.process.runtime.after(ms, () => late.reject(new Error('timeout')))
    late.promise.catch(() => {})
    await from.leaves()
    const answered = new Promise<object>((resolve, reject) => {
      const go = async (fate: Fate) => {
        if (fate === 'failed') return reject(new Error('the network failed'))
        const { status, body } = this.#origin(new URL(url))
        const response = {
          ...{ status, ok: status === 200 },
          json: async () => structuredClone(body),
          body: { cancel: async () => {} },
        }
        if (fate === 'dies after') return from.process.end()
        if (fate === 'lost') return reject(new Error('the answer is lost'))
        const slowMs = SLOW_MS[fate] ?? (fate === 'late' ? 30 : 0)
        if (slowMs > 0) from.process.runtime.after(slowMs, () => resolve(response))
        else resolve(response)
      }
      this.scheduler.add({ owner: from.process, name: from.name, what: 'asks the origin', fates: FETCH_FATES, go })
    })
    return Promise.race([answered, late.promise]).finally(cancel)
  }

  /** An alarm that was confirmed. */
  ringAt(host: Host, alarmMs: number, tries = 0): void {
    const ring = (isTwice: boolean) => {
      if (host.disk.alarmMs !== alarmMs) return
      host.alarm((isDone) => {
        if (isTwice) host.alarm(() => {})
        // A failed alarm is repeated, unless a later one was set.
        if (isDone || tries === ALARM_RETRIES || host.disk.alarmMs !== null) return
        host.disk.alarmMs = alarmMs
        this.world.runtime.after(ALARM_RETRY_MS * 2 ** tries, () => this.ringAt(host, alarmMs, tries + 1))
      })
    }
    const go = async (fate: Fate) => {
      const slowMs = SLOW_MS[fate]
      if (slowMs !== undefined) return void this.world.runtime.after(slowMs, () => ring(false))
      ring(fate === 'twice')
    }
    this.world.runtime.after(alarmMs - this.clockOf(host.label), () =>
      this.scheduler.add({ owner: this.world, name: host.label, what: 'is due by its alarm', fates: ALARM_FATES, go }),
    )
  }

  /** Confirms what an instance has written; only the object's current instance may write. */
  confirm(instance: Instance): Promise<void> {
    const { process, name } = instance.machine
    return new Promise((resolve) => {
      const done = () => (instance.isCurrent() ? resolve() : process.end())
      const go = async (fate: Fate) => {
        if (fate === 'dies') return process.end()
        const slowMs = SLOW_MS[fate]
        if (slowMs !== undefined) return void process.runtime.after(slowMs, done)
        done()
        // What follows the confirmation comes first.
        if (fate === 'dies after') await null
        if (fate === 'dies after') process.end()
      }
      this.scheduler.add({ owner: process, name, what: 'writes', fates: WRITE_FATES, go })
    })
  }
}

/** What runs code of the edge: an isolate of the Worker, or an instance of an object. */
export interface Machine {
  readonly name: string
  readonly process: Process
  readonly edge: Edge
  readonly leaves: () => Promise<void>
}
