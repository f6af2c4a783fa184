/**
 * Blocks of ticket numbers on lease. The coordinator leases to the ticket shards, a shard leases on to the Worker's
 * isolates; each hands numbers out from memory, and what is left of a lease when it ends is a gap in the line.
 *
 * No clock is compared with another machine's: a lease says how long it lasts, and whoever takes it counts from the
 * moment of asking wherever being late would matter. So a lease taken before the opening ends before the opening.
 */

/** How long a lease lives, and with one round trip how far two visitors can be out of their order of arrival. */
export const LEASE_MS = 250
/**
 * How long an isolate may hold numbers that a shard leased on to it: it asks often for few, since what is left of its
 * lease lies among the numbers of others and cannot come back.
 */
export const ISOLATE_LEASE_MS = 80
/** How long after it was granted a number of the pre-queue may still be handed out: its life, and the way there. */
export const LAPSE_MS = LEASE_MS + 200
/** Most numbers in one lease: a quarter of a second at 200,000 joins per second. */
export const MAX_LEASE = 50_000

/** The end of a lease that was not used, given back: `count` numbers from `first` on, up to the lease's last. */
export interface Rest {
  readonly lease: number
  readonly first: number
  readonly count: number
}

/** What travels: `count` numbers from `first` on. */
export interface Lease {
  /** Names it among all that were granted by the same instance; absent from a neighbouring version. */
  readonly id?: number
  readonly first: number
  readonly count: number
  /** How long it lives from the moment it arrives. */
  readonly lives_ms: number
  /** How long after it was granted its last number must be out; null when only its life counts. */
  readonly lapses_in_ms: number | null
}

/** Grants remembered, so that their rests can come back. */
const MAX_GRANTS = 1_000

/**
 * Leases granted, and what comes back of them. A rest is taken back once, and only if nothing beyond it was granted
 * since: so no number can be out twice, and none is handed to someone who came after a higher one was given.
 */
export class Grants {
  #id = 0
  readonly #lastOf = new Map<number, number>()

  /** Names a new lease of `count` numbers from `first` on. */
  grant(first: number, count: number): number {
    const id = ++this.#id
    this.#lastOf.set(id, first + count - 1)
    for (const oldest of this.#lastOf.keys()) {
      if (this.#lastOf.size <= MAX_GRANTS) break
      this.#lastOf.delete(oldest)
    }
    return id
  }

  /** The next number to grant after a rest came back: its first, or `next` as it was. */
  takeBack({ lease, first, count }: Rest, next: number): number {
    const last = this.#lastOf.get(lease)
    this.#lastOf.delete(lease)
    const isItsEnd = last === first + count - 1 && count > 0
    return isItsEnd && next === last + 1 ? first : next
  }
}

/** A lease in hand. */
export class Block {
  readonly #id: number | undefined
  readonly #grants = new Grants()
  #givenBack = false
  #next: number
  readonly #last: number
  readonly #beginsAtMs: number
  readonly #endsAtMs: number
  readonly #lapsesAtMs: number | null

  constructor(lease: Lease, askedAtMs: number, arrivedAtMs: number) {
    this.#id = lease.id
    this.#next = lease.first
    this.#last = lease.first + lease.count - 1
    this.#beginsAtMs = arrivedAtMs
    this.#lapsesAtMs = lease.lapses_in_ms === null ? null : askedAtMs + lease.lapses_in_ms
    this.#endsAtMs = Math.min(arrivedAtMs + lease.lives_ms, this.#lapsesAtMs ?? Number.MAX_VALUE)
  }

  /** Numbers that may still be handed out. A clock that was put back ends the lease, since its age is not known. */
  left(nowMs: number): number {
    const alive = !this.#givenBack && nowMs >= this.#beginsAtMs && nowMs < this.#endsAtMs
    return alive ? this.#last - this.#next + 1 : 0
  }

  /** What is left of it, to be given back: from here on nothing is handed out any more. Null if nothing is. */
  giveBack(): Rest | null {
    const count = this.#last - this.#next + 1
    if (this.#givenBack || this.#id === undefined || count < 1) return null
    this.#givenBack = true
    return { lease: this.#id, first: this.#next, count }
  }

  /** The end of a lease that was made from this one comes back. */
  takeBack(rest: Rest): void {
    if (!this.#givenBack) this.#next = this.#grants.takeBack(rest, this.#next)
  }

  /** The next number; null when there is none left, or the lease has ended. */
  take(nowMs: number): number | null {
    return this.left(nowMs) > 0 ? this.#next++ : null
  }

  /** Leases on at most `count` numbers, for no longer than this block itself lives; null when there are none left. */
  sublease(count: number, nowMs: number): Lease | null {
    const granted = Math.min(count, this.left(nowMs))
    if (granted < 1) return null
    const first = this.#next
    this.#next += granted
    return {
      id: this.#grants.grant(first, granted),
      first,
      count: granted,
      lives_ms: Math.min(ISOLATE_LEASE_MS, this.#endsAtMs - nowMs),
      lapses_in_ms: this.#lapsesAtMs === null ? null : this.#lapsesAtMs - nowMs,
    }
  }
}

/** How many numbers are asked for in the time that a lease lives: what the next lease should hold. */
export class Demand {
  readonly #windowMs: number
  #since = 0
  #count = 0
  #before = 0

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  add(count: number, nowMs: number) {
    const elapsedMs = nowMs - this.#since
    if (elapsedMs >= this.#windowMs || elapsedMs < 0) {
      this.#before = elapsedMs < 0 ? 0 : (this.#count * this.#windowMs) / elapsedMs
      this.#since = nowMs
      this.#count = 0
    }
    this.#count += count
  }

  /** Numbers to ask for beyond those already waited for. */
  forecast(): number {
    return Math.min(MAX_LEASE, Math.ceil(Math.max(this.#count, this.#before)))
  }
}
