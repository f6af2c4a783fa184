/** When people come: the shapes of a crowd, as times relative to the opening (milliseconds), in order. */

export const SHAPES = ['spike', 'ramp', 'early', 'bots'] as const
export type Shape = (typeof SHAPES)[number]

/**
 * spike   all within a second (or as fast as one machine can play it) after the opening
 * ramp    evenly over the time given
 * early   most before the opening, into the lobby; one in ten after it
 * bots    a spike in which one in ten calls for everything five times at once
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

function arrival(shape: Shape, spreadMs: number, random: () => number): number {
  switch (shape) {
    case 'ramp':
      return random() * spreadMs
    case 'early':
      return random() < 0.9 ? -random() * spreadMs : random() * spreadMs
    case 'spike':
    case 'bots':
      // Most in the first half: a front edge and a tail.
      return random() * random() * spreadMs
  }
}

/** A small seeded generator (mulberry32), so that a rehearsal can be played again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
