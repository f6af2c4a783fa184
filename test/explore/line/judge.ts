/**
 * The model of the line's promises. It reads what visitors, isolates and the origin were told, and knows nothing of
 * leases, shards or storage.
 */
import { commitmentOf } from '../../../shared/draw.ts'
import { type Place, type Schedule, serving } from '../../../shared/schedule.ts'

/** A number that a visitor was told; `beganMs` is when they asked for it. */
export interface Told {
  readonly visitor: string
  readonly number: number
  readonly beganMs: number
  readonly atMs: number
  readonly isFirst: boolean
}

/** A place that a visitor saw; `isolate` is the name of a memory, which ends with it. */
export interface Seen {
  readonly isolate: string
  readonly number: number
  readonly place: Place
  readonly schedule: Schedule
  readonly atMs: number
  /** The same moment on the room's clock, as the isolate sees it. */
  readonly roomMs: number
}

/** What the origin told of the sale. */
export interface Stock {
  readonly available: number
  readonly arrivals: number
}

/** The bounds that the README and the settings state. */
export interface Bounds {
  readonly ratePerSecond: number
  readonly admissionsPerUnit: number
  readonly claimMs: number
  /** How far two visitors can be out of order, beside a round trip. */
  readonly orderMs: number
}

/** With turns of at least so long nobody counts as a no-show within an order. */
const SETTLES_MS = 20_000

type Timeline = readonly { readonly from_ms: number; readonly schedule: Schedule }[]

interface Published {
  readonly version: number
  readonly text: string
  readonly timeline: Timeline
  readonly serving: number
  readonly atMs: number
}

export class Judge {
  /** The first promise that was broken. */
  broken: string | null = null
  readonly #bounds: Bounds
  readonly #holders = new Map<number, string>()
  readonly #numbers = new Map<string, number>()
  readonly #leavers = new Set<string>()
  readonly #told: Told[] = []
  readonly #positions = new Map<number, number>()
  readonly #numberAt = new Map<number, number>()
  readonly #served = new Map<string, number>()
  /** How far the line was at each publication. */
  readonly #reached: { readonly atMs: number; readonly serving: number }[] = []
  #draw: { readonly commitment: string; seed: string | null; size: number; sinceMs: number } | null = null
  #published: Published | null = null
  #mostCalled = 0
  /** The longest time for which an answer was on its way, and by how much clocks were put back. */
  roundTripMs = 0
  putBackMs = 0
  /** By how much clocks were changed. */
  clockMs = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  #fail(promise: string): void {
    this.broken ??= promise
  }

  #must(holds: boolean, otherwise: () => string): void {
    if (!holds) this.#fail(otherwise())
  }

  failed(error: Error): void {
    this.#fail(`a state that cannot be: ${error.message}`)
  }

  /** A visitor was told a number: nobody else has it, and it is the one they had. */
  told(told: Told): void {
    const { visitor, number } = told
    const [holder, had] = [this.#holders.get(number), this.#numbers.get(visitor)]
    this.#must(holder === undefined || holder === visitor, () => `${holder} and ${visitor} both have number ${number}`)
    const isSame = had === undefined || had === number || this.#leavers.has(visitor)
    this.#must(isSame, () => `${visitor} had number ${had}, and has ${number} now`)
    this.#holders.set(number, visitor)
    this.#numbers.set(visitor, number)
    if (told.isFirst) this.#told.push(told)
  }

  /** Whoever leaves may get a new number, whenever the departure arrives; nobody else gets the old one. */
  left(visitor: string): void {
    this.#leavers.add(visitor)
  }

  stock({ available, arrivals }: Stock): void {
    this.#mostCalled = Math.max(this.#mostCalled, arrivals + this.#bounds.admissionsPerUnit * available)
  }

  #sees({ draw_commitment, draw_seed, pre_queue_size }: Schedule, atMs: number): void {
    this.#draw ??= { commitment: draw_commitment, seed: null, size: 0, sinceMs: 0 }
    const draw = this.#draw
    this.#must(draw.commitment === draw_commitment, () => 'the commitment to the draw has changed')
    if (draw_seed === null) return
    this.#must(commitmentOf(draw_seed) === draw.commitment, () => 'the seed is not the one that was committed to')
    if (draw.seed === null) this.#draw = { ...draw, seed: draw_seed, size: pre_queue_size, sinceMs: atMs }
    else this.#must(draw.size === pre_queue_size, () => `the draw had ${draw.size} numbers, and has ${pre_queue_size}`)
  }

  /** Each number has one position, and each position one number; no isolate's line moves back. */
  seen({ isolate, number, place, schedule, atMs, roomMs }: Seen): void {
    this.#sees(schedule, atMs)
    const { position, now_serving, status } = place
    const served = this.#served.get(isolate) ?? 0
    this.#must(now_serving >= served, () => `the line of ${isolate} moved back from ${served} to ${now_serving}`)
    this.#served.set(isolate, now_serving)
    const { timeline = [] } = this.#published ?? {}
    const isKnown = this.clockMs === 0 && roomMs >= (timeline[0]?.from_ms ?? Number.POSITIVE_INFINITY)
    const called = isKnown ? servingAt(timeline, roomMs) : now_serving
    this.#must(now_serving <= called, () => `${isolate} called up to ${now_serving}, and the room up to ${called}`)
    if (position === null) return
    const [known, other] = [this.#positions.get(number), this.#numberAt.get(position)]
    this.#must(known === undefined || known === position, () => `number ${number} moved from ${known} to ${position}`)
    this.#must(other === undefined || other === number, () => `numbers ${other} and ${number} are both at ${position}`)
    this.#positions.set(number, position)
    this.#numberAt.set(position, number)
    if (status !== 'missed_turn') return
    const calledAtMs = this.#reached.findLast(({ serving }) => serving < position)?.atMs ?? 0
    const hadMs = roomMs - calledAtMs + this.clockMs
    this.#must(hadMs >= this.#bounds.claimMs, () => `number ${number} had ${hadMs} ms to claim its turn`)
  }

  /** The room published a timeline; `atMs` is on its own clock. */
  published(timeline: Timeline, atMs: number): void {
    const last = timeline.at(-1)?.schedule
    if (!last) return
    const { server_time_ms: _, version, ...content } = last
    const serving = servingAt(timeline, atMs)
    const now = { version, text: JSON.stringify(content), timeline, serving, atMs }
    const before = this.#published
    // An answer that was overtaken.
    if (before && (version < before.version || atMs < before.atMs)) return
    this.#published = now
    this.#reached.push(now)
    if (before) {
      const isSame = version !== before.version || now.text === before.text
      this.#must(isSame, () => `version ${version} of the schedule was told in two ways`)
      const seconds = (atMs - before.atMs + this.clockMs) / 1000
      const most = before.serving + this.#bounds.ratePerSecond * seconds + 1
      this.#must(now.serving >= before.serving, () => `the room went back from ${before.serving} to ${now.serving}`)
      this.#must(now.serving <= most, () => `${now.serving - before.serving} were called within ${seconds} s`)
    }
    const most = Math.max(this.#mostCalled, now.serving)
    const isBounded = last.phase !== 'open' || this.#bounds.claimMs < SETTLES_MS || last.ceiling <= most
    this.#must(isBounded, () => `up to ${last.ceiling} may be called, and ${this.#mostCalled} may find something`)
  }

  /** All is quiet: whoever asked after another had been told is behind them. */
  end(): void {
    const { size = 0, seed = null, sinceMs = 0 } = this.#draw ?? {}
    const boundMs = this.#bounds.orderMs + this.roundTripMs + this.putBackMs
    const later = this.#told.filter(({ number }) => number > size)
    for (const one of later)
      for (const other of later)
        this.#must(other.beganMs - one.atMs <= boundMs || other.number > one.number, () => {
          return `${other.visitor} asked ${other.beganMs - one.atMs} ms after ${one.visitor} was told ${one.number}, and got ${other.number}`
        })
    if (seed === null) return
    for (const { visitor, number, beganMs } of this.#told)
      this.#must(
        number > size || beganMs <= sinceMs + this.putBackMs,
        () =>
          `${visitor} asked ${beganMs - sinceMs} ms after the draw was public, and takes part as ${number} of ${size}`,
      )
  }
}

function servingAt(timeline: Timeline, atMs: number): number {
  const current = timeline.findLast(({ from_ms }) => from_ms <= atMs) ?? timeline[0]
  return current ? serving(current.schedule, atMs) : 0
}
