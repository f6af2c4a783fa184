/**
 * Searches for the highest rate of arrivals: the next step, its limiting factor, and a sentence that describes the
 * result.
 */
import { duration, n } from '../../lib/figures.ts'
import type { Program } from '../../measure/programs.ts'
import type { Options } from '../options.ts'

/** The search ends when the next step would be this close to the last one. */
const CLOSE = 1.1
/** A single-threaded program, or all programs together, can hardly use more than this share of the cores. */
const BUSY_SHARE = 0.8

type User = Program | 'the crowd'
/** The cores in use. */
export type Use = Readonly<Record<User, number>>

interface Step {
  /** The arrivals per second. */
  readonly arrivals: number
  readonly good: boolean
}

export interface Measured extends Step {
  readonly p99Ms: Readonly<Record<'joins' | 'turns' | 'checkouts', number>>
  readonly unserved: number
  readonly bought: number
  readonly use: Use
}

export type Range = NonNullable<Options['capacity']>

export const highest = (steps: readonly Step[]) =>
  Math.max(0, ...steps.flatMap((step) => (step.good ? step.arrivals : [])))
const lowestBad = (steps: readonly Step[]) => Math.min(...steps.flatMap((step) => (step.good ? [] : step.arrivals)))

/** The arrivals of the next step; null when the capacity is known. */
export function nextArrivals(steps: readonly Step[], { from, most }: Pick<Range, 'from' | 'most'>): number | null {
  const [good, bad] = [highest(steps), lowestBad(steps)]
  if (steps.length === 0) return from
  if (good === 0) return bad > 1 ? Math.floor(bad / 2) : null
  if (bad === Number.POSITIVE_INFINITY) return good < most ? Math.min(2 * good, most) : null
  const next = Math.round(Math.sqrt(good * bad))
  return next > good && next < bad && bad / good > CLOSE ? next : null
}

/**
 * The program that used the processor most; null if it used neither a whole core nor the programs together the whole
 * machine.
 */
export function limitOf(use: Use, cores: number): User | null {
  const users = Object.keys(use) as User[]
  const [most] = users.toSorted((a, b) => use[b] - use[a])
  const all = users.reduce((sum, user) => sum + use[user], 0)
  return most && (use[most] >= BUSY_SHARE || all >= BUSY_SHARE * cores) ? most : null
}

/** Describes the capacity and its limiting factor in one sentence. */
export function capacityText(steps: readonly Measured[], { most, targetMs }: Range, cores: number): string {
  const good = highest(steps)
  const below = `arrivals a second with p99 of joins, turns and checkouts below ${duration(targetMs)}`
  const tooMany = steps.find((step) => step.arrivals === lowestBad(steps))
  if (!tooMany) return `At least ${n(good)} ${below}${good < most ? '; there was no time for more' : ''}.`
  const limit = limitOf(tooMany.use, cores)
  const why = limit
    ? `the limit was ${limit}, with ${n(tooMany.use[limit])} of ${cores} cores`
    : 'no program was the limit: there was processor time left'
  return `${good > 0 ? n(good) : 'No'} ${below}; at ${n(tooMany.arrivals)} ${why}.`
}
