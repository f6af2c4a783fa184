/** The caches of the model: how often they run the Worker for what the edge lets them keep (`KEPT` in edge/cache.ts). */
import { sharesOf } from './isolates.ts'
import { type PerSecond, type Scenario, TRIP_MS } from './scenario.ts'

/**
 * Workers Cache has an upper tier of a few data centres, which all others ask before the Worker runs, once for all who ask at
 * the same time. How many they are is not public; this is a guess.
 */
const UPPER_TIERS = 10
/** Spellings of Accept-Language in a large crowd. Each is a variant of its own. */
export const PAGE_VARIANTS = 300

/** How often Workers Cache runs the Worker: at each upper tier once for each variant while a response is kept. */
export function runsOf(requests: PerSecond, keptSeconds: number, variants: number): number {
  let runs = UPPER_TIERS * variants
  for (const perSecond of requests.values)
    for (const share of sharesOf(UPPER_TIERS)) runs += Math.min(perSecond * share, variants / keptSeconds)
  return Math.min(runs, requests.total)
}

/** Another CDN: each data centre fetches once a second, and again for everyone who asks meanwhile. */
export function missesOf(reads: PerSecond, { dataCentres }: Scenario): number {
  const shares = sharesOf(dataCentres)
  let misses = 0
  for (const perSecond of reads.values) {
    for (const share of shares) {
      const here = perSecond * share
      misses += Math.min(here, 1 + (here * TRIP_MS) / 1000)
    }
  }
  return misses
}
