/** Explores orders of events of one part of the system, one seed after the other, and shortens one that fails. */
import { sentencesOf } from './report.ts'
import type { Step } from './scheduler.ts'

/** One order of events that was played. */
export interface Played {
  readonly steps: readonly Step[]
  /** How many of the steps came before all was left alone. */
  readonly acted: number
  /** The promise that was broken, and how; null if none was. */
  readonly broken: string | null
  /** The actors, one line each. */
  readonly actors: readonly string[]
}

/** A part of the system that can be explored. */
export interface Part<Result extends Played = Played> {
  readonly name: string
  /** The named points of its code. */
  readonly points: ReadonlySet<string>
  /** How many orders it plays at once, each on stores of its own; left out: one. */
  readonly width?: number
  /** Plays the order of a seed: the same seed, the same steps. */
  play(seed: number): Promise<Result>
  /** A shorter order that breaks the same promise. */
  shorten(failed: Result): Promise<Result>
}

export interface Failure {
  readonly seed: number
  /** The order as it was found, and as it was shortened. */
  readonly found: Played
  readonly short: Played
}

/** Plays the orders of so many seeds from the first one on, until one breaks a promise; then shortens it. */
export async function explore<Result extends Played>(
  part: Part<Result>,
  { seed: first, orders }: { readonly seed: number; readonly orders: number },
  played: (seed: number, result: Result) => void = () => {},
): Promise<Failure | null> {
  const failed = new Map<number, Result>()
  let next = first
  const playOn = async () => {
    while (next < first + orders && failed.size === 0) {
      const seed = next++
      const found = await part.play(seed)
      played(seed, found)
      if (found.broken !== null) failed.set(seed, found)
    }
  }
  await Promise.all(Array.from({ length: part.width ?? 1 }, playOn))
  // The first of those that were played at once, whichever was found first.
  const [seed = 0] = [...failed.keys()].toSorted((a, b) => a - b)
  const found = failed.get(seed)
  return found ? { seed, found, short: await part.shorten(found) } : null
}

/** The promise alone, without how it was broken. */
export const promiseOf = (broken: string) => broken.split(':', 1)[0]

/** A failure as a person reads it: what broke, who acts, the steps, and how to play it again. */
export function describe({ seed, found, short }: Failure, { name }: Pick<Part, 'name'>): string {
  return [
    `Broken: ${short.broken}`,
    `Found by seed ${seed} in ${stepsOf(found)} steps, and shortened to ${stepsOf(short)} steps`,
    '',
    ...short.actors,
    '',
    ...sentencesOf(short.steps, short.acted),
    '',
    `Again: npm run explore -- --only ${name} --orders 1 --seed ${seed}`,
  ].join('\n')
}

/** The number of steps up to the last that departs from the undisturbed order. */
export const stepsOf = ({ steps, acted }: Played): number =>
  steps.slice(0, acted).findLastIndex(({ isDisturbed }) => isDisturbed) + 1
