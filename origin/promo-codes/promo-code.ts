/** What a promo code is to the checkout, when it is valid, and which amounts it may have. Pure. */
import type { PromoCode } from '../../shared/api/goods.ts'
import { amountIssue, chargeIssue } from '../../shared/api/stripe-amount.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import type { Voucher } from '../checkout/cart/vouchers.ts'
import type { ProductRow } from '../ledger/sale-row.ts'
import type { PromoCodeRow } from './promo-code-queries.ts'

/** `nowMs` is the time of the ledger's clock. */
export function isValidAt({ valid_from, valid_until }: PromoCodeRow, nowMs: number): boolean {
  return (valid_from?.getTime() ?? -Infinity) <= nowMs && nowMs < (valid_until?.getTime() ?? Infinity)
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

/** The code as the checkout knows it. */
export const voucherOf = ({
  code,
  percent,
  amount_minor,
  price_minor,
  products,
  units_per_use,
  combined,
  uses_per_visitor,
}: PromoCodeRow): Voucher => ({
  discount: {
    code,
    products,
    units_per_use,
    ...(percent !== null && { percent }),
    ...(amount_minor !== null && { amount_minor }),
    ...(price_minor !== null && { price_minor }),
  },
  combined,
  usesPerVisitor: uses_per_visitor,
})
