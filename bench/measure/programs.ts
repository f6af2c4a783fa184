/** Measures processor time by program: the edge, the origin, the stores, and the stand-in for a payment provider. */
import { usageOf } from './processor.ts'

export const PROGRAMS = ['edge', 'origin', 'Postgres', 'Redis', 'provider'] as const
export type Program = (typeof PROGRAMS)[number]
/** The cost in microseconds. */
export type Cost = Readonly<Record<Program, number>>

const costOf = (of: (program: Program) => number): Cost => ({
  edge: of('edge'),
  origin: of('origin'),
  Postgres: of('Postgres'),
  Redis: of('Redis'),
  provider: of('provider'),
})

export const NOTHING = costOf(() => 0)
export const times = (cost: Cost, factor: number) => costOf((program) => cost[program] * factor)
export const sumOf = (costs: readonly Cost[]) =>
  costOf((program) => costs.reduce((sum, cost) => sum + cost[program], 0))

/** The sum over these programs. The provider's cost is not part of the system. */
export const inAll = (cost: Cost, programs: readonly Program[] = PROGRAMS.filter((one) => one !== 'provider')) =>
  programs.reduce((sum, program) => sum + cost[program], 0)

interface Measuring {
  /** True for work of the origin that runs in this process. */
  readonly isOrigin?: boolean
}

/** Measures work: its cost for each program, and its duration. */
export type Measure = (work: () => Promise<unknown>, how?: Measuring) => Promise<{ cost: Cost; seconds: number }>

export const measureBy =
  (pids: Readonly<Partial<Record<Program, readonly (number | undefined)[]>>>): Measure =>
  async (work, { isOrigin = false } = {}) => {
    const used = () => {
      const usages = usageOf(PROGRAMS.map((program) => pids[program]?.flatMap((pid) => pid ?? []) ?? []))
      return costOf((program) => 1e6 * (usages[PROGRAMS.indexOf(program)]?.cpuSeconds ?? 0))
    }
    const [before, beganMs, own] = [used(), performance.now(), process.cpuUsage()]
    await work()
    const { user, system } = process.cpuUsage(own)
    const seconds = (performance.now() - beganMs) / 1000
    const here = { ...NOTHING, origin: isOrigin ? user + system : 0 }
    return { cost: sumOf([used(), times(before, -1), here]), seconds }
  }
