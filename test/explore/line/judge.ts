/**
 * The model of the line's promises. It reads what visitors, isolates and the origin were told, and knows nothing of
 * leases, shards or storage.
 */
import { commitmentOf } from '../../../shared/draw.ts'
import { isFinal, type Schedule } from '../../../shared/schedule.ts'
import {
  type Bounds,
  longestMs,
  type Published,
  type Seen,
  servingAt,
  type Timeline,
  type Told,
  type Trip,
} from './told.ts'

/** With turns of at least so long nobody counts as a no-show within an order. */
const SETTLES_MS = 20_000

export class Judge {
  /** The first promise that was broken, and how. */
  broken: string | null = null
  readonly #bounds: Bounds
  readonly #told: Told[] = []
  readonly #holders = new Map<number, string>()
  readonly #numbers = new Map<string, number>()
  readonly #leavers = new Set<string>()
  readonly #positions = new Map<number, number>()
  readonly #numberAt = new Map<number, number>()
  readonly #served = new Map<string, number>()
  #draw: { readonly commitment: string; seed?: string; size: number; sinceMs: number } | null = null
  readonly #published: Published[] = []
  #mostCalled = 0
  #isOver = false
  readonly #trips: Trip[] = []
  /** The sums of all steps back of clocks, and of all steps. */
  putBackMs = 0
  clockMs = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  #must(holds: boolean, promise: string, how: () => string): void {
    if (!holds) this.broken ??= `${promise}: ${how()}`
  }

  failed(error: Error): void {
    this.#must(false, 'no state is impossible', () => error.message)
  }

  told(told: Told): void {
    const { visitor, number } = told
    const [holder = visitor, had = number] = [this.#holders.get(number), this.#numbers.get(visitor)]
    this.#must(holder === visitor, 'a number is unique', () => `${holder} and ${visitor} both have ${number}`)
    const isSame = had === number || this.#leavers.has(visitor)
    this.#must(isSame, 'a place is never lost', () => `${visitor} had number ${had}, and has ${number} now`)
    this.#holders.set(number, visitor)
    this.#numbers.set(visitor, number)
    if (told.isFirst) this.#told.push(told)
  }

  leased(trip: Trip): void {
    this.#trips.push(trip)
  }

  /** A visitor who has left may get a new number; nobody else gets the old one. */
  left(visitor: string): void {
    this.#leavers.add(visitor)
  }

  stock({ available, arrivals }: { readonly available: number; readonly arrivals: number }): void {
    this.#mostCalled = Math.max(this.#mostCalled, arrivals + this.#bounds.admissionsPerUnit * available)
  }

  #drawn({ draw_commitment, draw_seed, pre_queue_size: size, phase }: Schedule, atMs: number): void {
    this.#isOver = isFinal(phase)
    this.#draw ??= { commitment: draw_commitment, size: 0, sinceMs: 0 }
    const { commitment, seed } = this.#draw
    const isKept = draw_commitment === commitment && (draw_seed === null || commitmentOf(draw_seed) === commitment)
    this.#must(isKept, 'the draw is the one that was committed to', () => 'another commitment or seed')
    if (draw_seed !== null && seed === undefined) this.#draw = { ...this.#draw, seed: draw_seed, size, sinceMs: atMs }
  }

  seen({ isolate, number, place, schedule, atMs, roomMs }: Seen): void {
    this.#drawn(schedule, atMs)
    const { position, now_serving, status } = place
    const served = this.#served.get(isolate) ?? 0
    this.#must(now_serving >= served, 'nobody moves back', () => `${isolate} from ${served} to ${now_serving}`)
    this.#served.set(isolate, now_serving)
    const { timeline = [] } = this.#published.at(-1) ?? {}
    const isKnown = this.clockMs === 0 && roomMs >= (timeline[0]?.from_ms ?? Number.POSITIVE_INFINITY)
    const called = isKnown ? servingAt(timeline, roomMs) : now_serving
    const ahead = () => `${isolate} called up to ${now_serving}, and the room up to ${called}`
    this.#must(now_serving <= called, 'no isolate is ahead of the room', ahead)
    if (position === null) return
    const [known = position, other = number] = [this.#positions.get(number), this.#numberAt.get(position)]
    this.#must(known === position, 'a position never changes', () => `${number} was at ${known}, is at ${position}`)
    this.#must(other === number, 'a position is unique', () => `${other} and ${number} are both at ${position}`)
    this.#positions.set(number, position)
    this.#numberAt.set(position, number)
    if (status !== 'missed_turn') return
    const hadMs = roomMs - (this.#published.findLast(({ serving }) => serving < position)?.atMs ?? 0) + this.clockMs
    this.#must(hadMs >= this.#bounds.claimMs, 'a turn lasts its time', () => `number ${number} had ${hadMs} ms`)
  }

  /** The room published a timeline; `atMs` is on its own clock. */
  published(timeline: Timeline, atMs: number): void {
    const last = timeline.at(-1)?.schedule
    const before = this.#published.at(-1)
    // An answer that was overtaken tells nothing.
    if (!last || (before && (last.version < before.version || atMs < before.atMs))) return
    const { server_time_ms: _, version, ...content } = last
    const now = { version, text: JSON.stringify(content), timeline, serving: servingAt(timeline, atMs), atMs }
    this.#published.push(now)
    const { ratePerSecond, claimMs } = this.#bounds
    if (before) {
      const isSame = version !== before.version || now.text === before.text
      this.#must(isSame, 'a version tells one thing', () => `version ${version}`)
      const [rose, seconds] = [now.serving - before.serving, (atMs - before.atMs + this.clockMs) / 1000]
      this.#must(rose >= 0, 'nobody moves back', () => `the room from ${before.serving} to ${now.serving}`)
      this.#must(rose <= ratePerSecond * seconds + 1, 'the rate has a bound', () => `${rose} within ${seconds} s`)
    }
    const most = Math.max(this.#mostCalled, now.serving)
    const isBounded = last.phase !== 'open' || claimMs < SETTLES_MS || last.ceiling <= most
    const more = () => `up to ${last.ceiling}, where ${this.#mostCalled} may find something`
    this.#must(isBounded, 'a ceiling is released once', more)
  }

  /** All is quiet; these still ask for a number. */
  end(asking: readonly string[]): void {
    const { size = 0, sinceMs = Number.POSITIVE_INFINITY } = this.#draw ?? {}
    const boundMs = this.#bounds.orderMs + this.putBackMs
    const isFirst = (one: Told, other: Told) =>
      other.number > one.number || other.beganMs - one.atMs <= boundMs + longestMs(this.#trips, one.atMs, other.atMs)
    const later = this.#told.filter(({ number }) => number > size)
    for (const one of later)
      for (const other of later)
        this.#must(isFirst(one, other), 'first come, first served', () => {
          const behindMs = other.beganMs - one.atMs
          return `${other.visitor} came ${behindMs} ms after ${one.visitor} had ${one.number}, and got ${other.number}`
        })
    for (const { visitor, number, beganMs } of this.#told) {
      const isFair = number > size || beganMs <= sinceMs + this.putBackMs
      this.#must(isFair, 'the draw ends with the opening', () => `${visitor} came later, and has ${number}`)
    }
    this.#must(this.#isOver || asking.length === 0, 'everyone gets a number', () => `${asking.join(', ')} did not`)
  }
}
