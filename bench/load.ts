/**
 * Load for measurements, and what was measured: closed loop (so many clients, each asking as soon as it is answered) for
 * what a server can do, open loop (so many requests a second, whatever comes back) for how long it lets people wait.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Histogram, type Percentiles } from './histogram.ts'
import { type Answer, HttpClient } from './http.ts'
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

/** `clients` at once, each with a connection of its own. */
export async function closedLoop(load: Load, clients: number): Promise<Measured> {
  const client = new HttpClient({ url: load.url, connections: clients })
  const meter = new Meter(load)
  await new Promise<void>((resolve) => {
    const warmUntil = performance.now() + load.seconds * 1000 * WARM_SHARE
    let until = Number.POSITIVE_INFINITY
    let busy = 0
    const one = () => {
      const text = performance.now() < until ? load.next(client) : null
      if (text === null) {
        if (busy === 0) resolve()
        return
      }
      busy++
      client.send(text, (answer) => {
        busy--
        const { answeredMs } = answer
        if (!meter.begun && answeredMs >= warmUntil) {
          meter.begin()
          until = answeredMs + load.seconds * 1000
        } else if (meter.begun && answeredMs < until) meter.add(answer, answeredMs - answer.sentMs)
        one()
      })
    }
    for (let i = 0; i < clients; i++) one()
  })
  client.close()
  return meter.end()
}

/** `perSecond` requests, evenly, for as long as said; a latency counts from the moment the request was meant for. */
export async function openLoop(load: Load, perSecond: number, connections = 256): Promise<Measured> {
  const client = new HttpClient({ url: load.url, connections })
  const meter = new Meter(load)
  const beganMs = performance.now()
  const total = Math.floor(perSecond * load.seconds)
  let sent = 0
  let answered = 0
  await new Promise<void>((resolve) => {
    meter.begin()
    const tick = () => {
      const due = Math.min(total, Math.floor(((performance.now() - beganMs) / 1000) * perSecond))
      for (; sent < due; sent++) {
        const intendedMs = beganMs + (sent / perSecond) * 1000
        const text = load.next(client)
        if (text === null) throw new Error('There were not enough requests for the open loop.')
        client.send(text, (answer) => {
          meter.add(answer, answer.answeredMs - intendedMs)
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

class Meter {
  begun = false
  readonly #load: Load
  readonly #histogram = new Histogram()
  #beganMs = 0
  #lastMs = 0
  #cpu = 0
  #own: NodeJS.CpuUsage = { user: 0, system: 0 }
  #wrong = 0
  #why = ''

  constructor(load: Load) {
    this.#load = load
  }

  begin(): void {
    this.begun = true
    this.#beganMs = performance.now()
    this.#own = process.cpuUsage()
    this.#cpu = cpuSeconds(this.#load.pids)
  }

  add(answer: Answer, ms: number): void {
    if (!this.#load.right(answer)) {
      this.#wrong++
      this.#why ||= `${answer.status || answer.failure} ${answer.body.slice(0, 200)}`
      return
    }
    this.#histogram.add(ms)
    this.#lastMs = answer.answeredMs
  }

  end(): Measured {
    const { count } = this.#histogram
    const seconds = Math.max(1e-3, (this.#lastMs - this.#beganMs) / 1000)
    const own = process.cpuUsage(this.#own)
    const cpu = cpuSeconds(this.#load.pids) - this.#cpu
    return {
      perSecond: count / seconds,
      ms: this.#histogram.summary(),
      cpuMicros: cpu > 0 && count > 0 ? (cpu * 1e6) / count : null,
      clientCpu: (own.user + own.system) / 1e6 / Math.max(1e-3, (performance.now() - this.#beganMs) / 1000),
      wrong: this.#wrong,
      why: this.#why,
    }
  }
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

/** Several runs of the same measurement as one: the median of each figure. */
export function medianOf(runs: readonly Measured[]): Measured {
  const of = (pick: (m: Measured) => number) => median(runs.map(pick))
  const cpu = runs.flatMap((m) => (m.cpuMicros === null ? [] : [m.cpuMicros]))
  return {
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
    wrong: runs.reduce((sum, m) => sum + m.wrong, 0),
    why: runs.find((m) => m.why !== '')?.why ?? '',
  }
}

/**
 * Several contestants in the same run: one round of each after the other, so that whatever disturbs the machine
 * disturbs all of them, and the median of the rounds. A first round does not count: code becomes warm in it.
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
      const measured = await contestants[name]()
      if (round > 0) runs.get(name)?.push(measured)
    }
  }
  return Object.fromEntries(names.map((name) => [name, medianOf(runs.get(name) ?? [])])) as Record<
    Name,
    Measured
  >
}
