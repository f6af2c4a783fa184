/**
 * The promo codes that buyers enter, in memory. Each is read once for each version of a sale's terms, because a sale
 * may have ten thousand codes.
 */
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Presenter, Voucher, VoucherSource } from '../checkout/cart/vouchers.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { Batcher } from '../lib/batcher.ts'
import { machine } from '../lib/runtime.ts'
import { Guesses } from './guesses.ts'
import { isValidAt, voucherOf } from './promo-code.ts'
import { findPromoCodes, type PromoCodeRow, usedUpCodes } from './promo-code-queries.ts'

/**
 * At most this many codes of some hundred bytes each are in memory. Unknown codes count too, because anyone can
 * invent them.
 */
const MAX_KNOWN = 20_000
/** The number of codes in one statement, and of callers that may wait for one. */
const LOOK_UPS = { size: 500, queue: 5_000 }

export class PromoCodes implements VoucherSource {
  readonly #sql: Sql
  readonly #known = new RecentMap<string, Promise<PromoCodeRow | undefined>>(MAX_KNOWN)
  readonly #guesses = new Guesses()
  readonly #lookUps: Batcher<{ sale: string; code: string }, PromoCodeRow | undefined>

  constructor(sql: Sql, runtime = machine) {
    this.#sql = sql
    this.#lookUps = new Batcher(LOOK_UPS, (asked) => findPromoCodes(sql, asked), runtime)
  }

  async find(sale: SaleRow, codes: readonly string[], presenter: Presenter, nowMs: number) {
    const end = this.#guesses.begin(presenter, codes.length, nowMs)
    let wrong = 0
    try {
      const found = await Promise.all(codes.map((code) => this.#find(sale, code)))
      const vouchers = found.map((row) => (row && isValidAt(row, nowMs) ? voucherOf(row) : undefined))
      wrong = vouchers.filter((voucher) => !voucher).length
      return vouchers
    } finally {
      end(wrong)
    }
  }

  async ofOrder(tx: Queryable, sale: string, codes: readonly string[]): Promise<(Voucher | undefined)[]> {
    const rows = await findPromoCodes(
      tx,
      codes.map((code) => ({ sale, code })),
    )
    return rows.map((row) => row && voucherOf(row))
  }

  usedUp(saleId: string, visitor: string, codes: readonly string[]): Promise<ReadonlySet<string>> {
    return usedUpCodes(this.#sql, saleId, visitor, codes)
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
