/**
 * The promo codes that buyers enter, in memory. Each is read once for each version of a sale's terms, because a sale
 * may have ten thousand codes.
 */
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { Batcher } from '../lib/batcher.ts'
import { type Guesser, Guesses } from './guesses.ts'
import { type AskedCode, isValidAt } from './promo-code.ts'
import { findPromoCodes, type PromoCodeRow } from './promo-code-queries.ts'

/**
 * At most this many codes of some hundred bytes each are in memory. Unknown codes count too, because anyone can
 * invent them.
 */
const MAX_KNOWN = 20_000
/** The number of codes in one statement, and of callers that may wait for one. */
const LOOK_UPS = { size: 500, queue: 5_000 }

export class PromoCodes {
  readonly #known = new RecentMap<string, Promise<PromoCodeRow | undefined>>(MAX_KNOWN)
  readonly #guesses = new Guesses()
  readonly #lookUps: Batcher<{ sale: string; code: string }, PromoCodeRow | undefined>

  constructor(sql: Sql) {
    this.#lookUps = new Batcher(LOOK_UPS, (asked) => findPromoCodes(sql, asked))
  }

  /** Fails as the ledger does, with Overloaded, or with `too-many-requests` if the caller may be guessing. */
  async find(sale: SaleRow, codes: readonly string[], guesser: Guesser, nowMs: number): Promise<AskedCode[]> {
    const end = this.#guesses.begin(guesser, codes.length, nowMs)
    let wrong = 0
    try {
      const found = await Promise.all(
        codes.map(async (code) => ({ code, row: (await this.#find(sale, code)) ?? null })),
      )
      wrong = found.filter(({ row }) => !row || !isValidAt(row, nowMs)).length
      return found
    } finally {
      end(wrong)
    }
  }

  #find({ sale_id: sale, terms_version }: SaleRow, code: string): Promise<PromoCodeRow | undefined> {
    const key = `${sale} ${terms_version} ${code}`
    return this.#known.getOrAdd(key, () => {
      const found = this.#lookUps.add({ sale, code })
      found.catch(() => this.#known.delete(key))
      return found
    })
  }
}
