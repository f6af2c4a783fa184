/**
 * What a request for an order names beside its lines, and what it comes to: vouchers, terms, and the sum that it
 * is refused with.
 */
import { hash } from 'node:crypto'
import type { CheckoutRequest } from '../../shared/api/public.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { FieldError, Problem } from '../../shared/problem.ts'
import { partsOf } from '../ledger/cart.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import type { CheckoutReservation } from '../seats/cart-choice.ts'
import type { Hall, Halls } from '../seats/halls.ts'
import { type Asked, askedOf, asksForSeats, invalid, mustAccept } from './cart/cart.ts'
import { type Pricing, priceOf } from './cart/pricing.ts'
import { findVouchers, type Presented, type Presenter, type Voucher, type VoucherSource } from './cart/vouchers.ts'
import type { Outcome } from './outcome.ts'

export interface ContextDeps {
  readonly halls: Halls
  readonly vouchers: readonly VoucherSource[]
}

/** The buyer of a request, as the edge or the box office names them. */
export type Buyer = Pick<
  CheckoutReservation,
  'visitor' | 'line' | 'number' | 'source' | 'isBoxOffice' | 'contact' | 'networks'
> & {
  /** What is missing or wrong in what the buyer says of themselves. */
  readonly errors?: readonly FieldError[]
}

/** What was read for a request: the hall, if it asks for seats, and the vouchers that it presents. */
export interface Context {
  readonly hall: Hall | null
  readonly presented: readonly Presented[]
}

/** Fails as the ledger does, and with `too-many-requests` where the codes may be guesses. */
export async function contextOf(
  { halls, vouchers }: ContextDeps,
  sale: SaleRow,
  request: CheckoutRequest,
  presenter: Presenter,
  nowMs: number,
): Promise<Context> {
  const [hall, presented] = await Promise.all([
    asksForSeats(request, sale) ? halls.of(sale) : null,
    findVouchers(vouchers, sale, namedCodes(request), presenter, nowMs),
  ])
  return { hall, presented }
}

const namedCodes = ({ promo_code: named = [] }: CheckoutRequest) => (typeof named === 'string' ? [named] : named)

/** Returns all errors of a request at once. */
export function wrongIn(
  sale: SaleRow,
  asked: Asked | Problem,
  ofBuyer: readonly FieldError[],
  request: CheckoutRequest,
): Problem | undefined {
  const { errors: ofCart = [] }: Partial<Problem> = 'type' in asked ? asked : {}
  if ('type' in asked && asked.type !== '/problems/invalid-fields') return asked
  const isUnaccepted = !('type' in asked) && mustAccept(sale, asked, request)
  if (ofCart.length === 0 && ofBuyer.length === 0 && !isUnaccepted) return undefined
  const ofTerms = isUnaccepted ? [{ field: 'accept', detail: 'the terms must be accepted: "terms"' }] : []
  return invalid([...ofCart, ...ofTerms, ...ofBuyer])
}

export const pricingOf = (
  sale: SaleRow,
  { delivery }: CheckoutRequest,
  hall: Hall | null,
  vouchers: readonly Voucher[],
): Pricing => ({ sale, vouchers, chart: hall?.chart ?? null, country: delivery?.country })

/**
 * A refusal for its price with the new one; and one of a code, with what it costs without. Seats not chosen have no
 * price.
 */
export function withTotals(
  outcome: Outcome,
  sale: SaleRow,
  request: CheckoutRequest,
  { hall, presented }: Context,
): Outcome {
  if (outcome.kind !== 'problem') return outcome
  const { type, promo_code, total_minor } = outcome.problem
  const isWithout = type === '/problems/promo-code-used-up'
  if (!isWithout && (type !== '/problems/price-changed' || total_minor !== undefined)) return outcome
  const asked = askedOf(request, sale, hall?.chart ?? null)
  if ('type' in asked || (asked.choice && !asked.cart)) return outcome
  const left = presented
    .map(({ code, voucher }) => (isWithout && code === promo_code ? null : voucher))
    .filter((voucher) => voucher !== null)
  const price = priceOf(pricingOf(sale, request, hall, left), partsOf(asked))
  return 'type' in price ? outcome : { ...outcome, problem: { ...outcome.problem, ...price.totals } }
}

/** The hash covers only what the client sent. Defaults, such as the first product, may change while the sale runs. */
export function requestHash(request: CheckoutRequest): string {
  const { lines, product_id = null, quantity = 1, payment_method = null, contact, ...others } = request
  const asked = lines ? [lines] : [product_id, quantity]
  const { promo_code, delivery, accept, total_minor } = others
  const more = Object.keys(others).length > 0 ? [{ promo_code, delivery, accept, total_minor }] : []
  const sent = JSON.stringify([...asked, payment_method, ...(contact ? [contact.email] : []), ...more])
  // These hashes are not cached: addresses differ between requests, and are personal data.
  if (contact || delivery || lines) return hash('sha256', sent, 'base64url')
  const known = hashes.get(sent)
  if (known !== undefined) return known
  const hashed = hash('sha256', sent, 'base64url')
  hashes.set(sent, hashed)
  return hashed
}

/** A small cache of hashes serves nearly all requests, because most requests of a sale are alike. */
const hashes = new RecentMap<string, string>(100)
