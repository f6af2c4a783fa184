/**
 * The public schedule as one copy for the whole crowd, as a CDN stores it: it is read once a second (`max-age=1`).
 * Every version is stored as evidence.
 */
import * as v from 'valibot'
import { Schedule } from '../../shared/api/public.ts'
import { isDrawn, serving } from '../../shared/schedule.ts'
import type { Seen } from '../invariants/evidence.ts'
import { Histogram } from '../lib/histogram.ts'
import { type HttpClient, headerOf, requestText } from '../lib/http.ts'

const MAX_AGE_MS = 1_000
/** A cache reports the age of a response in whole seconds. */
const AGE_STEP_MS = 1_000
const MAX_SEEN = 20_000

export class ScheduleCopy {
  readonly seen: Seen[] = []
  readonly latency = new Histogram()
  reads = 0
  readonly #client: HttpClient
  readonly #request: string
  #copy: Schedule | null = null
  #timer: NodeJS.Timeout | undefined
  /**
   * The offset from performance.now() to the server's clock, taken from the response with the smallest uncertainty.
   */
  #clockMs = 0
  #leastDoubtMs = Number.POSITIVE_INFINITY

  constructor(client: HttpClient, sale: string) {
    this.#client = client
    this.#request = requestText('GET', `/sales/${sale}/schedule`, client.host, ['accept: application/json'])
  }

  async read(): Promise<void> {
    const answer = await this.#client.request(this.#request)
    const { status, failure, body, sentMs, answeredMs } = answer
    this.reads++
    if (status !== 200) throw new Error(`the schedule responded ${status || failure}: ${body.slice(0, 200)}`)
    const schedule = v.parse(Schedule, JSON.parse(body))
    const tripMs = answeredMs - sentMs
    this.latency.add(tripMs)
    const atMs = schedule.server_time_ms
    const age = headerOf(answer, 'age')
    const doubtMs = tripMs + (age === '' ? 0 : AGE_STEP_MS)
    if (doubtMs < this.#leastDoubtMs) {
      this.#leastDoubtMs = doubtMs
      this.#clockMs = atMs + Number(age) * 1000 - (sentMs + answeredMs) / 2
    }
    this.#copy = schedule
    const last = this.seen.at(-1)
    if (last && isSame(schedule, last.schedule)) last.lastMs = atMs
    else if (this.seen.length < MAX_SEEN) this.seen.push({ atMs, lastMs: atMs, schedule })
  }

  get copy(): Schedule {
    if (!this.#copy) throw new Error('The schedule was not read yet.')
    return this.#copy
  }

  /** Converts a value of performance.now() to the server's clock. */
  serverMs(ms: number): number {
    return ms + this.#clockMs
  }

  start(): void {
    // Reads are processed one after the other, so that versions are recorded in order.
    let last = Promise.resolve()
    this.#timer = setInterval(() => {
      last = last.then(() => this.read()).catch(() => {})
    }, MAX_AGE_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** The time is ignored; any other change under the same version counts as a change. */
const isSame = (a: Schedule, b: Schedule) =>
  JSON.stringify({ ...a, server_time_ms: 0 }) === JSON.stringify({ ...b, server_time_ms: 0 })

/**
 * The highest position that the public schedules had called by a moment. A schedule holds until the next one is seen,
 * which may have been in force since the last read of the one before, and a cache is up to `lateMs` behind.
 */
export function servedBy(seen: readonly Seen[], lateMs: number): (atMs: number) => number {
  const calledBy = (schedule: Schedule, atMs: number) => (isDrawn(schedule) ? serving(schedule, atMs) : 0)
  const called: number[] = []
  for (const [i, { schedule }] of seen.entries()) {
    const until = seen[i + 1]?.atMs
    called.push(Math.max(called[i - 1] ?? 0, until === undefined ? 0 : calledBy(schedule, until)))
  }
  return (atMs) => {
    const at = seen.findLastIndex((next, i) => (seen[i - 1]?.lastMs ?? next.atMs) <= atMs + lateMs)
    const holds = seen[at]
    return Math.max(called[at - 1] ?? 0, holds ? calledBy(holds.schedule, atMs) : 0)
  }
}
