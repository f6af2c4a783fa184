/** The visitors of the line's world, and the isolates that serve them. */
import type { SaleNow } from '../../../edge/queue/sale-cache.ts'
import { PUBLIC_LINE } from '../../../shared/api/access.ts'
import type { Cloud, Machine } from './cloud.ts'
import type { Judge } from './judge.ts'
import type { Setting } from './order.ts'
import { SALE, type Shop } from './shop.ts'

/** A visitor who was asked to try again does so after this. */
const TRY_AGAIN_MS = 300
/** A visitor comes to the checkout so long after they saw their turn, and pays so long after that. */
const ARRIVES_AFTER_MS = 50
const PAYS_AFTER_MS = 600

export class Visitors {
  readonly #cloud: Cloud
  readonly #shop: Shop
  readonly #judge: Judge
  readonly #setting: Setting
  readonly #isolates: (Machine | undefined)[] = []
  #begun = 0
  /** The number of each visitor, and who has come to the checkout. */
  readonly #numbers = new Map<string, number>()
  readonly #arrived = new Set<number>()
  readonly #asking = new Set<string>()

  constructor(cloud: Cloud, shop: Shop, judge: Judge, setting: Setting) {
    this.#cloud = cloud
    this.#shop = shop
    this.#judge = judge
    this.#setting = setting
  }

  #isolate(index: number): Machine {
    const found = this.#isolates[index % this.#setting.isolates]
    if (found?.process.isAlive) return found
    const machine = this.#cloud.machine(`isolate ${index % this.#setting.isolates}`)
    this.#isolates[index % this.#setting.isolates] = machine
    this.#memories.set(machine, `isolate ${index} (${++this.#begun})`)
    return machine
  }

  /** The names of isolates' memories. */
  readonly #memories = new Map<Machine, string>()

  #contextOf(machine: Machine) {
    const waitUntil = (work: Promise<unknown>) => void work.catch(() => {})
    return {
      env: this.#cloud.envOf(machine),
      ctx: { waitUntil },
      config: { TICKET_SHARDS: this.#setting.shards },
    }
  }

  endIsolate(index: number): void {
    this.#isolates[index % this.#setting.isolates]?.process.end()
  }

  /** Joins, again and again until there is a number. */
  join(visitor: string, index: number): void {
    this.#asking.add(visitor)
    void this.#join(visitor, index).then((isTold) => {
      if (isTold) this.#asking.delete(visitor)
      else this.#cloud.world.runtime.after(TRY_AGAIN_MS, () => this.join(visitor, index + 1))
    })
  }

  /** The visitors who have asked for a number and have none. */
  asking(): readonly string[] {
    return [...this.#asking]
  }

  async #join(visitor: string, index: number): Promise<boolean> {
    const beganMs = this.#cloud.nowMs
    const machine = this.#isolate(index)
    const context = this.#contextOf(machine)
    const { readSale, takeNumber } = machine.edge
    const taken = await machine.process.ask(async () => {
      const now = await readSale(SALE, PUBLIC_LINE, context)
      if (typeof now === 'string') return now
      const known = visitor.startsWith('known') ? { name: visitor, paidWith: undefined, missed: null } : null
      return takeNumber(now, known, context)
    })
    if (typeof taken === 'string' || taken === undefined) return false
    const { number, first } = taken
    this.#numbers.set(visitor, number)
    this.#judge.told({ visitor, number, isFirst: first, beganMs, atMs: this.#cloud.nowMs })
    return true
  }

  leave(visitor: string, index: number): void {
    const number = this.#numbers.get(visitor)
    if (number === undefined) return
    this.#numbers.delete(visitor)
    this.#judge.left(visitor)
    const machine = this.#isolate(index)
    const context = this.#contextOf(machine)
    void machine.process.ask(async () => {
      const now = await machine.edge.readSale(SALE, PUBLIC_LINE, context)
      if (typeof now !== 'string') await machine.edge.giveUpPlace(now, visitor, number, context)
    })
  }

  /** The origin tells an isolate that something has changed. */
  notify(): void {
    const machine = this.#isolate(0)
    const { roomOf, withRetries, storeSnapshot } = machine.edge
    const sentMs = this.#cloud.clockOf(machine.name)
    void machine.process.ask(async () => {
      const response = await withRetries(() => roomOf(SALE, this.#cloud.envOf(machine)).refresh(SALE))
      if (response?.known) storeSnapshot(SALE, response.snapshot, sentMs)
    })
  }

  lookEvery(index: number, everyMs: number): void {
    void this.#look(index)
    this.#cloud.world.runtime.after(everyMs, () => this.lookEvery(index, everyMs))
  }

  /** All visitors look at their places. */
  async #look(index: number): Promise<void> {
    const machine = this.#isolate(index)
    const now = await machine.process.ask(() => machine.edge.readSale(SALE, PUBLIC_LINE, this.#contextOf(machine)))
    if (typeof now === 'object') for (const number of this.#numbers.values()) this.#sees(machine, now, number)
  }

  #sees(machine: Machine, now: SaleNow, number: number): void {
    const place = now.place(number)
    const { nowMs } = this.#cloud
    const isolate = this.#memories.get(machine) ?? ''
    this.#judge.seen({ isolate, number, place, schedule: now.schedule, atMs: nowMs, roomMs: now.atMs })
    if (place.status !== 'ready' || this.#arrived.has(number)) return
    this.#arrived.add(number)
    const { after } = this.#cloud.world.runtime
    after(ARRIVES_AFTER_MS, () => {
      if (!this.#shop.arrive(number)) return
      // Every third gives the unit back.
      after(PAYS_AFTER_MS, () => (number % 3 === 0 ? this.#shop.giveBack() : this.#shop.pay()))
    })
  }
}
