/**
 * How quickly the provider answers, over the last minute, as counts of a few classes of time, which the counts of all
 * workers are added to. Pure.
 */
import type { ProviderTimes } from '../../shared/api/operators/live.ts'

const LATELY_MS = 60_000
/** A worker remembers this many of its last answers, which is enough for the share that comes late. */
const MAX_REMEMBERED = 500
/** The upper ends of the classes in milliseconds, each 1.4 times the one before: from 10 ms to a minute. */
const ENDS = Array.from({ length: 27 }, (_, i) => 10 * 1.4 ** i)

export interface Timed {
  readonly ms: number
  /** On a clock that never moves back. */
  readonly atMs: number
}

export const lately = (times: readonly Timed[], nowMs: number) => times.filter(({ atMs }) => nowMs - atMs < LATELY_MS)

export const addTime = (times: readonly Timed[], ms: number, atMs: number): readonly Timed[] => [
  ...times.slice(1 - MAX_REMEMBERED),
  { ms, atMs },
]

/** The number of answers in each class of time. */
export function bucketsOf(times: readonly Timed[]): number[] {
  const counts = ENDS.map(() => 0)
  for (const { ms } of times) {
    const at = ENDS.findIndex((end) => ms <= end)
    const place = at === -1 ? ENDS.length - 1 : at
    counts[place] = (counts[place] ?? 0) + 1
  }
  return counts
}

/** The times within which half of the answers, and 95 of 100, came; null without an answer. */
export function timesOf(all: readonly (readonly number[])[]): ProviderTimes | null {
  const counts = ENDS.map((_, i) => all.reduce((sum, one) => sum + (one[i] ?? 0), 0))
  const calls = counts.reduce((sum, one) => sum + one, 0)
  if (calls === 0) return null
  const within = (share: number) => {
    let sum = 0
    const at = counts.findIndex((one) => {
      sum += one
      return sum >= share * calls
    })
    return Math.round(ENDS[at] ?? 0)
  }
  return { calls, half: within(0.5), most: within(0.95) }
}
