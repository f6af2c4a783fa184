/** What an explorer says of the orders of events that it has played. */
import type { Step } from './scheduler.ts'

/** Counts how often each point was reached, and which of its fates came. */
export class Points {
  readonly #reached = new Map<string, number>()

  add(steps: readonly Step[]): void {
    for (const { what } of steps) this.#reached.set(what, (this.#reached.get(what) ?? 0) + 1)
  }

  count(point: string): number {
    return this.#reached.get(point) ?? 0
  }

  /** The points of the list that no order has reached. */
  missing(points: ReadonlySet<string>): string[] {
    return [...points].filter((point) => !this.#reached.has(point))
  }

  /** The points that were reached and have no name in the list. */
  unnamed(): string[] {
    return [...this.#reached.keys()].filter((point) => /^(statement|command) /.test(point))
  }
}

/** The steps that matter: up to the last one that departs from the undisturbed order. */
export function sentencesOf(steps: readonly Step[], acted: number): string[] {
  const upTo = steps.slice(0, acted).findLastIndex(({ isDisturbed }) => isDisturbed) + 1
  const sentences = steps.slice(0, upTo).map(({ sentence }, i) => `${i + 1}. ${sentence}`)
  return [...sentences, 'From there on nothing is disturbed.']
}
