/**
 * Finds a shorter order of events that fails as a longer one does: fewer actors, fewer steps, fewer faults. Every
 * attempt plays a whole order, so their number is bounded.
 */
import type { Choice, Recorded } from './decisions.ts'

/** An order of events: who acts, and what is decided. */
export interface Order<Actor> {
  readonly actors: readonly Actor[]
  readonly decisions: Recorded
}

/** Attempts in all, some seconds to a minute. */
const MAX_ATTEMPTS = 800
/** A list of more parts than these is not tried without each of them. */
const MAX_PARTS = 100

/** This choice takes whoever would go in the undisturbed order. */
const USUAL: Choice = { who: null, fate: 0, isDisturbed: false }

interface Shrinking<Actor> {
  /** Plays an order: what was decided in it if it fails as the first one did, or else null. */
  readonly fails: (order: Order<Actor>) => Promise<Recorded | null>
  /** How much of an order a person has to read. */
  readonly sizeOf: (order: Order<Actor>) => number
}

/** The decisions up to the last one that departs from the undisturbed order. */
const trimmed = ({ seed, choices }: Recorded): Recorded => ({
  seed,
  choices: choices.slice(0, choices.findLastIndex(({ isDisturbed }) => isDisturbed) + 1),
})

/** The shortest order found that fails still. */
export async function shrink<Actor>(failing: Order<Actor>, { fails, sizeOf }: Shrinking<Actor>): Promise<Order<Actor>> {
  let best = { ...failing, decisions: trimmed(failing.decisions) }
  let attempts = 0
  /** What was really decided takes the place of what was tried: a choice that can no longer be made is gone. */
  const accept = async (order: Order<Actor>): Promise<boolean> => {
    if (attempts++ >= MAX_ATTEMPTS) return false
    const decisions = await fails(order)
    const found = decisions && { ...order, decisions: trimmed(decisions) }
    if (!found || sizeOf(found) >= sizeOf(best)) return false
    best = found
    return true
  }
  /** Tries without ever smaller parts of a list, from its end to its begin. */
  async function without(length: () => number, attempt: (from: number, to: number) => Order<Actor> | null) {
    for (let size = length(); size >= 1 && length() / size <= MAX_PARTS; size = Math.floor(size / 2))
      for (let to = length(); to > 0; to -= size) {
        const order = attempt(Math.max(0, to - size), Math.min(to, length()))
        if (order) await accept(order)
      }
  }
  const changed = (choices: readonly Choice[]): Order<Actor> => ({
    ...best,
    decisions: { ...best.decisions, choices },
  })
  const withChoices = (change: (choice: Choice) => Choice | null) => (from: number, to: number) => {
    const { choices } = best.decisions
    const part = choices.slice(from, to)
    const others = part.map(change)
    if (others.every((one, i) => one === part[i])) return null
    return changed([...choices.slice(0, from), ...others.filter((one) => one !== null), ...choices.slice(to)])
  }
  const steps = () => best.decisions.choices.length
  const gone = withChoices(() => null)
  const calm = withChoices((choice) => (choice.fate === 0 ? choice : { ...choice, fate: 0 }))
  /** The places of the choices that depart from the undisturbed order. */
  const departures = () => best.decisions.choices.flatMap(({ isDisturbed }, i) => (isDisturbed ? [i] : []))
  const disturbed = () => departures().length
  const usual = (from: number, to: number) => {
    const places = departures().slice(from, to)
    return changed(best.decisions.choices.map((choice, i) => (places.includes(i) ? USUAL : choice)))
  }

  for (let size = Number.POSITIVE_INFINITY; sizeOf(best) < size && attempts < MAX_ATTEMPTS; ) {
    size = sizeOf(best)
    const some = (from: number, to: number) => best.actors.filter((_, i) => i < from || i >= to)
    await without(steps, calm)
    await without(
      () => best.actors.length,
      (from, to) => ({ ...best, actors: some(from, to) }),
    )
    await without(disturbed, usual)
    await without(steps, gone)
  }
  return best
}
