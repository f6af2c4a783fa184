/**
 * The effect of a scheduled action. It is the same as that of the API call with its name, and runs in the transaction
 * of the action's run.
 */
import type { ScheduledEffect } from '../../shared/api/operators/requests.ts'
import { MAX_UNITS } from '../../shared/api/operators/sale-config.ts'
import { chargeIssue } from '../../shared/api/stripe-amount.ts'
import { invalidField, ProblemError, problem } from '../../shared/problem.ts'
import type { Queryable } from '../ledger/connection.ts'
import type { ProductRow } from '../ledger/sale-row.ts'
import { restock } from '../sales/restock.ts'
import { pauseSale, setPrice, setRate, switches } from '../sales/sale-queries.ts'

type Announcement = Extract<ScheduledEffect, { action: 'announce' }>
/** How the shop tells its visitors something; omitted if it has no feed. */
export type Announce = (tx: Queryable, saleId: string, effect: Announcement, operator: string) => Promise<unknown>

/** Throws a ProblemError, and changes nothing, if the call would be refused. */
export async function carryOut(
  tx: Queryable,
  saleId: string,
  effect: ScheduledEffect,
  operator: string,
  announce?: Announce,
): Promise<void> {
  switch (effect.action) {
    case 'restock': {
      const { product_id, quantity } = effect
      await restock(tx, saleId, product_id, { quantity, key: null, max: MAX_UNITS, operator })
      return
    }
    case 'rate':
      return setRate(tx, saleId, effect.rate_per_second, operator)
    case 'price':
      return setPrice(tx, saleId, effect.product_id, effect.unit_price_minor, operator)
    case 'pause':
      return pauseSale(tx, saleId, effect.reason ?? null, operator)
    case 'resume':
      return switches.resume(tx, saleId, operator)
    case 'end':
      return switches.end(tx, saleId, operator)
    // The run keeps what was made before it (documents.ts), and changes nothing of the sale.
    case 'report':
    case 'export':
      return
    case 'announce':
      if (!announce) throw new ProblemError(problem('not-found', { detail: 'The shop has no feed.' }))
      await announce(tx, saleId, effect, operator)
  }
}

/** Throws if the product does not belong to the sale, or if its price could not be charged. */
export function checkProduct(
  effect: ScheduledEffect,
  products: readonly Pick<ProductRow, 'product_id' | 'currency'>[],
): void {
  if (!('product_id' in effect)) return
  const product = products.find((p) => p.product_id === effect.product_id)
  if (!product) throw new ProblemError(problem('unknown-product'))
  const issue = effect.action === 'price' && chargeIssue(effect.unit_price_minor, product.currency)
  if (issue) throw new ProblemError(invalidField('unit_price_minor', issue))
}
