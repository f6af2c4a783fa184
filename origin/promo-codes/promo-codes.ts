/** The promo codes that buyers ask for, each read once for each version of a sale's terms: a sale may have ten thousand. */
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Sql } from '../ledger/connection.ts'
import { Batcher } from '../lib/batcher.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import { type Guesser, Guesses } from './guesses.ts'
import { type AskedCode, isValidAt } from './promo-code.ts'
import { findPromoCodes, type PromoCodeRow } from './promo-code-queries.ts'

/** Codes in memory, of some hundred bytes each; also those that do not exist, which anyone can make up. */
const MAX_KNOWN = 20_000
/** Codes read in one statement, and callers who may wait for one. */
const LOOK_UPS = { size: 500, queue: 5_000 }

export class PromoCodes {
  readonly #known = new RecentMap<string, Promise<PromoCodeRow | undefined>>(MAX_KNOWN)
  readonly #guesses = new Guesses()
  readonly #lookUps: Batcher<{ sale: string; code: string }, PromoCodeRow | undefined>

  constructor(sql: Sql) {
    this.#lookUps = new Batcher(LOOK_UPS, (asked) => findPromoCodes(sql, asked))
  }

  /** Fails as the ledger does, with Overloaded, and with `too-many-requests` where so many may be guesses. */
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
