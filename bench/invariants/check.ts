/** One invariant of a rehearsal: its description, whether it holds, and by how much. */
export interface Check {
  readonly what: string
  /** The value is null if there was nothing to judge by. */
  readonly holds: boolean | null
  readonly detail: string
}

/** A failed check makes a rehearsal bad; one that could not be judged does not. */
export const isGood = (checks: readonly Check[]) => checks.every((c) => c.holds !== false)

export const check = (what: string, holds: boolean | null, detail: string): Check => ({ what, holds, detail })

/** A check of something that never occurred proves nothing. */
export const ifAny = (occurred: number, holds: boolean) => (occurred === 0 ? null : holds)

export function count<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let found = 0
  for (const item of list) if (holds(item)) found++
  return found
}
