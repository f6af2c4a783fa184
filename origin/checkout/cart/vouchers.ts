/**
 * What a buyer presents with an order to pay less: vouchers, each with a code and so many uses. A feature that issues
 * them, such as promo codes, is given in where the origin is composed; the checkout knows it by these types alone.
 */
import type { Discount } from '../../../shared/bill.ts'
import { invalidField, type Problem, problem } from '../../../shared/problem.ts'
import type { Queryable } from '../../ledger/connection.ts'
import type { ProductRow, SaleRow } from '../../ledger/sale-row.ts'

/** A use of it is a part of the cart (`usePromoCode` in ledger/cart.ts), so both gates count it. */
export interface Voucher {
  readonly discount: Discount
  /** False if an order may have no other voucher. */
  readonly combined: boolean
  /** Null means no limit. */
  readonly usesPerVisitor: number | null
}

/** The caller who presents a voucher. */
export interface Presenter {
  readonly visitor: string
  /** The networks as EDGE_NETWORKS_HEADER contains them; omitted if nothing is limited. */
  readonly networks?: string | undefined
}

/** A feature that issues vouchers. Results are parallel to the codes; an unknown code is undefined. */
export interface VoucherSource {
  /**
   * The vouchers that are valid now. Fails as the ledger does, with Overloaded, or with `too-many-requests` if the
   * caller may be guessing.
   */
  find(
    sale: SaleRow,
    codes: readonly string[],
    presenter: Presenter,
    nowMs: number,
  ): Promise<readonly (Voucher | undefined)[]>
  /** The vouchers of an order that exists, whether they are still valid or not. */
  ofOrder(tx: Queryable, saleId: string, codes: readonly string[]): Promise<readonly (Voucher | undefined)[]>
  /** The codes that have no use left, for everybody or for this visitor. */
  usedUp(saleId: string, visitor: string, codes: readonly string[]): Promise<ReadonlySet<string>>
}

/** A code of a request; the voucher is null if the code is unknown or not valid now. */
export interface Presented {
  readonly code: string
  readonly voucher: Voucher | null
}

/** Returns what a request presents, each code from the first source that knows it. */
export async function findVouchers(
  sources: readonly VoucherSource[],
  sale: SaleRow,
  codes: readonly string[],
  presenter: Presenter,
  nowMs: number,
): Promise<Presented[]> {
  const found = await Promise.all(sources.map((source) => source.find(sale, codes, presenter, nowMs)))
  return codes.map((code, i) => ({ code, voucher: found.map((of) => of[i]).find((one) => one) ?? null }))
}

/** Returns the vouchers of an order. A code that no source knows any more takes nothing off. */
export async function vouchersOfOrder(
  sources: readonly VoucherSource[],
  tx: Queryable,
  saleId: string,
  codes: readonly string[],
): Promise<Voucher[]> {
  const found: (readonly (Voucher | undefined)[])[] = []
  for (const source of sources) found.push(await source.ofOrder(tx, saleId, codes))
  return codes.map((_, i) => found.map((of) => of[i]).find((one) => one)).filter((one) => one !== undefined)
}

/** Returns the vouchers that may be used now, or why one may not. */
export function usableVouchers(presented: readonly Presented[]): readonly Voucher[] | Problem {
  const wrong = presented.find(({ voucher }) => !voucher)
  return wrong ? unknownCode(wrong.code) : presented.map(({ voucher }) => voucher).filter((voucher) => voucher !== null)
}

type Bought = Pick<ProductRow, 'product_id' | 'variant_of'>

/** True if the voucher takes something off one of these products. */
export const isFor = ({ discount: { products } }: Voucher, bought: readonly Bought[]): boolean =>
  products === null ||
  bought.some(({ product_id, variant_of }) => products.some((id) => id === product_id || id === variant_of))

/**
 * The reason why the vouchers cannot be combined; undefined if they can. It is checked only for vouchers that can each
 * be used alone: next to a valid code, a conflict would confirm a guessed one.
 */
export function clashOf(vouchers: readonly Voucher[]): Problem | undefined {
  if (new Set(vouchers.map(({ discount }) => discount.code)).size < vouchers.length)
    return invalidField('promo_code', 'is named twice')
  const alone = vouchers.length > 1 && vouchers.find(({ combined }) => !combined)
  return alone ? invalidField('promo_code', `${alone.discount.code} cannot be combined with another code`) : undefined
}

export const unknownCode = (code: string): Problem =>
  problem('promo-code-unknown', {
    detail: `The promo code ${code} is unknown, or not valid for this order.`,
    errors: [{ field: 'promo_code', detail: 'is unknown, or not valid for this order' }],
    promo_code: code,
  })
