/** A check of a rehearsal: what should hold, whether it does, and by how much. */
export interface Check {
  readonly what: string
  /** Null if there was nothing to judge by. */
  readonly holds: boolean | null
  readonly detail: string
}

/** What did not hold makes a rehearsal bad; what could not be judged does not. */
export const isGood = (checks: readonly Check[]) => checks.every((c) => c.holds !== false)

export const check = (what: string, holds: boolean | null, detail: string): Check => ({ what, holds, detail })
/** A check of something that did not occur says so, and proves nothing. */
export const ifAny = (occurred: number, holds: boolean) => (occurred === 0 ? null : holds)

export function count<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let found = 0
  for (const item of list) if (holds(item)) found++
  return found
}
