/** A small seeded generator (mulberry32): the same seed gives the same choices. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** A random count with this mean (Poisson). For a large mean it uses the normal distribution. */
export function poisson(mean: number, random: () => number): number {
  if (mean <= 0) return 0
  if (mean > 30) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal))
  }
  let count = 0
  for (let left = random(), least = Math.exp(-mean); left > least; left *= random()) count++
  return count
}

/** Returns each item once in random order, again and again. */
export function* inTurn<T>(items: readonly T[], random: () => number): Generator<T, never> {
  for (;;) {
    const left = [...items]
    while (left.length > 0) yield* left.splice(Math.floor(random() * left.length), 1)
  }
}
