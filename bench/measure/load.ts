/**
 * Load for measurements. A closed loop (each client sends its next request after a response) measures what a server
 * can do, and an open loop (a fixed rate, whatever the responses) how long visitors wait.
 */

import { paint, terminal } from '../../dev/lib/command.ts'
import { median } from '../lib/figures.ts'
import { Histogram, type Percentiles } from '../lib/histogram.ts'
import { type Answer, HttpClient } from '../lib/http.ts'
import { cpuSeconds } from './processor.ts'
import type { Cost } from './programs.ts'

export type Next = (client: HttpClient) => string | null

export interface Load {
  readonly url: string
  /** Returns the text of the next request; null if there are no more. */
  readonly next: Next
  /** The status of a right response, or a test of it. */
  readonly right: number | ((answer: Answer) => boolean)
  readonly seconds: number
  /** The processes whose time is measured, with their children. */
  readonly pids?: readonly number[]
}

export interface Measured {
  readonly perSecond: number
  readonly ms: Percentiles
  /** The processor time of the measured processes for each response in microseconds; null if unknown. */
  readonly cpuMicros: number | null
  /** The same by program, if programs are measured separately. */
  readonly cpuOf?: Cost
  /** The client's share of one core. Close to 1, the client limited the measurement. */
  readonly clientCpu: number
  readonly wrong: number
  /** The first wrong response. */
  readonly why: string
}

/** Connections open and code is compiled during this share of the time, before anything counts. */
const WARM_SHARE = 0.25
const OPEN_LOOP_TICK_MS = 2
/**
 * The rate counts the responses within the window. The latency counts every request sent within it, even if its
 * response came later, so that a stall at the end is visible.
 */
export async function closedLoop(load: Load, clients: number): Promise<Measured> {
  const client = new HttpClient({ url: load.url, connections: clients })
  const meter = new Meter(load)
  await new Promise<void>((resolve) => {
    const warmUntil = performance.now() + load.seconds * 1000 * WARM_SHARE
    let busy = 0
    const one = () => {
      const text = meter.closed ? null : load.next(client)
      if (text === null) {
        meter.close()
        if (busy === 0) resolve()
        return
      }
      busy++
      client.send(text, (answer) => {
        busy--
        if (!meter.begun && answer.answeredMs >= warmUntil) {
          meter.begin()
          setTimeout(() => meter.close(), load.seconds * 1000)
        }
        meter.add(answer, answer.sentMs)
        one()
      })
    }
    for (let i = 0; i < clients; i++) one()
  })
  client.close()
  return meter.end()
}

/**
 * Sends `perSecond` requests, evenly, until all have responses. Latency counts from the moment at which each was due,
 * and the rate counts the responses within the window, which a server that keeps up gives at the rate of requests.
 */
export async function openLoop(load: Load, perSecond: number, connections = 256): Promise<Measured> {
  const client = new HttpClient({ url: load.url, connections })
  const meter = new Meter(load)
  const beganMs = performance.now()
  const warmMs = load.seconds * 1000 * WARM_SHARE
  setTimeout(() => meter.begin(beganMs + warmMs), warmMs)
  setTimeout(() => meter.close(beganMs + warmMs + load.seconds * 1000), warmMs + load.seconds * 1000)
  const total = openLoopRequests(load.seconds, perSecond)
  let sent = 0
  let answered = 0
  await new Promise<void>((resolve) => {
    const tick = () => {
      // The first request is due at once.
      const due = Math.min(total, 1 + Math.floor(((performance.now() - beganMs) / 1000) * perSecond))
      for (; sent < due; sent++) {
        const intendedMs = beganMs + (sent / perSecond) * 1000
        const text = load.next(client)
        if (text === null) throw new Error('There were not enough requests for the open loop.')
        client.send(text, (answer) => {
          meter.add(answer, intendedMs)
          if (++answered === total) resolve()
        })
      }
      if (sent < total) setTimeout(tick, OPEN_LOOP_TICK_MS)
    }
    tick()
  })
  client.close()
  return meter.end()
}

/** How many requests an open loop sends, with those before its window. */
export const openLoopRequests = (seconds: number, perSecond: number) =>
  Math.floor(perSecond * seconds * (1 + WARM_SHARE))

/** Measures from `begin` to `close`; wrong responses count at any time. */
class Meter {
  readonly #load: Load
  readonly #histogram = new Histogram()
  #beganMs = Number.POSITIVE_INFINITY
  #closedMs = Number.POSITIVE_INFINITY
  /** The number of right responses within the window. */
  #right = 0
  /** The processor seconds of the measured processes, and of this process. */
  #cpu = 0
  #own = 0
  #wrong = 0
  #why = ''

  constructor(load: Load) {
    this.#load = load
  }

  get begun(): boolean {
    return this.#beganMs < Number.POSITIVE_INFINITY
  }

  get closed(): boolean {
    return this.#closedMs < Number.POSITIVE_INFINITY
  }

  begin(atMs = performance.now()): void {
    this.#own = -ownCpuSeconds()
    this.#cpu = -cpuSeconds(this.#load.pids)
    this.#beganMs = atMs
  }

  close(atMs = performance.now()): void {
    if (!this.begun || this.closed) return
    this.#closedMs = atMs
    this.#own += ownCpuSeconds()
    this.#cpu += cpuSeconds(this.#load.pids)
  }

  add(answer: Answer, fromMs: number): void {
    const { right } = this.#load
    if (typeof right === 'number' ? answer.status !== right : !right(answer)) {
      this.#wrong++
      this.#why ||= `${answer.status || answer.failure} ${answer.body.slice(0, 200)}`
      return
    }
    if (fromMs >= this.#beganMs && fromMs < this.#closedMs) this.#histogram.add(answer.answeredMs - fromMs)
    if (answer.answeredMs >= this.#beganMs && answer.answeredMs < this.#closedMs) this.#right++
  }

  end(): Measured {
    this.close()
    const seconds = this.begun ? Math.max(1e-3, (this.#closedMs - this.#beganMs) / 1000) : 1e-3
    return {
      perSecond: this.#right / seconds,
      ms: this.#histogram.summary(),
      cpuMicros: this.#cpu > 0 && this.#right > 0 ? (this.#cpu * 1e6) / this.#right : null,
      clientCpu: this.#own / seconds,
      wrong: this.#wrong,
      why: this.#why,
    }
  }
}

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** A rate from another source. */
export const flat = (perSecond: number): Measured => ({
  perSecond,
  ms: new Histogram().summary(),
  cpuMicros: null,
  clientCpu: 0,
  wrong: 0,
  why: '',
})

/** The median of each figure, with the wrong responses of `all` runs. */
export function medianOf(runs: readonly Measured[], all = runs): Measured {
  const of = (pick: (m: Measured) => number) => median(runs.map(pick))
  const cpu = runs.flatMap((m) => m.cpuMicros ?? [])
  const figures = Object.keys(flat(0).ms) as (keyof Percentiles)[]
  return {
    perSecond: of((m) => m.perSecond),
    ms: Object.fromEntries(figures.map((name) => [name, of((m) => m.ms[name])])) as unknown as Percentiles,
    cpuMicros: cpu.length > 0 ? median(cpu) : null,
    clientCpu: of((m) => m.clientCpu),
    wrong: all.reduce((sum, m) => sum + m.wrong, 0),
    why: all.find((m) => m.why !== '')?.why ?? '',
  }
}

/** Shows the current measurement on a terminal's last line. */
export function nowMeasuring(what: string): void {
  if (terminal) process.stdout.write(`\r\x1b[K${what && paint('dim', what)}`)
}

/**
 * Measures several contestants in one run, one round of each in turn, so that a disturbance affects all of them. The
 * first round only warms up, but its wrong responses count.
 */
export async function contest<Name extends string>(
  rounds: number,
  contestants: Readonly<Record<Name, () => Promise<Measured>>>,
): Promise<Record<Name, Measured>> {
  const names = Object.keys(contestants) as Name[]
  const runs = names.map((): Measured[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, name] of names.entries()) {
      nowMeasuring(`  ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: ${name}`)
      runs[i]?.push(await contestants[name]())
    }
  }
  const results = runs.map((all, i) => [names[i], medianOf(all.slice(1), all)])
  return Object.fromEntries(results) as Record<Name, Measured>
}
