/**
 * Group commit: all reservations of a batch are recorded in one transaction of the exact gate. Live orders never
 * exceed the total, whatever Redis believes, because the product rows say so.
 */

import type { Address, BillLine } from '../../shared/api/goods.ts'
import { assert, assertExists } from '../../shared/lib/assert.ts'
import type { Problem } from '../../shared/problem.ts'
import { type Cart, partsOf, unitLines } from './cart.ts'
import { type Queryable, sent } from './connection.ts'
import type { ProductRow } from './sale-row.ts'
import type { StoredLine } from './schema/orders.ts'

/**
 * What recording needs. It also travels as an intent through Redis, so it contains nothing that may change meanwhile.
 */
export interface Reservation {
  readonly order: string
  readonly sale: string
  /** The product; in a cart, the product of the first line. */
  readonly product: string
  readonly visitor: string
  /** The queue of the sale that admitted the visitor. */
  readonly line: string
  readonly number: number
  /** The label of the visitor's source; left out without one. */
  readonly source?: string
  /** The box office sells it: no limit of the sale or of a product counts. */
  readonly isBoxOffice?: true
  /** The units of all lines. Uses of promo codes do not count. */
  readonly quantity: number
  /**
   * Left out: units of one product that has no limit of its own. Empty: no seats fit its wishes. Promo codes come
   * last.
   */
  readonly cart?: Cart
  readonly key: string
  readonly hash: string
  readonly method: string | null
  /** Left out: whatever its products cost as it is recorded, and nothing beside. */
  readonly charge?: Charge
  /** The contact; left out if the sale stores none. */
  readonly contact?: Contact
}

/** What an order was computed to cost, which is recorded if it still follows from the sale, or else not at all. */
export interface Charge {
  /** Unit prices, one for each line: for each seat, and for each part of the cart that has none. */
  readonly prices: readonly number[]
  /** The costs beside the prices; left out if there are none. */
  readonly billed?: Billed
}

interface Billed {
  /** `terms_version` of the sale. */
  readonly terms: number
  readonly bill: readonly BillLine[]
  /** What each line costs with its share of the bill. */
  readonly shares: readonly number[]
}

/** What units cost: with the promo codes used, as further parts. Or why they cannot be sold so. Pure. */
export type Quote = (cart: Cart) => Quoted | Problem
export type Quoted = Pick<Reservation, 'cart' | 'charge'>

/** How a buyer can be reached: personal data, which is kept apart from the order. */
export interface Contact {
  readonly email: string | null
  readonly delivery?: Address
  /** The network address of the checkout. */
  readonly address: string | null
  readonly language: string
}

/** What all recorded reservations of a batch have in common. */
export interface Recorded {
  readonly verdict: 'recorded'
  readonly createdAt: Date
  readonly reservedUntil: Date
  /** The prices as written, by product. They may differ from those that the caller read before. */
  readonly prices: Readonly<Record<string, Pick<ProductRow, 'name' | 'unit_price_minor' | 'currency'>>>
  /** The order number, from 1, by order id. */
  readonly numbers: Readonly<Record<string, number>>
  /** The lines of orders with a cart, by order. */
  readonly carts?: Readonly<Record<string, readonly StoredLine[]>> | null
  /** What was chosen for a reservation that left its seats to the ledger. */
  readonly chosen?: Quoted
}

export type RecordVerdict =
  | Recorded
  | { readonly verdict: 'replay'; readonly order: string }
  /**
   * The visitor's limit is used up: of the sale, or of `product`. `order` is their live order, if any; `units` counts
   * those of all their live orders.
   */
  | {
      readonly verdict: 'limit'
      readonly order: string | null
      readonly units: number
      readonly product?: string | null
    }
  /** The visitor has had too many orders in this sale that expired, were given back or were declined. */
  | { readonly verdict: 'too_many' }
  /** The sale has other prices or terms than the order was computed with. */
  | { readonly verdict: 'price_changed' }
  /** The seats chosen for it cannot be sold at their price: the ledger was not asked. */
  | { readonly verdict: 'priced_out'; readonly problem: Problem }
  /** Too few units are left; or others with fewer unpaid orders come first. `unpaid`: how many the visitor has. */
  | { readonly verdict: 'no_stock' | 'unpaid'; readonly unpaid: number; readonly product?: string | null }
  /** Seats that somebody else has, or that are blocked; null where an earlier call was told which. */
  | { readonly verdict: 'seat_taken'; readonly seats: readonly number[] | null }

interface RecordRow extends Omit<Recorded, 'verdict' | 'numbers'> {
  readonly recorded: number
  /** The order numbers, in the order of the batch. */
  readonly numbers: readonly number[]
  readonly others:
    | readonly (Exclude<RecordVerdict, Recorded> & { readonly index: number; readonly written: boolean })[]
    | null
}

/**
 * Records reservations of one sale; the verdicts are parallel to the batch. With `noteRefusals` each refused
 * reservation, and each whose key has another order, leaves a cancelled order for buyers who were sent to ask for it,
 * and is refused whenever it comes again. `demand`: how many units those may buy who come before a visitor with one,
 * two, .. unpaid orders.
 */
export async function record(
  sql: Queryable,
  saleId: string,
  batch: readonly Reservation[],
  noteRefusals: boolean,
  demand: readonly number[] = [],
): Promise<RecordVerdict[]> {
  const column = <K extends Exclude<keyof Reservation, 'cart' | 'contact' | 'charge' | 'source' | 'isBoxOffice'>>(
    key: K,
  ) => batch.map((r) => r[key])
  const contacts = batch.flatMap((r) => (r.contact ? [{ order_id: r.order, ...r.contact }] : []))
  const buyers = sql`${column('visitor')}::text[], ${column('line')}::text[], ${column('number')}::bigint[],
    ${batch.map(({ source = null }) => source)}::text[], ${column('quantity')}::int[], ${column('key')}::text[],
    ${column('hash')}::text[], ${column('method')}::text[], ${noteRefusals}, ${demand as number[]}::int[]`
  // Contacts and carts are left out for a batch without them, which makes most statements cheaper. Only record_carts
  // knows the box office.
  const hasCarts = batch.some(({ cart, isBoxOffice }) => cart || isBoxOffice)
  const kept = sql`add_contacts(${JSON.stringify(contacts)}::text::jsonb, ${saleId}, ${column('order')}::uuid[],
    created_at, others)`
  const also = sql`${hasCarts ? sql`, carts` : sql``} ${contacts.length > 0 ? sql`, ${kept}` : sql``}`
  const shown = batch.some(({ charge }) => charge) ? batch.map(({ charge }) => charge?.prices[0] ?? null) : null
  const call = hasCarts
    ? sql`record_carts(${saleId}, ${column('order')}::uuid[], ${buyers}, ${linesOf(sql, batch)})`
    : sql`record_reservations(${saleId}, ${column('order')}::uuid[], ${column('product')}::text[], ${buyers},
        ${shown}::bigint[])`
  const [row] = await sent(sql<RecordRow[]>`
    select recorded, others, numbers, created_at as "createdAt", reserved_until as "reservedUntil", prices ${also}
      from ${call}`)
  // The ledger names no others if it has recorded all.
  const others = row?.others ?? []
  assert(row && row.recorded + others.length === batch.length, 'Each reservation of a batch has one verdict.')
  const { createdAt, reservedUntil, prices, carts } = row
  const numbers = Object.fromEntries(
    batch.map(({ order }, i) => [order, assertExists(row.numbers[i], 'Each reservation of a batch has a number.')]),
  )
  const verdicts: RecordVerdict[] = Array(batch.length).fill({
    verdict: 'recorded',
    createdAt,
    reservedUntil,
    prices,
    numbers,
    ...(carts && { carts }),
  })
  for (const { index, written: _, ...verdict } of others) verdicts[index - 1] = verdict
  return verdicts
}

/** The lines of a batch as record_carts takes them, and what its orders cost beside them. */
function linesOf(sql: Queryable, batch: readonly Reservation[]) {
  const lines = batch.flatMap((r, i) =>
    unitLines(partsOf(r)).map((line, n) => {
      const [price = null, share = null] = [r.charge?.prices[n], r.charge?.billed?.shares[n]]
      const differs = price !== null && share !== price * line.quantity
      return { ...line, order: i + 1, price, share: differs ? share : null }
    }),
  )
  const column = <K extends keyof (typeof lines)[number]>(key: K) => lines.map((line) => line[key])
  const billed = batch.map(({ charge }) => charge?.billed)
  const bills = billed.map((one) => (one ? JSON.stringify(one.bill) : null))
  return sql`${column('order')}::int[], ${column('product')}::text[], ${column('quantity')}::int[],
    ${column('seat')}::int[], ${column('price')}::bigint[], ${column('share')}::bigint[],
      ${batch.map(({ cart }) => Number(cart !== undefined))}::int[],
      ${batch.map(({ isBoxOffice = false }) => Number(isBoxOffice))}::int[],
    ${bills}::text[]::jsonb[], ${billed.map((one) => one?.terms ?? null)}::int[]`
}
