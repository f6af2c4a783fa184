/** Decides which promo codes an order may use, and the reason if it may not. Pure. */
import type { PromoCode } from '../../shared/api/goods.ts'
import { amountIssue, chargeIssue } from '../../shared/api/stripe-amount.ts'
import type { Discount } from '../../shared/bill.ts'
import { invalidField, type Problem, ProblemError, problem } from '../../shared/problem.ts'
import type { ProductRow } from '../ledger/sale-row.ts'
import type { PromoCodeRow } from './promo-code-queries.ts'

/** A requested code and its row; the row is null if the code does not exist. */
export interface AskedCode {
  readonly code: string
  readonly row: PromoCodeRow | null
}

type Bought = Pick<ProductRow, 'product_id' | 'variant_of'>

/** `nowMs` is the time of the ledger's clock. */
export function isValidAt({ valid_from, valid_until }: PromoCodeRow, nowMs: number): boolean {
  return (valid_from?.getTime() ?? -Infinity) <= nowMs && nowMs < (valid_until?.getTime() ?? Infinity)
}

/** True if the code takes something off one of these products. */
export const isFor = ({ products }: PromoCodeRow, bought: readonly Bought[]): boolean =>
  products === null ||
  bought.some(({ product_id, variant_of }) => products.some((id) => id === product_id || id === variant_of))

/** True if an order of these products may use the code now. */
export const isUsable = ({ row }: AskedCode, bought: readonly Bought[], nowMs: number): boolean =>
  row !== null && isValidAt(row, nowMs) && isFor(row, bought)

/**
 * The reason why the codes cannot be combined; undefined if they can. It is checked only for codes that can each be
 * used alone: next to a valid code, a conflict would confirm a guessed one.
 */
export function clashOf(codes: readonly Pick<PromoCodeRow, 'code' | 'combined'>[]): Problem | undefined {
  if (new Set(codes.map(({ code }) => code)).size < codes.length) return invalidField('promo_code', 'is named twice')
  const alone = codes.length > 1 && codes.find(({ combined }) => !combined)
  return alone ? invalidField('promo_code', `${alone.code} cannot be combined with another code`) : undefined
}

/** Throws if a code would take off or leave an amount that cannot be paid in a currency of the sale. */
export function requirePayable(
  codes: readonly Pick<PromoCode, 'code' | 'amount_minor' | 'price_minor'>[],
  products: readonly Pick<ProductRow, 'currency'>[],
): void {
  const errors = codes.flatMap(({ code, amount_minor = 0, price_minor = 0 }) =>
    [...new Set(products.map(({ currency }) => currency))].flatMap((currency) => {
      const [off, left] = [amountIssue(amount_minor, currency), chargeIssue(price_minor, currency)]
      return [
        ...(off ? [{ field: `${code}.amount_minor`, detail: off }] : []),
        ...(left ? [{ field: `${code}.price_minor`, detail: left }] : []),
      ]
    }),
  )
  const [first] = errors
  if (!first) return
  const detail = `${errors.length} errors, and nothing was imported. The first: ${first.field}: ${first.detail}`
  throw new ProblemError(
    problem('invalid-fields', { detail, errors: errors.slice(0, MAX_NAMED), error_count: errors.length }),
  )
}
/** At most this many errors are listed; the others are counted. */
const MAX_NAMED = 100

export const unknownCode = (code: string): Problem =>
  problem('promo-code-unknown', {
    detail: `The promo code ${code} is unknown, or not valid for this order.`,
    errors: [{ field: 'promo_code', detail: 'is unknown, or not valid for this order' }],
    promo_code: code,
  })

export const discountOf = ({
  code,
  percent,
  amount_minor,
  price_minor,
  products,
  units_per_use,
}: PromoCodeRow): Discount => ({
  code,
  products,
  units_per_use,
  ...(percent !== null && { percent }),
  ...(amount_minor !== null && { amount_minor }),
  ...(price_minor !== null && { price_minor }),
})
