/** The arrival times of a crowd by shape, in milliseconds relative to the opening. */

export const SHAPES = ['spike', 'ramp', 'early', 'late', 'bots'] as const
export type Shape = (typeof SHAPES)[number]

/**
 * The share that comes before the opening. In a spike the others come just after it, most of them at first; a ramp is
 * even; `late` visitors come in the last tenth of the time; `bots` is a spike with machines that send many requests
 * (see bots.ts).
 */
const BEFORE: Record<Shape, number> = { spike: 0.25, bots: 0.25, ramp: 0, early: 0.9, late: 0 }

/** Returns sorted arrival times. `spreadMs` is the time in which all come, before and after the opening together. */
export function arrivalTimes(shape: Shape, visitors: number, spreadMs: number, random: () => number) {
  const before = leadMs(shape, spreadMs)
  const after = spreadMs - before
  // Arrivals become more frequent towards the opening, at most by half above the mean. A server that keeps up with
  // the mean must keep up with that too.
  const towards = (ms: number) => ms * (1.5 - Math.sqrt(2.25 - 2 * random()))
  const arrival = () => {
    if (shape === 'ramp') return random() * spreadMs
    if (shape === 'late') return (0.9 + random() / 10) * spreadMs
    return random() < BEFORE[shape] ? -towards(before) : towards(after)
  }
  return new Float64Array(visitors).map(arrival).sort()
}

/** The maximum time before the opening at which the first visitor comes. */
export const leadMs = (shape: Shape, spreadMs: number) => spreadMs * BEFORE[shape]
