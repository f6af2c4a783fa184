/**
 * The outcome of a checkout: a pure function of the sale, the verdicts of the gates, and an order that may exist
 * already.
 */

import { isLive } from '../../shared/api/order-status.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { invalidField, type Problem, problem } from '../../shared/problem.ts'
import { isPromoCode } from '../ledger/cart.ts'
import type { OrderView } from '../ledger/order-statements.ts'
import type { Recorded, RecordVerdict } from '../ledger/record.ts'
import type { ProductRow, SaleRow } from '../ledger/sale-row.ts'
import { tryAgain } from '../lib/http/request.ts'
import { available, forSale, phaseOf, remainingIn } from '../sales/sale-state.ts'
import { type CheckoutReservation, wishedSections } from '../seats/cart-choice.ts'
import type { Seat } from '../seats/chart.ts'
import type { GateVerdict, Stock } from '../stock/gate/verdicts.ts'
import { priceChanged } from './cart/pricing.ts'

/** The results of one checkout call so far. */
export interface Attempt {
  readonly sale: SaleRow
  readonly reservation: CheckoutReservation
  /** The reason why the sale takes no such order. The gates were then not asked. */
  readonly closed?: Problem
  readonly gate?: GateVerdict
  readonly ledger?: RecordVerdict
  /** The requested seats that are taken, and the seats that are offered instead. */
  readonly taken?: { readonly seats: readonly Seat[]; readonly offer: readonly Seat[] | null }
}

/** The order that already exists for a call: by its key, or by a visitor who has reached the limit. */
export type Existing =
  | { readonly by: 'key' | 'visitor'; readonly found: OrderView | CheckoutReservation }
  /** The first call with the key was still in progress, and ended with this outcome. */
  | { readonly by: 'key'; readonly outcome: Outcome }
  /** The key belongs to a request with another body. */
  | 'reused'
  /** An order exists but cannot be read now. */
  | 'unreadable'

export type Outcome =
  /**
   * recorded: the order of this key; in a replay it may have any status by now.
   * live: an order of another key, which was live when this key was first answered with it.
   */
  | {
      readonly kind: 'recorded' | 'live'
      readonly order: OrderView
      readonly replayed: boolean
      readonly remaining: number
    }
  | { readonly kind: 'processing'; readonly reservation: CheckoutReservation; readonly replayed: boolean }
  /**
   * unpaid: how many unpaid orders the visitor has, where that decides who comes first. waitsForUse: they have none,
   * and a use of their promo code may come back.
   */
  | { readonly kind: 'problem'; readonly problem: Problem; readonly unpaid?: number; readonly waitsForUse?: boolean }

/** Returns the outcome; undefined if only the ledger can decide, and it has not been asked. */
export function outcomeOf(attempt: Attempt & { ledger: RecordVerdict }, existing?: Existing): Outcome
export function outcomeOf(attempt: Attempt, existing?: Existing): Outcome | undefined
export function outcomeOf(attempt: Attempt, existing?: Existing): Outcome | undefined {
  const { sale, reservation: r, closed, gate, ledger } = attempt
  if (ledger?.verdict === 'recorded')
    return { kind: 'recorded', order: orderFrom(r, ledger), replayed: false, remaining: remainingOf(attempt) }
  if (existing === 'reused') return refusal(problem('idempotency-key-reused'))
  if (existing === 'unreadable') return unreadable()
  if (existing?.by === 'key') return outcomeOfKey(attempt, existing)
  if (closed) return refusal(closed)

  const limit = sale.limit_per_visitor
  const ofVisitor = existing && outcomeOfLiveOrder(existing.found, remainingOf(attempt))
  switch (ledger?.verdict) {
    case 'too_many':
      return refusal(tooMany())
    case 'unpaid':
      return { ...refusal(othersFirst()), unpaid: ledger.unpaid }
    case 'no_stock':
      return { ...refusal(noStock(sale, withProduct(r, ledger.product))), unpaid: ledger.unpaid }
    case 'seat_taken':
      return refusal(seatTaken(attempt))
    case 'price_changed':
      return refusal(priceChanged())
    case 'priced_out':
      return refusal(ledger.problem)
    case 'limit':
      if (ledger.product) return refusal(overProductLimit(sale, ledger.product))
      // The response names how many units the visitor may still have, and no other order.
      if (ledger.order === null || ledger.units < limit) return refusal(overLimit(sale, ledger.units))
      return ofVisitor ?? unreadable()
    case 'replay':
      // A worker has recorded this very reservation, though it cannot be read.
      return ledger.order === r.order ? processing(r) : unreadable()
  }
  if (gate?.verdict === 'network_full') return refusal(networkFull())
  if (gate?.verdict === 'unpaid') return { ...refusal(othersFirst()), unpaid: gate.unpaid }
  if (gate?.verdict === 'priced_out') return refusal(gate.problem)
  if (gate?.verdict === 'seat_taken') return refusal(seatTaken(attempt))
  if (gate?.verdict === 'product_limit') return refusal(overProductLimit(sale, gate.product))
  if (gate?.verdict === 'none')
    return {
      ...refusal(noStock(sale, withProduct(r, gate.product), gate)),
      ...(gate.unpaid && { unpaid: gate.unpaid }),
      ...(gate.product && isPromoCode(gate.product) && { waitsForUse: !gate.unpaid && gate.held > 0 }),
    }
  if (gate?.verdict === 'limit') {
    // The gate knows the latest order, not whether it is live: otherwise the ledger decides.
    if (ofVisitor && gate.units >= limit) return ofVisitor
    // A reservation that is not recorded yet is counted by the gate alone.
    if (ofVisitor?.kind === 'processing') return refusal(overLimit(sale, gate.units))
  }
  return undefined
}

function outcomeOfKey(attempt: Attempt, existing: Exclude<Existing, string>): Outcome {
  const { reservation: r } = attempt
  if ('outcome' in existing)
    return existing.outcome.kind === 'live' ? { ...existing.outcome, replayed: true } : existing.outcome
  const { found } = existing
  // A remembered key. The gate has compared the hashes.
  if (keyOf(found) !== r.key)
    return 'status' in found
      ? { kind: 'live', order: found, replayed: true, remaining: remainingOf(attempt) }
      : { kind: 'processing', reservation: found, replayed: true }
  if (('status' in found ? found.request_hash : found.hash) !== r.hash)
    return refusal(problem('idempotency-key-reused'))
  // The answer is a replay only if the recorded reservation belongs to another call than this one.
  if (!('status' in found)) return { kind: 'processing', reservation: found, replayed: found.order !== r.order }
  const replayed = found.order_id !== r.order
  return { kind: 'recorded', order: found, replayed, remaining: remainingOf(attempt) }
}

const keyOf = (found: OrderView | CheckoutReservation) => ('status' in found ? found.idempotency_key : found.key)

/** The id of the order that a first answer to this key names, if it is an order of another key. */
export function orderOfAnotherKey(outcome: Outcome, key: string): string | undefined {
  if (outcome.kind === 'problem' || outcome.replayed) return undefined
  const [found, id] =
    outcome.kind === 'processing'
      ? [outcome.reservation, outcome.reservation.order]
      : [outcome.order, outcome.order.order_id]
  return keyOf(found) === key ? undefined : id
}

function outcomeOfLiveOrder(found: OrderView | CheckoutReservation, remaining: number): Outcome | undefined {
  if (!('status' in found)) return processing(found)
  return isLive(found.status) ? { kind: 'live', order: found, replayed: false, remaining } : undefined
}

/** Units left, by the gate's latest reply, or else by the ledger's latest read. */
function remainingOf({ sale, reservation, gate }: Attempt): number {
  return gate && 'available' in gate ? gate.available : remainingIn(sale, reservation.product)
}

export const refusal = (p: Problem) => ({ kind: 'problem', problem: p }) as const

export const processing = (reservation: CheckoutReservation): Outcome => ({
  kind: 'processing',
  reservation,
  replayed: false,
})

/** The response if neither store has the reservation. */
export const untaken = (why = 'Orders cannot be taken at this moment.') =>
  refusal(tryAgain(`${why} Nothing was taken. Try again with the same key.`))

/** The response if a store may have the reservation. It is found by its key, or it expires. */
export const inDoubt = () =>
  refusal(
    tryAgain('It is not known whether your order was taken. Try again with the same key: it makes one order at most.'),
  )

const unreadable = () => refusal(tryAgain('Orders cannot be read at this moment.'))

export function orderFrom(r: CheckoutReservation, recorded: Recorded): OrderView {
  const cart = recorded.carts?.[r.order] ?? null
  const product = cart?.[0]?.product ?? r.product
  const price = assertExists(recorded.prices[product], 'The ledger returns the price of each product that it records.')
  return {
    order_id: r.order,
    sale_id: r.sale,
    product_id: product,
    product_name: price.name,
    visitor: r.visitor,
    line: r.line,
    ticket_number: r.number,
    source: r.source ?? null,
    quantity: r.quantity,
    unit_price_minor: cart?.[0]?.unit_price_minor ?? price.unit_price_minor,
    currency: price.currency,
    cart,
    bill: r.charge?.billed?.bill ?? null,
    terms: r.charge?.billed?.terms ?? null,
    receipt: null,
    number: assertExists(recorded.numbers[r.order], 'Each recorded order has a number.'),
    status: 'reserved',
    idempotency_key: r.key,
    request_hash: r.hash,
    reserved_until: recorded.reservedUntil,
    payment_method: r.method,
    charge_id: null,
    card: null,
    reason: null,
    attempts: 0,
    decline_code: null,
    action: null,
    action_until: null,
    refunded_minor: 0,
    created_at: recorded.createdAt,
    updated_at: recorded.createdAt,
    fulfilled_at: null,
    left_ms: recorded.reservedUntil.getTime() - recorded.createdAt.getTime(),
  }
}

/** Returns the reason why a sale takes no such order now; null if it does. */
export function closedFor(sale: SaleRow, quantity: number, nowMs: number): Problem | null {
  if (quantity > sale.limit_per_visitor) return overLimit(sale)
  switch (phaseOf(sale, nowMs)) {
    case 'upcoming':
      return problem('not-open', {
        detail: 'The sale has not opened yet.',
        opens_at: sale.opens_at.toISOString(),
        retry_after_seconds: (sale.opens_at.getTime() - nowMs) / 1000,
      })
    case 'ended':
      return problem('ended', { detail: 'The sale has ended.' })
    case 'paused':
      return tryAgain('The sale is paused. Everyone keeps their place.')
    default:
      return null
  }
}

/** The number of units that the visitor already has is `units`. */
const overLimit = ({ limit_per_visitor: limit }: SaleRow, units = 0) =>
  invalidField('quantity', `at most ${limit - units} ${units > 0 ? 'more ' : ''}per visitor`)

/** The problem has no Retry-After header, because another attempt does not help. */
const tooMany = () =>
  problem('too-many-orders', { detail: 'You have had too many orders in this sale that came to nothing.' })

const othersFirst = () =>
  problem('too-many-orders', {
    detail: 'An earlier order of yours came to nothing. Others who wait come first.',
    retry_after_seconds: 5,
  })

/** The page shows `reason` in the visitor's language. */
const networkFull = () =>
  problem('too-many-requests', {
    detail: 'Others of your network hold as many units unpaid as it may. Try again once they have paid.',
    reason: 'unpaid_nearby',
    retry_after_seconds: 5 + Math.random() * 5,
  })

/** If the sale has several products, `name` is the one that the problem is about. */
export const soldOut = (name?: string | null) =>
  problem('sold-out', { detail: `Every unit ${name ? `of ${name} ` : ''}has been sold.` })

/** The subject of a refusal: the product that a gate names, or null if no seats fit a wish. */
type About = Pick<CheckoutReservation, 'quantity' | 'cart' | 'choice'> & { readonly product: string | null }

const withProduct = (r: CheckoutReservation, product: string | null | undefined): About => ({
  ...r,
  product: product === undefined ? r.product : product,
})

function seatTaken(attempt: Attempt): Problem {
  const { seats, offer } = assertExists(attempt.taken, 'A refusal of seats names them.')
  return problem('seat-taken', {
    detail: 'Somebody else has it, or it is not for sale.',
    seats: seats.map(({ seat }) => seat),
    // While Redis is away the offer is null: none.
    offer: [...Map.groupBy(offer ?? [], ({ section }) => section)].map(([section_id, seats]) => ({
      section_id,
      seats: seats.map(({ seat }) => seat),
    })),
  })
}

/** Returns the refusal of seats that leave these single seats behind. */
export const strands = (single: readonly Seat[]) => {
  const names = single.map(({ seat }) => seat)
  return { ...invalidField('seats', `leave a single seat: ${names.join(', ')}`), single: names }
}

/**
 * The code has no use left: others or the visitor have used it as often as it allows, or others come first for the
 * last uses.
 */
const usedUp = (product: string, left = 0) => {
  const code = product.slice(1)
  const detail =
    left > 0 ? `What is left of the promo code ${code} is for others.` : `The promo code ${code} is used up.`
  return problem('promo-code-used-up', { detail, promo_code: code })
}

const overProductLimit = ({ products }: SaleRow, product: string) => {
  if (isPromoCode(product)) return usedUp(product)
  const row = products.find((p) => p.product_id === product)
  // The ledger may know a limit that this sale, as it was read, does not have yet.
  const limit = row?.limit_per_visitor ?? null
  const name = products.find((p) => p.product_id === (row?.variant_of ?? product))?.name ?? product
  const detail = limit === null ? `no more per visitor of ${name}` : `at most ${limit} per visitor of ${name}`
  return { ...invalidField('quantity', detail), product_id: product }
}

/**
 * Too few units are left. Some may come back, or none will, or never enough. The gate's stock counts first, then the
 * ledger's.
 */
function noStock(sale: SaleRow, r: About, gate?: Stock): Problem {
  if (r.product === null) return noSeats(sale, r)
  if (isPromoCode(r.product)) return usedUp(r.product, gate?.available)
  const product = sale.products.find((p) => p.product_id === r.product)
  if (!product) return problem('unknown-product')
  const quantity = r.cart?.find((part) => part.product === r.product)?.quantity ?? r.quantity
  const left = gate?.available ?? available(product)
  const unsold = forSale(product) - product.sold
  const name = nameOf(product)
  const gone = r.cart && { gone: goneOf(sale, r.cart, r.product, left) }
  if (left === 0 && (gate ?? product).held === 0 && unsold <= 0)
    return { ...soldOut(r.cart && product.name), ...(product.section_type && name), ...gone }
  const about = { ...name, ...gone, remaining: left }
  if (unsold > 0 && quantity > unsold) return { ...invalidField('quantity', `at most ${unsold} can be had`), ...about }
  const detail = left > 0 ? `Only ${left} left.` : 'All units are in carts. Some may come back.'
  return problem('all-in-carts', { detail, ...about, retry_after_seconds: 5 })
}

const nameOf = ({ product_id, section_type }: ProductRow) =>
  section_type ? { section_id: product_id } : { product_id }

/**
 * Returns the parts of a cart that exceed the stock, by the store that refused it and by the ledger's latest read.
 */
function goneOf({ products }: SaleRow, cart: NonNullable<CheckoutReservation['cart']>, refused: string, left: number) {
  return products.flatMap((product) => {
    const wanted = cart.reduce((sum, part) => sum + (part.product === product.product_id ? part.quantity : 0), 0)
    if (product.product_id === refused) return { ...nameOf(product), left }
    return wanted > available(product) ? { ...nameOf(product), left: available(product) } : []
  })
}

/** The refusal if no seats fit a wish. Held seats may come back. */
function noSeats(sale: SaleRow, { choice }: About): Problem {
  const wished = choice ? wishedSections(choice) : null
  const sections = sale.products.filter(
    (p) => p.section_type === 'reserved' && (wished === null || wished.includes(p.product_id)),
  )
  const remaining = sections.reduce((seats, section) => seats + available(section), 0)
  const only = wished?.length === 1 ? wished[0] : undefined
  const about = only === undefined ? {} : { section_id: only, gone: [{ section_id: only, left: remaining }] }
  const unsold = sections.reduce((seats, section) => seats + forSale(section) - section.sold, 0)
  if (unsold <= 0) return { ...soldOut(), ...about }
  const detail = 'There are not so many such seats at this moment. Some may come back.'
  return problem('all-in-carts', { detail, ...about, remaining, retry_after_seconds: 5 })
}
