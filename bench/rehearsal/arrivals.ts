/** When people come: the shapes of a crowd, as times relative to the opening (milliseconds), in order. */

export const SHAPES = ['spike', 'ramp', 'early', 'bots'] as const
export type Shape = (typeof SHAPES)[number]

/** Of a spike, so many are in the lobby already when it opens, most of them in the last seconds. */
const SPIKE_BEFORE = 0.25
const EARLY_BEFORE = 0.9

/**
 * spike   a quarter in the last moments before the opening, the rest just after it, dense at first and thinning out
 * ramp    evenly over the time given, from the opening on
 * early   nine in ten before the opening, into the lobby, ever more of them; the rest after it
 * bots    a spike in which some are machines that hammer (see bots.ts)
 *
 * `spreadMs` is the time over which all of them come, before and after the opening together.
 */
export function arrivalTimes(
  shape: Shape,
  visitors: number,
  spreadMs: number,
  random: () => number,
): Float64Array {
  const times = new Float64Array(visitors)
  for (let i = 0; i < visitors; i++) times[i] = arrival(shape, spreadMs, random)
  return times.sort()
}

/** How long before the opening the first of them comes, at most. */
export function leadMs(shape: Shape, spreadMs: number): number {
  return spreadMs * (shape === 'ramp' ? 0 : shape === 'early' ? EARLY_BEFORE : SPIKE_BEFORE)
}

function arrival(shape: Shape, spreadMs: number, random: () => number): number {
  const before = leadMs(shape, spreadMs)
  const after = spreadMs - before
  // Denser towards the opening, by half again at its height: a server that keeps up with the mean must also keep up with it.
  const towards = (ms: number) => ms * (1.5 - Math.sqrt(2.25 - 2 * random()))
  switch (shape) {
    case 'ramp':
      return random() * spreadMs
    case 'early':
      return random() < EARLY_BEFORE ? -towards(before) : towards(after)
    case 'spike':
    case 'bots':
      return random() < SPIKE_BEFORE ? -towards(before) : towards(after)
  }
}
