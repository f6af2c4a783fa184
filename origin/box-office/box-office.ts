/**
 * The box office: sells at once, without a queue or a payment page, through the gates that everyone passes. It also
 * sells before the sale opens and while it is paused, and no limit of the sale is its own.
 */
import { NO_DELIVERY } from '../../shared/api/goods.ts'
import type { BoxOfficeRequest } from '../../shared/api/operators/hall-admin.ts'
import { statusOf } from '../../shared/api/order-status.ts'
import type { CheckoutRequest } from '../../shared/api/public.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import type { Checkout } from '../checkout/checkout.ts'
import type { Sql } from '../ledger/connection.ts'
import type { OrderRow } from '../ledger/order-statements.ts'
import type { Contact } from '../ledger/record.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { tryAgain } from '../lib/http/request.ts'
import type { Orders } from '../orders/orders.ts'
import { insertNote } from '../support/support-queries.ts'

/** A limit above the number of units of any order. */
const UNLIMITED = 1_000_000_000
/** In place of a queue and a ticket's number: the report compares the orders of queues only. */
const [NO_QUEUE, NO_TICKET] = ['box-office', 0]

interface BoxOfficeDeps {
  readonly sql: Sql
  readonly checkout: Pick<Checkout, 'checkout'>
  readonly orders: Pick<Orders, 'confirmAtBoxOffice'>
}

interface Sold {
  readonly order: OrderRow
  /** An earlier call with this key has sold it. */
  readonly isReplay: boolean
}

/** Throws the problem of a checkout that gets nothing. */
export async function sellAtBoxOffice(
  { sql, checkout, orders }: BoxOfficeDeps,
  sale: SaleRow,
  { lines, contact: sent, note }: BoxOfficeRequest,
  { operator, key }: { readonly operator: string; readonly key: string },
): Promise<Sold> {
  const contact = contactOf(sale, sent?.email)
  const buyer = {
    visitor: `box office:${operator}`,
    line: NO_QUEUE,
    number: NO_TICKET,
    isBoxOffice: true as const,
    ...(contact && { contact }),
  }
  // Terms are accepted at the counter, and what is bought there is not sent.
  const request: CheckoutRequest = { lines, accept: ['terms'], ...(sent && { contact: sent }) }
  const outcome = await checkout.checkout(asAlwaysOpen(sale), buyer, request, key)
  if (outcome.kind === 'problem') throw new ProblemError(outcome.problem)
  // A worker records it, if nobody asks again, and then it expires: it is not sold before it is confirmed.
  if (outcome.kind !== 'recorded')
    throw new ProblemError(tryAgain('It is not recorded yet. Try again with the same key.'))
  const { order } = outcome
  const confirmed = order.status === 'reserved' ? await orders.confirmAtBoxOffice(order.order_id, operator) : undefined
  if (confirmed) {
    if (note !== '') await insertNote(sql, order.order_id, { operator, text: note })
    return { order: confirmed, isReplay: false }
  }
  if (order.status === 'confirmed' || order.status === 'fulfilled') return { order, isReplay: true }
  const status = order.status === 'reserved' ? 'expired' : statusOf(order.status)
  throw new ProblemError(problem('conflict', { detail: `The order of this key is ${status}: take another key.` }))
}

/** The sale as the box office has it. One that has ended stays ended. */
const asAlwaysOpen = (sale: SaleRow): SaleRow => ({
  ...sale,
  opens_at: new Date(0),
  paused: false,
  limit_per_visitor: UNLIMITED,
  limit_per_order: null,
  delivery: NO_DELIVERY,
})

/** The address is stored only if the sale keeps addresses. */
const contactOf = ({ contact }: SaleRow, email: string | undefined): Contact | undefined =>
  email === undefined || contact.email === 'off' ? undefined : { email, address: null, language: 'en' }
