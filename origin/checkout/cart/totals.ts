/** What an order would cost, for those whose turn it is to see before they ask for it. Nothing is held. */

import { Hono } from 'hono'
import { PUBLIC_LINE } from '../../../shared/api/access.ts'
import { NO_DELIVERY } from '../../../shared/api/goods.ts'
import { CheckoutRequest, type Totals } from '../../../shared/api/public.ts'
import { assertExists } from '../../../shared/lib/assert.ts'
import { type Problem, problem } from '../../../shared/problem.ts'
import type { Buyers } from '../../access/buyer-access.ts'
import { type Cart, partsOf } from '../../ledger/cart.ts'
import type { SaleRow } from '../../ledger/sale-row.ts'
import { readBody, refuse, sendJson, tryAgain } from '../../lib/http/request.ts'
import { inLine } from '../../sales/sale-state.ts'
import type { Sales } from '../../sales/sales.ts'
import { chooseCart } from '../../seats/cart-choice.ts'
import { Free } from '../../seats/free.ts'
import type { Gates } from '../../stock/gate/gate.ts'
import { closedFor } from '../outcome.ts'
import { type ContextDeps, contextOf, pricingOf } from '../request-context.ts'
import { type Asked, askedOf, invalid } from './cart.ts'
import { isServed, UNSERVED } from './delivery.ts'
import { type Price, priceOf } from './pricing.ts'
import { isFor, type Presenter } from './vouchers.ts'

export interface TotalsDeps extends ContextDeps {
  readonly buyers: Buyers
  readonly gates: Gates
  readonly sales: Sales
}

/** A quote needs neither the accepted terms nor an e-mail address, and only the country of the delivery address. */
interface TotalsAnswer extends Totals {
  readonly currency: string
  readonly promo_codes: readonly {
    readonly code: string
    readonly holds: boolean
    readonly reason?: 'unknown' | 'used_up'
  }[]
  /** What it costs to send it depends on the country: the totals are without it. */
  readonly needs_country?: true
}

export const totalsRoutes = (deps: TotalsDeps) =>
  new Hono().post('/sales/:sale/totals', async (c) => {
    const { buyers, sales } = deps
    const saleId = c.req.param('sale')
    const { sub: visitor, line = PUBLIC_LINE } = buyers.enterAdmitted(saleId, await buyers.readAdmission(c))
    try {
      const sale = (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
      const presenter = { visitor, networks: buyers.networksOf(c) }
      const answer = await totalsFor(deps, inLine(sale, line), presenter, await readBody(c, CheckoutRequest))
      return sendJson('type' in answer ? refuse(answer) : answer, 200)
    } finally {
      buyers.leave(visitor)
    }
  })

export async function totalsFor(
  deps: TotalsDeps,
  sale: SaleRow,
  presenter: Presenter,
  request: CheckoutRequest,
): Promise<TotalsAnswer | Problem> {
  const nowMs = deps.sales.nowMs()
  const context = await contextOf(deps, sale, request, presenter, nowMs)
  const { hall, presented } = context
  const asked = askedOf(request, sale, hall?.chart ?? null)
  if ('type' in asked) return asked
  const country = request.delivery?.country
  const unserved = country !== undefined && !isServed(sale.delivery, country)
  const refusal = closedFor(sale, asked.quantity, nowMs) ?? (unserved ? invalid([UNSERVED]) : undefined)
  if (refusal) return refusal
  const cart = await cartFor(deps, sale, asked)
  if (!cart) return tryAgain('There are not so many such seats at this moment. Some may come back.')
  const bought = cart
    .map(({ product }) => sale.products.find(({ product_id }) => product_id === product))
    .filter((product) => product !== undefined)
  const codes = presented.map(({ code }) => code)
  const usedUp =
    codes.length === 0
      ? []
      : await Promise.all(deps.vouchers.map((source) => source.usedUp(sale.sale_id, presenter.visitor, codes)))
  const judged = presented.map(({ code, voucher }) => {
    const isUsable = voucher !== null && isFor(voucher, bought)
    const reason = !isUsable ? 'unknown' : usedUp.some((used) => used.has(code)) ? 'used_up' : undefined
    return { code, voucher, reason } as const
  })
  const holding = judged.flatMap(({ voucher, reason }) => (voucher && !reason ? voucher : []))
  const priceIn = (at: SaleRow) => priceOf(pricingOf(at, request, hall, holding), cart)
  const price = priceIn(sale)
  const isCountryMissing = 'type' in price && country === undefined && sale.delivery.kind === 'address'
  const known: Price | Problem = isCountryMissing ? priceIn({ ...sale, delivery: NO_DELIVERY }) : price
  if ('type' in known) return known
  return {
    ...known.totals,
    currency: assertExists(bought[0], 'What has a price is in its sale.').currency,
    promo_codes: judged.map(({ code, reason }) => ({ code, holds: !reason, ...(reason && { reason }) })),
    ...(isCountryMissing && { needs_country: true }),
  }
}

/** Seats that are left to the system are those that would be chosen now; null if none fit. */
async function cartFor({ gates }: TotalsDeps, sale: SaleRow, asked: Asked): Promise<Cart | null> {
  const { choice } = asked
  if (!choice || asked.cart) return partsOf(asked)
  const cart = chooseCart(choice, new Free(choice.chart, await gates.of(sale.sale_id).seats()))
  return cart.length > 0 ? cart : null
}
