/**
 * The intents of one sale: reservations that wait to be recorded. An origin removes an intent once its order is in the
 * ledger; those of an origin that died, or of a time without the ledger, are left to the workers. They are in a hash by
 * order: one command writes those of a whole batch, and each of them is found and removed by itself.
 *
 * An answer about an intent is final only when nobody can read the intent any more. Its state is part of its text, so
 * that each change is one step, and the state is gone with the intent:
 *
 *     own        Only the process that made it acts on it, and may give it back (settle.lua).
 *     promised   Some process has answered 202, or is about to. It becomes an order, or a cancelled one that says why.
 *     taken      A worker or a rebuild has taken it to be recorded. It may be an order at any moment.
 *
 * A promised or taken one is never given back. Who recorded it removes it, and leaves a note for a while (`remove`):
 * a process that cannot reach the ledger still knows that the order exists.
 */
import type { Cluster, Redis } from 'ioredis'
import { assertExists } from '../../shared/lib/assert.ts'
import { cartIn, UNITS_TEXT } from '../ledger/cart.ts'
import type { Reservation } from '../ledger/record.ts'
import { Batcher } from '../lib/batcher.ts'
import { machine, type Runtime } from '../lib/runtime.ts'
import type { Replicas } from './replicas.ts'
import type { Store } from './scripts.ts'

/** Intents read in one command, which blocks Redis for about a millisecond. */
const PAGE = 1_000
/** Callers waiting for one search; more get try-again. */
const MAX_SEARCHES = 5_000
/** Callers waiting for a replica: the most orders that one process may promise at once. */
const MAX_UNSAFE = 20_000
/** Intents removed in one command. */
const REMOVE_CHUNK = 500
/** Recorded intents are removed together, this often. Workers look only at much older ones. */
const REMOVE_EVERY_MS = 25
/**
 * How long a note of a recorded intent stays: buyers ask for an order again and again in the minutes after a promise.
 */
const NOTE_MS = 10 * 60_000

/** An intent as it waits in Redis. */
export interface Intent {
  readonly order: string
  /** Null if the stored text is damaged. */
  readonly reservation: Reservation | null
  readonly stored: string
}

/** The fields of a stored intent that a space ends, in their order; the visitor, which may contain spaces, follows. */
const FIELDS = {
  /** The time with the marks of mark-intents.lua. */
  atMs: /^\d{1,15}p?t?$/,
  quantity: /^\d{1,9}$/,
  /** A product, or the text of a cart. */
  units: UNITS_TEXT,
  key: /^\S+$/,
  hash: /^\S+$/,
  line: /^\S+$/,
  number: /^\d{1,16}$/,
  /** The seller: the sale, to its queue, with the visitor's source if there is one; or the box office. */
  seller: /^(queue(:[a-z0-9._+-]{1,40})?|box-office)$/,
  /** The method, which may be empty, then the charge and the contact if there are any. */
  payment: /^[^\s&@]*(&[\w-]+)?(@[\w-]+)?$/,
}
/** The seller of what has no limits. */
const BOX_OFFICE = 'box-office'
type StoredIntent = Readonly<Record<keyof typeof FIELDS | 'visitor', string>>

/** Reads the text that reserve.lua writes for an intent; null if it is damaged. */
export function readStored(stored: string): StoredIntent | null {
  const fields: Record<string, string> = {}
  let from = 0
  for (const [name, form] of Object.entries(FIELDS)) {
    const to = stored.indexOf(' ', from)
    const text = stored.slice(from, to)
    if (to < 0 || !form.test(text)) return null
    fields[name] = text
    from = to + 1
  }
  const visitor = stored.slice(from)
  return visitor === '' ? null : ({ ...fields, visitor } as StoredIntent)
}

/**
 * The parts of an intent that reserve.lua only stores. A charge has an `&` before it, a contact an `@`, and both no
 * space; they leave Redis with the intent.
 */
export function storedDetails({ line, number, source, isBoxOffice, method, charge, contact }: Reservation): string {
  const seller = isBoxOffice ? BOX_OFFICE : source ? `queue:${source.replaceAll(' ', '+')}` : 'queue'
  const details = `${line} ${number} ${seller} ${method ?? ''}`
  return `${details}${charge ? `&${pack(charge)}` : ''}${contact ? `@${pack(contact)}` : ''}`
}

const pack = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const unpack = (stored: string) => JSON.parse(Buffer.from(stored, 'base64url').toString())

/** A hash, which Redis sends as a list of fields and values. */
export const pairs = (list: readonly string[]) =>
  Array.from(
    { length: list.length / 2 },
    (_, i) => [assertExists(list[2 * i], PAIRED), assertExists(list[2 * i + 1], PAIRED)] as const,
  )
const PAIRED = 'Redis sends each field of a hash with its value.'

/** A stored intent, as far as others may see it. */
export const withoutContact = (stored: string) => stored.replace(/@[\w-]+(?= )/, '')

export class Intents {
  readonly #redis: Store
  readonly #saleId: string
  readonly #unrecorded: string
  readonly #replicas: Replicas
  readonly #runtime: Runtime
  readonly #searches: Batcher<string, Reservation | undefined>
  readonly #unsafe: Batcher<string, boolean>

  constructor(redis: Store, replicas: Replicas, saleId: string, unrecorded: string, runtime = machine) {
    this.#redis = redis
    this.#replicas = replicas
    this.#saleId = saleId
    this.#unrecorded = unrecorded
    this.#runtime = runtime
    const searches = { size: MAX_SEARCHES, queue: MAX_SEARCHES }
    this.#searches = new Batcher(searches, (orders) => this.#search(this.#redis, orders), runtime)
    const unsafe = { size: MAX_SEARCHES, queue: MAX_UNSAFE }
    this.#unsafe = new Batcher(unsafe, (orders) => this.#promiseAll(orders), runtime)
  }

  /**
   * Returns the intents that are at least this old, the oldest first. If there are more than the limit, it returns
   * any of them.
   */
  async read(limit: number, minAgeMs = 0): Promise<Intent[]> {
    const nowMs = minAgeMs === 0 ? 0 : await this.#redis.clockMs(this.#unrecorded)
    // A scan may return an intent twice.
    const found = new Map<string, string>()
    let cursor = '0'
    do {
      const [next, page] = await this.#redis.hscan(this.#unrecorded, cursor, 'COUNT', PAGE)
      for (const [order, stored] of pairs(page)) {
        // Intents ahead of Redis's clock may have any age, since that clock was put back. So may unreadable ones.
        if (!(Math.abs(nowMs - Number.parseInt(stored, 10)) < minAgeMs)) found.set(order, stored)
      }
      cursor = next
    } while (cursor !== '0' && found.size < limit)
    const byTime = [...found].sort(
      ([a, storedA], [b, storedB]) => Number.parseInt(storedA, 10) - Number.parseInt(storedB, 10) || (a < b ? -1 : 1),
    )
    return byTime.slice(0, limit).map(([order, stored]) => this.intent(order, stored))
  }

  /** An intent as it is stored. */
  intent(order: string, stored: string): Intent {
    return { order, stored, reservation: this.#reservationIn(order, stored) }
  }

  /**
   * The reservation of an order. Callers of the same moment share one search. Fails with Overloaded, and as Redis
   * fails.
   */
  find(order: string): Promise<Reservation | undefined> {
    return this.#searches.add(order)
  }

  /**
   * Promises an order: true if its intent is promised in Redis, and on a replica where there is one, or if it was
   * recorded lately. Callers of one moment share each WAIT. Fails with Overloaded, and as Redis fails.
   */
  promise(order: string): Promise<boolean> {
    return this.#unsafe.add(order)
  }

  async #promiseAll(orders: readonly string[]): Promise<boolean[]> {
    const written = `${this.#unrecorded}:replicated`
    // Before the mark: what no replica has can still be given back.
    await this.#replicas.caughtUp(written)
    await this.#redis.markIntents(this.#unrecorded, 'promised', ...orders)
    const node = await this.#replicas.caughtUp(written)
    // A failover may have lost the intent.
    return (await this.#search(node, orders)).map((intent) => intent !== undefined)
  }

  /** Takes intents to be recorded: from now on nobody gives them back. Returns those that are still there. */
  async take(intents: readonly Intent[]): Promise<Intent[]> {
    if (intents.length === 0) return []
    const orders = intents.map(({ order }) => order)
    const stored = await this.#redis.markIntents(this.#unrecorded, 'taken', ...orders)
    return intents.filter((_, i) => typeof stored[i] === 'string')
  }

  /** Searches the waiting intents, and those that were recorded lately. */
  async #search(redis: Redis | Cluster, orders: readonly string[]): Promise<(Reservation | undefined)[]> {
    const waiting = await redis.hmget(this.#unrecorded, ...orders)
    const gone = orders.filter((_, i) => waiting[i] == null)
    const notes = gone.length > 0 ? await redis.mget(gone.map((order) => this.#noteKey(order))) : []
    const noted = new Map(gone.map((order, i) => [order, notes[i]]))
    return orders.map((order, i) => {
      const stored = waiting[i] ?? noted.get(order)
      return (stored && this.#reservationIn(order, stored)) || undefined
    })
  }

  readonly #noteKey = (order: string) => `${this.#unrecorded}:recorded:${order}`

  count(): Promise<number> {
    return this.#redis.hlen(this.#unrecorded)
  }

  /**
   * Removes intents that others than their processes have recorded, or refused for good, and notes them for those
   * processes.
   */
  async remove(intents: readonly Pick<Intent, 'order' | 'stored'>[]): Promise<void> {
    for (let at = 0; at < intents.length; at += REMOVE_CHUNK) {
      const chunk = intents.slice(at, at + REMOVE_CHUNK)
      const commands = this.#redis.multi()
      for (const { order, stored } of chunk) commands.set(this.#noteKey(order), withoutContact(stored), 'PX', NOTE_MS)
      await commands.hdel(this.#unrecorded, ...chunk.map(({ order }) => order)).exec()
    }
  }

  /**
   * Removes an intent that its own process has recorded, soon, together with others. Losing this is harmless: a
   * worker finds the order recorded.
   */
  removeSoon(order: string): void {
    this.#recorded.push(order)
    if (this.#isRemoving) return
    this.#isRemoving = true
    this.#runtime.after(REMOVE_EVERY_MS, () => {
      this.#isRemoving = false
      const orders = this.#recorded.splice(0)
      for (let at = 0; at < orders.length; at += REMOVE_CHUNK)
        this.#redis.hdel(this.#unrecorded, ...orders.slice(at, at + REMOVE_CHUNK)).catch(() => {})
    })
  }
  readonly #recorded: string[] = []
  #isRemoving = false

  #reservationIn(order: string, stored: string): Reservation | null {
    const fields = readStored(stored)
    if (!fields) return null
    const { quantity, units, key, hash, line, number, seller, payment, visitor } = fields
    const [withCharge, contact] = payment.split('@')
    const [method, charge] = assertExists(withCharge, 'A stored payment has a method, or an empty one.').split('&')
    const cart = cartIn(units)
    const [, source] = seller.split(':')
    return {
      order,
      sale: this.#saleId,
      product: cart?.[0]?.product ?? units,
      ...(cart && { cart }),
      visitor,
      line,
      key,
      hash,
      number: Number(number),
      ...(source && { source: source.replaceAll('+', ' ') }),
      ...(seller === BOX_OFFICE && { isBoxOffice: true }),
      quantity: Number(quantity),
      method: method || null,
      ...(charge && { charge: unpack(charge) }),
      ...(contact && { contact: unpack(contact) }),
    }
  }
}
