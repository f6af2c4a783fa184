/**
 * Finds a shorter order of events that fails as a longer one does: fewer actors, fewer decisions that disturb, lower
 * ones. Every attempt plays a whole order, so their number is bounded.
 */
import type { Recorded } from './decisions.ts'

/** An order of events: who acts, and what is decided. */
export interface Order<Actor> {
  readonly actors: readonly Actor[]
  readonly decisions: Recorded
}

/** Attempts in all, some seconds. */
const MAX_ATTEMPTS = 200

/** The shortest order found for which `fails` is true still. */
export async function shrink<Actor>(
  failing: Order<Actor>,
  fails: (order: Order<Actor>) => Promise<boolean>,
): Promise<Order<Actor>> {
  let best = failing
  let attempts = 0
  const accept = async (order: Order<Actor>): Promise<boolean> => {
    if (attempts++ >= MAX_ATTEMPTS || !(await fails(order))) return false
    best = order
    return true
  }
  const withDecisions = (changed: Partial<Recorded>): Order<Actor> => ({
    ...best,
    decisions: { ...best.decisions, ...changed },
  })

  /** Replaces ever smaller parts of a list of numbers. */
  async function simplify(name: 'who' | 'fates', replace: (part: readonly number[]) => number[]): Promise<boolean> {
    let isChanged = false
    for (let size = Math.max(1, best.decisions[name].length); ; size = Math.floor(size / 2)) {
      for (let at = 0; at < best.decisions[name].length; at += size) {
        const list = best.decisions[name]
        const part = list.slice(at, at + size)
        const changed = [...list.slice(0, at), ...replace(part), ...list.slice(at + size)]
        if (changed.length === list.length && changed.every((n, i) => n === list[i])) continue
        isChanged = (await accept(withDecisions({ [name]: changed }))) || isChanged
      }
      if (size <= 1) return isChanged
    }
  }
  /** Cuts a list where only noughts follow: what is past its end is nought anyway. */
  const trim = () => {
    const cut = (list: readonly number[]) => list.slice(0, list.findLastIndex((n) => n !== 0) + 1)
    best = withDecisions({ who: cut(best.decisions.who), fates: cut(best.decisions.fates) })
  }

  async function removeActors(): Promise<boolean> {
    let isChanged = false
    for (let size = Math.max(1, Math.floor(best.actors.length / 2)); ; size = Math.floor(size / 2)) {
      for (let at = best.actors.length - size; at > -size; at -= size) {
        const actors = best.actors.filter((_, i) => i < at || i >= at + size)
        // Whatever was chosen behind the actors that are gone moves up.
        const who = best.decisions.who.map((n) => Math.max(0, n - (best.actors.length - actors.length)))
        const isSimpler =
          (await accept({ ...best, actors })) || (await accept({ actors, decisions: { ...best.decisions, who } }))
        isChanged = isSimpler || isChanged
      }
      if (size <= 1) return isChanged
    }
  }

  const nought = (part: readonly number[]) => part.map(() => 0)
  const gone = () => []
  const lower = (part: readonly number[]) => part.map((n) => Math.max(0, n - 1))
  for (let isChanged = true; isChanged && attempts < MAX_ATTEMPTS; ) {
    isChanged = await removeActors()
    for (const name of ['fates', 'who'] as const) {
      isChanged = (await simplify(name, nought)) || isChanged
      trim()
      isChanged = (await simplify(name, gone)) || isChanged
      trim()
    }
    isChanged = (await simplify('who', lower)) || isChanged
    trim()
  }
  return best
}
