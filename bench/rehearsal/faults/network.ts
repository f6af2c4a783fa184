/**
 * A network that fails: a proxy between every two parts of a system, and a schedule of faults that are played between
 * two of them at a time, for some seconds each. A seed decides their order and times. Afterwards the network works.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { inTurn } from '../../../shared/lib/random.ts'
import { type FlakyProxy, flakyProxy } from '../../lib/flaky-proxy.ts'

/**
 * What a network does to the connections between two parts:
 *
 * - `cut`: breaks them, and resets later ones,
 * - `swallow`: loses all that is sent, and says nothing,
 * - `forget`: loses all that is sent on them until the end of the rehearsal, while later ones work,
 * - `reset`: resets them in the middle of a reply, again and again,
 * - `delay`: delivers replies later.
 */
export const NETWORK_FAULTS = ['cut', 'swallow', 'forget', 'reset', 'delay'] as const
export type NetworkFault = (typeof NETWORK_FAULTS)[number]

/** One fault of the schedule, with the calm before it. */
export interface Disturbance {
  readonly fault: NetworkFault
  readonly between: string
  readonly calmMs: number
  readonly lastsMs: number
}

const CALM_MS = [300, 1_500] as const
const LASTS_MS = [1_000, 4_000] as const
const DELAY_MS = 300
/** A connection is opened with about four replies of Postgres: most must succeed, so that statements are hit too. */
const RESET_EVERY = 10

/** The endless schedule of a seed: each kind of fault, and each pair of parts, has its turn in every round. */
export function* disturbances(pairs: readonly string[], random: () => number): Generator<Disturbance, never> {
  const ofLength = ([least, most]: readonly [number, number]) => least + random() * (most - least)
  const [what, where] = [inTurn(NETWORK_FAULTS, random), inTurn(pairs, random)]
  for (;;)
    yield {
      fault: what.next().value,
      between: where.next().value,
      calmMs: ofLength(CALM_MS),
      lastsMs: ofLength(LASTS_MS),
    }
}

const BEGIN: Readonly<Record<NetworkFault, (proxy: FlakyProxy) => void>> = {
  cut: (proxy) => proxy.refuse(),
  swallow: (proxy) => proxy.lose('all'),
  forget: (proxy) => proxy.vanish(),
  reset: (proxy) => proxy.resetReplies(RESET_EVERY),
  delay: (proxy) => proxy.delay(DELAY_MS),
}
const END: Readonly<Record<NetworkFault, (proxy: FlakyProxy) => void>> = {
  cut: (proxy) => proxy.back(),
  swallow: (proxy) => proxy.back(),
  forget() {},
  reset: (proxy) => proxy.resume(),
  delay: (proxy) => proxy.resume(),
}

export class Network {
  readonly #proxies = new Map<string, FlakyProxy>()

  /** Puts a proxy between two parts. Returns the address at which the first reaches the second. */
  readonly route = async (from: string, to: string, url: string): Promise<string> => {
    const proxy = flakyProxy(() => Number(new URL(url).port))
    await proxy.listen()
    this.#proxies.set(`${from} and ${to}`, proxy)
    return proxy.through(url).replace(/\/$/, url.endsWith('/') ? '/' : '')
  }

  /**
   * Plays faults one after another for this many seconds, and at least one between every two parts, unless `isOver`.
   * `underLoad` resolves when a fault hits calls in progress. Returns how often each kind was played.
   */
  async play(
    random: () => number,
    seconds: number,
    underLoad: () => Promise<void>,
    isOver: () => boolean,
  ): Promise<Readonly<Record<NetworkFault, number>>> {
    const played = { cut: 0, swallow: 0, forget: 0, reset: 0, delay: 0 }
    const pairs = [...this.#proxies.keys()]
    const endMs = performance.now() + seconds * 1000
    let disturbed = 0
    for (const { fault, between, calmMs, lastsMs } of disturbances(pairs, random)) {
      await sleep(calmMs)
      await underLoad()
      if (isOver() || (performance.now() > endMs && disturbed >= pairs.length)) break
      const proxy = this.#proxies.get(between)
      if (proxy === undefined) throw new Error(`There is no network between ${between}.`)
      played[fault]++
      disturbed++
      BEGIN[fault](proxy)
      await sleep(lastsMs)
      END[fault](proxy)
    }
    // A party that still holds a forgotten connection hears of its end now.
    for (const proxy of this.#proxies.values()) proxy.back()
    return played
  }
}
