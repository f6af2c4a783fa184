/**
 * What each program used of processor and memory: from the opening until the last visitor has left, and until nearly
 * all units were sold. The crowd is this process, with what else a rehearsal does here.
 */
import { type Usage, usageOf } from '../measure/processor.ts'

/** The programs by name, each with its processes; their children count too. */
export type Programs = Readonly<Record<string, readonly number[]>>

const CROWD = 'crowd'
/** The programs whose time an order is said to take. */
const OF_AN_ORDER = ['origin', 'Postgres', 'Redis']
/** The last units come back from buyers who do not pay, long after the others are sold. */
const SOLD_SHARE = 0.99
const SAMPLE_EVERY_MS = 1_000

interface Sample {
  readonly atMs: number
  readonly orders: number
  readonly usages: readonly Usage[]
}

/** A period from the opening on. */
interface Period {
  readonly seconds: number
  /** The orders that buyers saw confirmed. */
  readonly orders: number
  /** The processor milliseconds of origin, Postgres and Redis for each; null without such programs or orders. */
  readonly orderMs: number | null
}

interface ProgramUse {
  readonly name: string
  readonly cpuSeconds: number
  /** The seconds until nearly all units were sold; null if they were not. */
  readonly sellingCpuSeconds: number | null
  readonly bytes: { readonly opening: number; readonly highest: number; readonly end: number }
}

export interface ProgramsUse {
  readonly whole: Period
  readonly selling: Period | null
  readonly programs: readonly ProgramUse[]
}

export class ProgramsUsed {
  readonly #names: readonly string[]
  readonly #pids: readonly (readonly number[])[]
  readonly #stock: number
  readonly #highest: number[]
  #units = 0
  #orders = 0
  #opening: Sample
  #sold: Sample | null = null
  #timer: NodeJS.Timeout

  constructor(programs: Programs, stock: number, opensInMs: number) {
    this.#names = [CROWD, ...Object.keys(programs)]
    this.#pids = Object.values(programs)
    this.#stock = stock
    this.#highest = this.#names.map(() => 0)
    this.#opening = this.#sample()
    this.#timer = setTimeout(() => {
      this.#highest.fill(0)
      this.#opening = this.#sample()
      this.#timer = setInterval(() => this.#sample(), SAMPLE_EVERY_MS).unref()
    }, opensInMs).unref()
  }

  /** A buyer has seen an order of so many units confirmed. */
  bought(units: number): void {
    this.#orders++
    this.#units += units
    if (this.#units >= this.#stock * SOLD_SHARE) this.#sold ??= this.#sample()
  }

  /** Every visitor has left. */
  stop(): ProgramsUse {
    clearTimeout(this.#timer)
    const end = this.#sample()
    const [opening, sold] = [this.#opening, this.#sold]
    const cpuOf = (program: number, until: Sample) =>
      (until.usages[program]?.cpuSeconds ?? 0) - (opening.usages[program]?.cpuSeconds ?? 0)
    const bytesOf = (program: number, { usages }: Sample) => usages[program]?.bytes ?? 0
    const period = (until: Sample): Period => {
      const programs = this.#names.flatMap((name, i) => (OF_AN_ORDER.includes(name) ? i : []))
      const spent = programs.reduce((sum, program) => sum + cpuOf(program, until), 0)
      const { orders } = until
      return {
        seconds: (until.atMs - opening.atMs) / 1000,
        orders,
        orderMs: programs.length === 0 || orders === 0 ? null : (1000 * spent) / orders,
      }
    }
    return {
      whole: period(end),
      selling: sold && period(sold),
      programs: this.#names.map((name, i) => ({
        name,
        cpuSeconds: cpuOf(i, end),
        sellingCpuSeconds: sold && cpuOf(i, sold),
        bytes: { opening: bytesOf(i, opening), highest: this.#highest[i] ?? 0, end: bytesOf(i, end) },
      })),
    }
  }

  #sample(): Sample {
    const { user, system } = process.cpuUsage()
    // The servers are children of this process, so its own use is asked of the process itself.
    const crowd = { cpuSeconds: (user + system) / 1e6, bytes: process.memoryUsage.rss() }
    const usages = [crowd, ...usageOf(this.#pids)]
    for (const [i, { bytes }] of usages.entries()) this.#highest[i] = Math.max(this.#highest[i] ?? 0, bytes)
    return { atMs: performance.now(), orders: this.#orders, usages }
  }
}
