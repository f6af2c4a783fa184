/** Adds units to a product while its sale runs. */
import { invalidField, ProblemError, problem } from '../../shared/problem.ts'
import { ADMIN_NAME, audit } from '../ledger/audit.ts'
import type { Queryable } from '../ledger/connection.ts'
import { conflict, ENDED_FOR_GOOD, inTransaction, publishPhase } from './sale-queries.ts'

/**
 * Adds units to a product, once per key. Throws, and changes nothing, if the key was used with another quantity, the
 * sale has been ended, or the total would exceed `max`.
 */
export async function restock(
  sql: Queryable,
  saleId: string,
  productId: string,
  {
    quantity,
    key,
    max,
    operator = ADMIN_NAME,
  }: { quantity: number; key: string | null; max: number; operator?: string },
): Promise<'restocked' | 'replay'> {
  return inTransaction(sql, async (tx) => {
    // The sale's row is locked before the product's row, in the same order as each batch of orders does.
    await tx`select from sales where sale_id = ${saleId} for no key update`
    // The lock lets a simultaneous call with the same key see the first one's entry.
    const [row] = await tx<{ total: number; ended: boolean; has_seats: boolean; has_variants: boolean }[]>`
      select total, ended_at is not null as ended, section_type is not distinct from 'reserved' as has_seats,
        exists (select from products v where v.sale_id = ${saleId} and v.variant_of = ${productId}) as has_variants
      from products join sales using (sale_id)
      where sale_id = ${saleId} and product_id = ${productId} for no key update of products`
    if (key !== null) {
      const [earlier] = await tx<{ quantity: number }[]>`
        select (after -> 'quantity')::int as quantity from audit_log
        where sale_id = ${saleId} and product_id = ${productId} and action = 'restocked' and idempotency_key = ${key}`
      if (earlier && earlier.quantity !== quantity) throw new ProblemError(problem('idempotency-key-reused'))
      if (earlier) return 'replay'
    }
    if (!row) throw new ProblemError(problem('unknown-product'))
    if (row.ended) throw conflict(ENDED_FOR_GOOD)
    if (row.has_seats) throw conflict(`${productId} has seats, which are its total: import those that it has now.`)
    if (row.has_variants) throw conflict(`${productId} has variants: restock one of them.`)
    if (row.total + quantity > max) throw new ProblemError(invalidField('quantity', `the total would exceed ${max}`))
    const after = { total: row.total + quantity, quantity }
    await tx`update products set total = ${after.total} where sale_id = ${saleId} and product_id = ${productId}`
    const before = { total: row.total }
    await audit(tx, [{ actor: operator, action: 'restocked', sale: saleId, product: productId, key, before, after }])
    await publishPhase(tx, saleId, true)
    return 'restocked'
  })
}
