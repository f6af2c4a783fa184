/**
 * Load for measurements, and what was measured: closed loop (so many clients, each asking as soon as it is answered) for
 * what a server can do, open loop (so many requests a second, whatever comes back) for how long it lets people wait.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Histogram, type Percentiles } from '../lib/histogram.ts'
import { type Answer, HttpClient } from '../lib/http.ts'
import { nowMeasuring } from './table.ts'

export interface Load {
  readonly url: string
  /** The text of the next request; null when there are no more. */
  readonly next: (client: HttpClient) => string | null
  /** What a right answer looks like. */
  readonly right: (answer: Answer) => boolean
  readonly seconds: number
  /** The processes whose time is measured, with their children. */
  readonly pids?: readonly number[]
}

export interface Measured {
  readonly perSecond: number
  readonly ms: Percentiles
  /** Processor time of the measured processes for each answer, microseconds; null where it cannot be known. */
  readonly cpuMicros: number | null
  /** The share of one core that the client itself took: near 1 it is what limited the measurement. */
  readonly clientCpu: number
  readonly wrong: number
  /** The first wrong answer, for a person to read. */
  readonly why: string
}

/** Before anything counts: connections are opened and code becomes warm. */
const WARM_SHARE = 0.25
const OPEN_LOOP_TICK_MS = 2

/**
 * `clients` at once, each with a connection of its own. The rate is that of the answers within the window, all of it; a
 * latency counts of every request sent within it, also when its answer came later: whoever is kept waiting by a stall at
 * the end has waited.
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

/** `perSecond` requests, evenly, until all are answered; a latency counts from the moment the request was meant for. */
export async function openLoop(load: Load, perSecond: number, connections = 256): Promise<Measured> {
  const client = new HttpClient({ url: load.url, connections })
  const meter = new Meter(load)
  meter.begin()
  const beganMs = performance.now()
  const total = Math.floor(perSecond * load.seconds)
  let sent = 0
  let answered = 0
  await new Promise<void>((resolve) => {
    const tick = () => {
      const due = Math.min(total, Math.floor(((performance.now() - beganMs) / 1000) * perSecond))
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

/** Measures from `begin` to `close`; wrong answers count whenever they came. */
class Meter {
  readonly #load: Load
  readonly #histogram = new Histogram()
  #beganMs = Number.POSITIVE_INFINITY
  #closedMs = Number.POSITIVE_INFINITY
  /** Right answers within the window. */
  #right = 0
  /** Processor seconds: of the measured processes, and our own. */
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

  begin(): void {
    this.#own = -ownCpuSeconds()
    this.#cpu = -cpuSeconds(this.#load.pids)
    this.#beganMs = performance.now()
  }

  close(): void {
    if (!this.begun || this.closed) return
    this.#closedMs = performance.now()
    this.#own += ownCpuSeconds()
    this.#cpu += cpuSeconds(this.#load.pids)
  }

  /** An answer to what was sent, or meant, at `fromMs`. */
  add(answer: Answer, fromMs: number): void {
    if (!this.#load.right(answer)) {
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

/**
 * Processor seconds that processes and their children have used, from /proc; 0 where there is none. A hundredth of a
 * second is the grain.
 */
export function cpuSeconds(pids: readonly number[] = []): number {
  if (pids.length === 0) return 0
  const wanted = new Set(pids)
  let ticks = 0
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue
      const fields = statOf(name)
      const counted = wanted.has(Number(name)) || wanted.has(Number(fields[1]))
      // Its own time, and that of its children which have ended.
      if (counted) for (const at of [11, 12, 13, 14]) ticks += Number(fields[at] ?? 0)
    }
  } catch {
    return 0
  }
  return ticks / 100
}

/** The fields of a process after its name; none if it has ended. */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  } catch {
    return []
  }
}

/** Resident memory of a process in bytes, from /proc; 0 where there is none. */
export function residentBytes(pid: number): number {
  try {
    const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kb ?? 0) * 1024
  } catch {
    return 0
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}

/** One figure of several runs, which has the wrong answers of all of them. */
export function withWrongOf(measured: Measured, runs: readonly Measured[]): Measured {
  return {
    ...measured,
    wrong: runs.reduce((sum, m) => sum + m.wrong, 0),
    why: runs.find((m) => m.why !== '')?.why ?? '',
  }
}

/** Several runs of the same measurement as one: the median of each figure. */
export function medianOf(runs: readonly Measured[]): Measured {
  const of = (pick: (m: Measured) => number) => median(runs.map(pick))
  const cpu = runs.flatMap((m) => (m.cpuMicros === null ? [] : [m.cpuMicros]))
  const middle = {
    perSecond: of((m) => m.perSecond),
    ms: {
      count: of((m) => m.ms.count),
      mean: of((m) => m.ms.mean),
      p50: of((m) => m.ms.p50),
      p90: of((m) => m.ms.p90),
      p99: of((m) => m.ms.p99),
      p999: of((m) => m.ms.p999),
      max: of((m) => m.ms.max),
    },
    cpuMicros: cpu.length > 0 ? median(cpu) : null,
    clientCpu: of((m) => m.clientCpu),
    wrong: 0,
    why: '',
  }
  return withWrongOf(middle, runs)
}

/**
 * Several contestants in the same run: one round of each after the other, so that whatever disturbs the machine
 * disturbs all of them, and the median of the rounds. A first round does not count, but for what was answered wrongly in
 * it: code becomes warm there.
 */
export async function contest<Name extends string>(
  rounds: number,
  contestants: Readonly<Record<Name, () => Promise<Measured>>>,
): Promise<Record<Name, Measured>> {
  const names = Object.keys(contestants) as Name[]
  const runs = new Map<Name, Measured[]>(names.map((name) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      nowMeasuring(`  ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: ${name}`)
      runs.get(name)?.push(await contestants[name]())
    }
  }
  const middle = (all: readonly Measured[]) => withWrongOf(medianOf(all.slice(1)), all)
  return Object.fromEntries(names.map((name) => [name, middle(runs.get(name) ?? [])])) as Record<
    Name,
    Measured
  >
}
