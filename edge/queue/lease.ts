/**
 * Blocks of ticket numbers on lease. The coordinator leases to the ticket shards, and a shard subleases to the Worker's
 * isolates; each hands numbers out from memory. What is left of a lease when it ends goes back, or is a gap in the queue.
 *
 * No clock is compared with another machine's: a lease states how long it lasts, and its holder counts from the moment of
 * the request wherever being late would matter. So a lease taken before the opening ends before the opening.
 */

/** How long a lease lives, and with one round trip how far two visitors can be out of their order of arrival. */
export const LEASE_MS = 250
/**
 * How long an isolate may hold the numbers of a sublease: it requests few and often, since what it does not use lies among
 * the numbers of others and cannot come back.
 */
export const ISOLATE_LEASE_MS = 80
/** How long after its grant a number of the pre-queue may still be handed out: the lease's life, and the way there. */
export const LAPSE_MS = LEASE_MS + 200
/** Most numbers in one lease: a quarter of a second at 200,000 joins per second. */
export const MAX_LEASE = 50_000

/** The unused end of a lease: `count` numbers from `first` on, up to the lease's last. */
export interface UnusedRange {
  readonly lease: number
  readonly first: number
  readonly count: number
}

/** `count` numbers from `first` on. */
export interface Lease {
  /** Unique among all grants of the same instance. */
  readonly id: number
  readonly first: number
  readonly count: number
  /** How long it lives from the moment it arrives. */
  readonly lives_ms: number
  /** How long after the grant its last number must be out; null when only its life counts. */
  readonly lapses_in_ms: number | null
}

/** Most grants remembered, so that their unused ranges can come back. */
const MAX_GRANTS = 1_000

/**
 * Leases granted. An unused range is taken back once, and only if nothing beyond it was granted since: so no number is
 * handed out twice, and nobody gets a number below one that an earlier visitor got.
 */
export class Grants {
  #id = 0
  readonly #lastOf = new Map<number, number>()

  grant(first: number, count: number): number {
    const id = ++this.#id
    this.#lastOf.set(id, first + count - 1)
    for (const oldest of this.#lastOf.keys()) {
      if (this.#lastOf.size <= MAX_GRANTS) break
      this.#lastOf.delete(oldest)
    }
    return id
  }

  /** The next number to grant once a range came back: its first, or `next` as it was. */
  takeBack({ lease, first, count }: UnusedRange, next: number): number {
    const last = this.#lastOf.get(lease)
    this.#lastOf.delete(lease)
    const isEndOfLease = last === first + count - 1 && count > 0
    return isEndOfLease && next === last + 1 ? first : next
  }
}

/** A lease in hand. */
export class Block {
  readonly #id: number
  readonly #grants = new Grants()
  #isReturned = false
  #next: number
  readonly #last: number
  readonly #beginsAtMs: number
  readonly #endsAtMs: number
  readonly #lapsesAtMs: number | null

  constructor(lease: Lease, requestedAtMs: number, arrivedAtMs: number) {
    this.#id = lease.id
    this.#next = lease.first
    this.#last = lease.first + lease.count - 1
    this.#beginsAtMs = arrivedAtMs
    this.#lapsesAtMs = lease.lapses_in_ms === null ? null : requestedAtMs + lease.lapses_in_ms
    this.#endsAtMs = Math.min(arrivedAtMs + lease.lives_ms, this.#lapsesAtMs ?? Number.MAX_VALUE)
  }

  /** How many numbers may still be handed out. A clock that was put back ends the lease, since its age is not known. */
  left(nowMs: number): number {
    const alive = !this.#isReturned && nowMs >= this.#beginsAtMs && nowMs < this.#endsAtMs
    return alive ? this.#last - this.#next + 1 : 0
  }

  /** Ends the lease; what is unused of it, to be sent back. Null if nothing is. */
  giveBack(): UnusedRange | null {
    const count = this.#last - this.#next + 1
    if (this.#isReturned || count < 1) return null
    this.#isReturned = true
    return { lease: this.#id, first: this.#next, count }
  }

  takeBack(range: UnusedRange): void {
    if (!this.#isReturned) this.#next = this.#grants.takeBack(range, this.#next)
  }

  /** The next number; null when none is left, or the lease has ended. */
  take(nowMs: number): number | null {
    return this.left(nowMs) > 0 ? this.#next++ : null
  }

  /** Leases on at most `count` numbers, for no longer than this block itself lives; null when none are left. */
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

/** How many numbers are taken while a lease lives: what the next lease should hold. */
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

  /** Numbers to request beyond those that callers wait for. */
  forecast(): number {
    return Math.min(MAX_LEASE, Math.ceil(Math.max(this.#count, this.#before)))
  }
}
