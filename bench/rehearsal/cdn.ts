/**
 * The public schedule as one copy for the whole crowd: one read a second of the real document (it says `max-age=1`), and
 * everyone's scripts read the copy. Keeps what it saw, for the verdict.
 */
import * as v from 'valibot'
import { Schedule } from '../../shared/api/public.ts'
import { serving } from '../../shared/schedule.ts'
import { Histogram } from '../lib/histogram.ts'
import { type HttpClient, requestText } from '../lib/http.ts'
import type { Seen } from '../verdict/story.ts'

const MAX_AGE_MS = 1_000
/** Documents kept: one as long as nothing in it changes, which is about a second. */
const MAX_SEEN = 20_000

export class Cdn {
  readonly seen: Seen[] = []
  readonly latency = new Histogram()
  reads = 0
  readonly #client: HttpClient
  readonly #request: string
  #copy: Schedule | null = null
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  /** What to add to performance.now() to have the server's clock; taken from the quickest answer so far. */
  #clockMs = 0
  #quickestMs = Number.POSITIVE_INFINITY

  constructor(client: HttpClient, sale: string) {
    this.#client = client
    this.#request = requestText('GET', `/sales/${sale}/schedule`, client.host, ['accept: application/json'])
  }

  /** Reads it now; an error says what came instead. */
  async read(): Promise<Schedule> {
    const answer = await this.#client.ask(this.#request)
    this.reads++
    if (answer.status !== 200)
      throw new Error(
        `the schedule answered ${answer.status || answer.failure}: ${answer.body.slice(0, 200)}`,
      )
    this.latency.add(answer.answeredMs - answer.sentMs)
    const schedule = v.parse(Schedule, JSON.parse(answer.body))
    const tripMs = answer.answeredMs - answer.sentMs
    if (tripMs < this.#quickestMs) {
      this.#quickestMs = tripMs
      this.#clockMs = schedule.server_time_ms - (answer.sentMs + answer.answeredMs) / 2
    }
    this.#copy = schedule
    const last = this.seen.at(-1)
    const atMs = schedule.server_time_ms
    if (last && isSame(schedule, last.schedule)) last.lastMs = atMs
    else if (this.seen.length < MAX_SEEN) this.seen.push({ atMs, lastMs: atMs, schedule })
    return schedule
  }

  /** The copy at hand. */
  get copy(): Schedule {
    if (!this.#copy) throw new Error('The schedule was not read yet.')
    return this.#copy
  }

  /** A moment of performance.now() on the server's clock. */
  serverMs(ms: number): number {
    return ms + this.#clockMs
  }

  start(): void {
    const again = () => {
      if (this.#stopped) return
      this.#timer = setTimeout(
        () =>
          void this.read()
            .catch(() => {})
            .finally(again),
        MAX_AGE_MS,
      )
    }
    again()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }
}

/** Whether a document says the same but for the time: a line may not change under its version unseen. */
const isSame = (a: Schedule, b: Schedule) =>
  JSON.stringify({ ...a, server_time_ms: 0 }) === JSON.stringify({ ...b, server_time_ms: 0 })

/**
 * The highest position that the public documents have called by a moment. A document holds until the next is seen, and
 * was in force before it was seen: perhaps since the one before was seen last, and a cache is up to `lateMs` behind.
 */
export function servedBy(seen: readonly Seen[], lateMs: number): (atMs: number) => number {
  const called: number[] = []
  for (const [i, { schedule }] of seen.entries()) {
    const until = seen[i + 1]?.atMs ?? Number.POSITIVE_INFINITY
    const before = called[i - 1] ?? 0
    called.push(Number.isFinite(until) ? Math.max(before, drawn(schedule, until)) : before)
  }
  return (atMs) => {
    let low = 0
    let high = seen.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((seen[middle - 1]?.lastMs ?? seen[middle]?.atMs ?? 0) <= atMs + lateMs) low = middle + 1
      else high = middle
    }
    const holds = seen[low - 1]
    return Math.max(called[low - 2] ?? 0, holds ? drawn(holds.schedule, atMs) : 0)
  }
}

function drawn(schedule: Schedule, atMs: number): number {
  return schedule.draw_seed === null ? 0 : serving(schedule, atMs)
}
