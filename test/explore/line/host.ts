/** A Durable Object: what is stored of it, and the instances that run its class. */
import { isHub } from '../../../edge/queue/numbers/tree.ts'
import type { Cloud, Machine } from './cloud.ts'
import type { Edge } from './machine.ts'
import { Disk, Storage } from './storage.ts'

/** How long one caller may still reach a ghost. */
const GHOST_MS = 700

export type Outcome = { readonly value: unknown } | { readonly error: unknown }

export class Host {
  readonly name: string
  /** The name in sentences. */
  readonly label: string
  readonly disk: Disk
  readonly #cloud: Cloud
  #current: Instance | null = null
  #ghost: { readonly instance: Instance; readonly caller: string } | null = null

  constructor(cloud: Cloud, name: string) {
    this.#cloud = cloud
    this.name = name
    this.label = labelOf(name)
    this.disk = new Disk((write) => 'alarmMs' in write && cloud.ringAt(this, write.alarmMs))
  }

  isCurrent(instance: Instance): boolean {
    return this.#current === instance
  }

  /** A call arrives. */
  receive(caller: string, method: string, argument: unknown, answer: (outcome: Outcome) => void): void {
    const ghost = this.#ghost?.caller === caller ? this.#ghost.instance : null
    const instance = ghost?.machine.process.isAlive ? ghost : this.#running()
    instance.run(method, structuredClone(argument), answer)
  }

  alarm(ended: (isDone: boolean) => void): void {
    this.disk.alarmMs = null
    const instance = this.#running()
    instance.storage.alarmRings()
    instance.run('alarm', undefined, (outcome) => ended('value' in outcome))
  }

  /** The current instance ends, with all that it has in memory. */
  evict(): void {
    this.#current?.machine.process.end()
  }

  /** A new instance takes over, while one caller reaches the old one still. */
  haunt(caller: string): void {
    const instance = this.#current
    if (!instance) return
    this.#current = null
    this.#ghost = { instance, caller }
    this.#cloud.world.runtime.after(GHOST_MS, () => instance.machine.process.end())
  }

  #running(): Instance {
    if (!this.#current?.machine.process.isAlive) this.#current = new Instance(this.#cloud, this)
    return this.#current
  }
}

export class Instance {
  readonly machine: Machine
  readonly storage: Storage
  readonly #host: Host
  readonly #object: object
  /** The callers that wait for an answer. */
  readonly #callers = new Set<(outcome: Outcome) => void>()

  constructor(cloud: Cloud, host: Host) {
    this.#host = host
    this.machine = cloud.machine(host.label, () => this.storage.confirmed())
    this.storage = new Storage(host.disk, () => cloud.confirm(this))
    this.machine.process.onEnd(() => {
      this.storage.close()
      for (const answer of this.#callers) answer({ error: new Error('the object was reset') })
    })
    const { WaitingRoom, TicketShard } = this.machine.edge
    const ctx = {
      id: { name: host.name },
      storage: this.storage,
      waitUntil: (work: Promise<unknown>) => void work.catch(() => {}),
      // The purge of a cache is no part of the line.
      exports: { default: { fetch: async () => ({ ok: true, body: null }) } },
    } as unknown as ConstructorParameters<Edge['WaitingRoom']>[0]
    const Class = host.name.includes('/') ? TicketShard : WaitingRoom
    this.#object = new Class(ctx, cloud.envOf(this.machine))
  }

  isCurrent(): boolean {
    return this.#host.isCurrent(this)
  }

  /** Runs a method; its outcome leaves once all that was written is confirmed. */
  run(method: string, argument: unknown, answer: (outcome: Outcome) => void): void {
    this.#callers.add(answer)
    const leave = async (outcome: Outcome) => {
      await this.storage.confirmed()
      if (this.machine.process.isAlive && this.#callers.delete(answer)) answer(outcome)
    }
    const run = async () => Reflect.apply(Reflect.get(this.#object, method), this.#object, [argument])
    run().then(
      (value) => leave({ value: structuredClone(value) }),
      (error) => leave({ error }),
    )
  }
}

function labelOf(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1)
  if (last === name) return 'the room'
  return isHub(name) || last.startsWith('mirror') ? last.replace('-', ' ') : `shard ${last}`
}
