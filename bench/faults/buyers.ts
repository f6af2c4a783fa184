/**
 * The buyers of the fault test. Each lives once: buys under one idempotency key, trying again for as long as it hears
 * "later" or nothing at all, then pays, gives back or walks away, and writes down what it was told. What was told is
 * what is held against the ledger in the end.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TortureSystem } from './system.ts'

export const LIMIT_PER_VISITOR = 2
/** Tries of one call before a buyer gives up: more than any outage here lasts. */
const MAX_TRIES = 40
/** How often somebody who hears "all in carts" asks again. */
const MAX_WAITS_FOR_STOCK = 3
/** Looks at an order of a buyer who waits to see what becomes of it. */
const MAX_LOOKS = 12
const PATIENCE_MS = 6_000
/** Some hang up almost at once, and ask again. */
const IMPATIENCE_MS = 60

/** What buyers do once they have an order, and how often. `pm_` means paying with it. */
export const INTENTIONS = {
  pm_ok: 34,
  pm_declined: 10,
  pm_flaky: 12,
  pm_timeout: 7,
  pm_webhook_twice: 12,
  cancel: 12,
  abandon: 13,
} as const
type Intention = keyof typeof INTENTIONS

/** What one order's buyer was told of it, in the order in which answers came. */
export interface Told {
  readonly visitor: string
  readonly statuses: string[]
}

/** What all buyers of a sale were told. */
export class Notebook {
  readonly orders = new Map<string, Told>()
  /** Told to be on their way (202), and not yet told what became of it: orders by visitor and key. */
  readonly promised = new Map<string, string>()
  /** How many were, at any time; and how many of them another answer took the place of: another order, or none to be had. */
  promises = 0
  superseded = 0
  readonly answers = new Map<string, number>()
  readonly faults: string[] = []
  readonly #byKey = new Map<string, string>()

  count(what: string): void {
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1)
  }

  fault(what: string): void {
    this.faults.push(what)
  }

  told(visitor: string, order: string, status: string): void {
    const known = this.orders.get(order)
    if (!known) this.orders.set(order, { visitor, statuses: [status] })
    else if (known.statuses.at(-1) !== status) known.statuses.push(status)
  }

  onItsWay(visitor: string, key: string, order: string): void {
    const name = `${visitor} ${key}`
    if (!this.promised.has(name)) this.promises++
    this.promised.set(name, order)
  }

  /** A key's answer for good: its order, or null if there is none for it. */
  settled(visitor: string, key: string, order: string | null): void {
    const name = `${visitor} ${key}`
    const promised = this.promised.get(name)
    if (promised === undefined) return
    this.promised.delete(name)
    if (promised !== order) this.superseded++
  }

  /** One key has one order. */
  created(visitor: string, key: string, order: string): void {
    const name = `${visitor} ${key}`
    const before = this.#byKey.get(name) ?? order
    if (before !== order) this.fault(`one key, two orders: ${before} and ${order}`)
    this.#byKey.set(name, before)
  }
}

interface Answer {
  /** 0 when there was none. */
  readonly status: number
  readonly body: { order_id?: string; status?: string; type?: string }
}

export interface Scene {
  readonly system: TortureSystem
  readonly sale: string
  readonly notes: Notebook
  /** True once no more is to be begun. */
  over(): boolean
}

/** Lives one life after another until the scene is over. */
export async function play(scene: Scene, rng: () => number): Promise<void> {
  while (!scene.over()) {
    await new Life(scene, rng).live()
    await sleep(50 + rng() * 300)
  }
}

class Life {
  readonly #scene: Scene
  readonly #rng: () => number
  readonly #visitor = randomUUID()
  #token = ''

  constructor(scene: Scene, rng: () => number) {
    this.#scene = scene
    this.#rng = rng
  }

  async live(): Promise<void> {
    const { system, sale } = this.#scene
    this.#token = await system.token(sale, this.#visitor)
    const intention = this.#intention()
    const pays = intention.startsWith('pm_')
    const withCheckout = pays && this.#rng() < 0.3
    const body = {
      product_id: this.#rng() < 0.6 ? 'one' : 'two',
      quantity: this.#rng() < 0.2 ? 2 : 1,
      ...(withCheckout && { payment_method: intention }),
    }
    const key = `key-${randomUUID()}`
    const twice = this.#rng() < 0.1
    const greedy = this.#rng() < 0.08
    const [order] = await Promise.all([
      this.#buy(body, key),
      twice ? this.#buy(body, key) : undefined,
      greedy ? this.#buy({ ...body, quantity: LIMIT_PER_VISITOR }, `key-${randomUUID()}`) : undefined,
    ])
    if (!order) return
    if (intention === 'cancel') await this.#change('DELETE', `/orders/${order}`, order)
    else if (pays && !withCheckout) {
      await this.#change('POST', `/orders/${order}/payment`, order, { payment_method: intention })
    }
    if (this.#rng() < 0.5) await this.#watch(order)
  }

  #intention(): Intention {
    const all = Object.entries(INTENTIONS) as [Intention, number][]
    let left = this.#rng() * all.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [intention, weight] of all) {
      left -= weight
      if (left < 0) return intention
    }
    return 'abandon'
  }

  /** The order this buyer has in the end, if any. */
  async #buy(body: { readonly quantity: number }, key: string): Promise<string | undefined> {
    const { sale, notes } = this.#scene
    let waits = 0
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const answer = await this.#call('POST', `/sales/${sale}/checkout`, body, { 'idempotency-key': key })
      const { order_id: order = '', status = '' } = answer.body
      notes.count(`checkout ${answer.status}`)
      switch (answer.status) {
        case 201:
          notes.created(this.#visitor, key, order)
          notes.told(this.#visitor, order, status)
          notes.settled(this.#visitor, key, order)
          return order
        case 200:
          notes.told(this.#visitor, order, status)
          notes.settled(this.#visitor, key, order)
          return order
        case 202:
          notes.onItsWay(this.#visitor, key, order)
          break
        case 409:
          if (waits++ < MAX_WAITS_FOR_STOCK) break
          notes.settled(this.#visitor, key, null)
          return undefined
        case 410:
          notes.settled(this.#visitor, key, null)
          return undefined
        case 422:
          // More were wanted than can still be had. One always can be wanted.
          if (body.quantity === 1) notes.fault('one unit was said to be more than can be had')
          notes.settled(this.#visitor, key, null)
          return undefined
        case 503:
        case 0:
          break
        default:
          notes.fault(`checkout answered ${answer.status} ${answer.body.type ?? ''}`)
          return undefined
      }
      await sleep(100 + this.#rng() * 600)
    }
    return undefined
  }

  /** Pays or gives back: until there is an answer that says what the order is. */
  async #change(method: string, path: string, order: string, body?: object): Promise<void> {
    const { notes } = this.#scene
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const answer = await this.#call(method, path, body)
      notes.count(`${method === 'DELETE' ? 'cancel' : 'pay'} ${answer.status}`)
      if (answer.status === 200 || answer.status === 202) {
        if (answer.body.status) notes.told(this.#visitor, order, answer.body.status)
        return
      }
      // The order is over, or is being paid: whichever, it stays with that.
      if (answer.status === 409) return
      if (answer.status !== 503 && answer.status !== 0) {
        notes.fault(`${method} of order ${order} answered ${answer.status} ${answer.body.type ?? ''}`)
        return
      }
      await sleep(100 + this.#rng() * 500)
    }
  }

  async #watch(order: string): Promise<void> {
    const { notes } = this.#scene
    for (let looks = 0; looks < MAX_LOOKS && !this.#scene.over(); looks++) {
      const answer = await this.#call('GET', `/orders/${order}`)
      notes.count(`look ${answer.status}`)
      if (answer.status === 200 && answer.body.status) {
        const { status } = answer.body
        notes.told(this.#visitor, order, status)
        if (/^(confirmed|expired|cancelled)$/.test(status)) return
      } else if (answer.status !== 503 && answer.status !== 0) {
        notes.fault(`a look at order ${order} answered ${answer.status} ${answer.body.type ?? ''}`)
        return
      }
      await sleep(200 + this.#rng() * 600)
    }
  }

  async #call(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    try {
      const response = await fetch(this.#scene.system.url + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(this.#rng() < 0.05 ? IMPATIENCE_MS : PATIENCE_MS),
      })
      return { status: response.status, body: (await response.json()) as Answer['body'] }
    } catch {
      return { status: 0, body: {} }
    }
  }
}
