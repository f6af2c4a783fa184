/**
 * Blocks of ticket numbers on lease. The coordinator leases to the ticket shards, and a shard subleases to the
 * Worker's isolates; each hands numbers out from memory. What is left of a lease when it ends goes back, or is a gap
 * in the queue.
 *
 * No clock is compared with another machine's: a lease states how long it lasts, and its holder counts from the
 * moment of the request wherever being late would matter. So a lease taken before the opening ends before the
 * opening.
 */

/**
 * The life of a ticket shard's lease. With one round trip, it bounds how far two visitors can be out of their order
 * of arrival.
 */
export const LEASE_MS = 250
/**
 * The life of a hub's lease, and the same bound where shards lease from hubs (tree.ts). A hub leases on in the first
 * LEASE_MS.
 */
export const HUB_LEASE_MS = 2 * LEASE_MS
/**
 * How long an isolate may hold the numbers of a sublease, except in a crowd (IsolateDemand): it requests few and
 * often, since what it does not use lies among the numbers of others and cannot come back.
 */
export const ISOLATE_LEASE_MS = 80
/** How long after its grant a number of the pre-queue may still be handed out: the lease's life, and the way there. */
export const LAPSE_MS = LEASE_MS + 200
/** The limit of numbers in one lease: a quarter of a second at 200,000 joins per second. */
export const MAX_LEASE = 50_000

/** The unused end of a lease: `count` numbers from `first` on, up to the lease's last. */
export interface UnusedRange {
  readonly lease: number
  readonly first: number
  readonly count: number
}

/** `count` numbers from `first` on. */
export interface Lease {
  /** No other grant of the same numbers has it (Grants). */
  readonly id: number
  readonly first: number
  readonly count: number
  /** How long it lives from the moment it arrives. */
  readonly lives_ms: number
  /** How long after the grant its last number must be out; null when only its life counts. */
  readonly lapses_in_ms: number | null
}

/** Ids stay exact integers for any number of grants. */
const MAX_FIRST_ID = 2 ** 52
/** The limit of remembered grants, whose unused ranges can be returned. */
const MAX_GRANTS = 1_000

/**
 * Leases granted. An unused range is taken back once, and only if nothing beyond it was granted since: so no number is
 * handed out twice, and nobody gets a number below one that an earlier visitor got.
 */
export class Grants {
  /**
   * Each block, and each instance of the waiting room, begins at a random id: a range that comes back for the second
   * time, when its numbers are on lease again, must match no grant of theirs.
   */
  #id = Math.floor(Math.random() * MAX_FIRST_ID)
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

/**
 * What a lease in hand allows:
 *
 *     live       numbers are handed out and leased on, as long as any are left
 *     over       its time has ended, or the clock was put back: nothing but to give back what is unused
 *     returned   the unused range has gone back, and belongs to others by now
 *
 * Time alone makes a live one over (and a clock that comes forward again, an over one live); giveBack makes it
 * returned, for good.
 */
type BlockState = 'live' | 'over' | 'returned'

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
    switch (this.#state(nowMs)) {
      case 'live':
        return this.#last - this.#next + 1
      case 'over':
      case 'returned':
        return 0
    }
  }

  #state(nowMs: number): BlockState {
    if (this.#isReturned) return 'returned'
    return nowMs >= this.#beginsAtMs && nowMs < this.#endsAtMs ? 'live' : 'over'
  }

  /** Makes the lease returned, and returns what is unused of it, to be sent back. Null if nothing is: it stays. */
  giveBack(): UnusedRange | null {
    const count = this.#last - this.#next + 1
    if (this.#isReturned || count < 1) return null
    this.#isReturned = true
    return { lease: this.#id, first: this.#next, count }
  }

  /** A sublease that came back; it is too late once this lease itself is returned. */
  takeBack(range: UnusedRange): void {
    if (!this.#isReturned) this.#next = this.#grants.takeBack(range, this.#next)
  }

  /** The next number; null when none is left, or the lease has ended. */
  take(nowMs: number): number | null {
    return this.left(nowMs) > 0 ? this.#next++ : null
  }

  /**
   * Leases on up to `count` numbers for `forMs`. Where this block itself lives shorter, as much fewer: the holder
   * could not use the others. Null when none are left, and after LEASE_MS: what a hub leases on lives as long as any
   * shard's lease.
   */
  sublease(count: number, forMs: number, nowMs: number): Lease | null {
    if (nowMs - this.#beginsAtMs >= LEASE_MS) return null
    const lives_ms = Math.min(forMs, this.#endsAtMs - nowMs)
    const granted = Math.min(Math.ceil((count * lives_ms) / forMs), this.left(nowMs))
    if (granted < 1) return null
    const first = this.#next
    this.#next += granted
    return {
      id: this.#grants.grant(first, granted),
      first,
      count: granted,
      lives_ms,
      lapses_in_ms: this.#lapsesAtMs === null ? null : this.#lapsesAtMs - nowMs,
    }
  }
}

/** The part of a lease's life that tells whether a crowd has just come. */
const JUST_NOW = 1 / 8

/** How many numbers are taken while a lease lives: what the next lease should hold. */
export class Demand {
  readonly #lately: Rate
  readonly #justNow: Rate

  constructor(windowMs: number) {
    this.#lately = new Rate(windowMs, 1)
    this.#justNow = new Rate(windowMs, JUST_NOW)
  }

  add(count: number, nowMs: number) {
    this.#lately.add(count, nowMs)
    this.#justNow.add(count, nowMs)
  }

  /**
   * Numbers to request, if callers do not wait for more: what is expected less what it may vary by (a standard
   * deviation). One more request now and then costs less than numbers that nobody gets. When a crowd comes at once,
   * half of it is trusted at once, less what chance alone may bring.
   */
  forecast(nowMs: number): number {
    const [lately, justNow] = [this.#lately.at(nowMs), this.#justNow.at(nowMs)]
    const expected = Math.max(lately - Math.sqrt(lately), justNow / 2 - 2 * Math.sqrt(justNow))
    return Math.min(MAX_LEASE, Math.max(1, Math.round(expected)))
  }
}

/**
 * With this many joins in the life of a long lease, their number can be forecast, so that few numbers become gaps.
 */
const CROWD = 50

/** What an isolate requests next. */
export class IsolateDemand {
  readonly #short = new Demand(ISOLATE_LEASE_MS)
  readonly #long = new Demand(LEASE_MS)

  add(count: number, nowMs: number) {
    this.#short.add(count, nowMs)
    this.#long.add(count, nowMs)
  }

  /**
   * The next lease, with so many people waiting. Where leases of a crowd are on their way for longer than they live,
   * as on a busy machine, everybody would wait for one: then it lives for as long as the shard's own, and is for
   * those who come next as well.
   */
  lease(waiting: number, tripMs: number, nowMs: number): { count: number; for_ms: number } {
    const coming = this.#long.forecast(nowMs)
    return tripMs > ISOLATE_LEASE_MS && coming >= CROWD
      ? { for_ms: LEASE_MS, count: waiting + coming }
      : { for_ms: ISOLATE_LEASE_MS, count: Math.max(waiting, this.#short.forecast(nowMs)) }
  }
}

/** A count in one window, of which what is long ago counts the less. */
class Rate {
  readonly #windowMs: number
  readonly #part: number
  #count = 0
  #atMs = 0

  constructor(windowMs: number, part: number) {
    this.#windowMs = windowMs
    this.#part = part
  }

  add(count: number, nowMs: number) {
    this.#count = this.at(nowMs) + count / this.#part
    this.#atMs = nowMs
  }

  /** A clock that was put back says nothing. */
  at(nowMs: number): number {
    const elapsedMs = nowMs - this.#atMs
    return elapsedMs < 0 ? 0 : this.#count * Math.exp(-elapsedMs / (this.#windowMs * this.#part))
  }
}
