/**
 * Counts the unknown promo codes that a visitor and their networks have sent, so that nobody finds codes by guessing.
 * The limit per minute is that of unknown invitations. Known codes do not count, because many people may share an
 * address. Each process counts separately.
 */
import { RecentMap } from '../../shared/lib/recent-map.ts'
import { problem } from '../../shared/problem.ts'
import type { Presenter } from '../checkout/cart/vouchers.ts'
import { refuse } from '../lib/http/request.ts'

/**
 * The limit of a visitor or an address allows for a few typing errors. The limit of a larger network grows in
 * proportion to the units that it may hold unpaid.
 */
const GUESSES = 20
const WINDOW_MS = 60_000
/** At most this many visitors and networks are remembered. */
const MAX_GUESSERS = 20_000

interface Guessed {
  wrong: number
  /** Codes of calls in progress, which may turn out to be wrong. */
  pending: number
  sinceMs: number
}

export class Guesses {
  readonly #guessed = new RecentMap<string, Guessed>(MAX_GUESSERS)

  /**
   * Throws `too-many-requests` if these codes could exceed the limit. The returned function ends the call with the
   * number of wrong codes.
   */
  begin({ visitor, networks }: Presenter, codes: number, nowMs: number): (wrong: number) => void {
    if (networks === undefined || codes === 0) return () => {}
    const all = [...mostOf(networks), [`visitor ${visitor}`, GUESSES] as const].map(([who, most]) => {
      const found = this.#guessed.getOrAdd(who, () => ({ wrong: 0, pending: 0, sinceMs: nowMs }))
      if (nowMs - found.sinceMs >= WINDOW_MS) Object.assign(found, { wrong: 0, sinceMs: nowMs })
      return { found, isOver: found.wrong + found.pending + codes > most }
    })
    const over = all.find(({ isOver }) => isOver)?.found
    if (over) {
      const waitMs = over.wrong > 0 ? over.sinceMs + WINDOW_MS - nowMs : 1_000
      refuse(problem('too-many-requests', { retry_after_seconds: waitMs / 1000 }))
    }
    for (const { found } of all) found.pending += codes
    return (wrong) => {
      for (const { found } of all) {
        found.pending -= codes
        found.wrong += wrong
      }
    }
  }
}

function mostOf(networks: string): (readonly [network: string, most: number])[] {
  const bounds = networks.split(' ').map((bound) => bound.split('=') as [string, string])
  const least = Number(bounds[0]?.[1])
  return bounds.map(([network, units]) => [network, (GUESSES * Number(units)) / least])
}
