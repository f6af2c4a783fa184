/**
 * Compares what the fast gate counts with what the ledger counts. Orders are in flight between the two at every
 * moment; an exact comparison knows each of them and allows for it, so that what remains is a wrong counter or a
 * wrong seat. Pure.
 */

import { type CartPart, cartOf, partsOf, seatsIn, type Units } from '../ledger/cart.ts'
import { available } from '../sales/sale-state.ts'
import { bitsOf, differingSeats } from '../seats/bits.ts'
import type { GateReading } from './gate/gate-reading.ts'
import type { Stock } from './gate/verdicts.ts'
import type { Intent } from './intents.ts'
import type { LedgerReading, OrderUnits, ProductCounters } from './reconciliation-queries.ts'

/** A product in the gate and in the ledger. */
export interface Comparison {
  readonly product_id: string
  /** fenced: the gate was not in use; drift: its counters differ from the ledger's. */
  readonly found: 'ok' | 'fenced' | 'drift'
  /** Units available in the gate and not in the ledger. */
  readonly drift: number
  readonly heldDrift: number
  /** Seats of the section that are taken in one of them alone. */
  readonly seats: readonly number[]
  readonly ledger: { total: number; available: number; held: number; sold: number }
}

/** What a product's counters should be in the gate, beside the ledger's, because of orders in flight. */
interface InFlight {
  /** Units held in the gate alone; negative: in the ledger alone. */
  held: number
  /** Units that only the gate counts as gone; negative: only the ledger. */
  gone: number
}

/** Compares the counts alone, whatever is in flight. If they agree, no closer look is needed. */
export const compareCounts = (
  stock: ReadonlyMap<string, Stock> | null,
  products: readonly ProductCounters[],
): Comparison[] => products.map((counters) => comparisonOf(counters, stock?.get(counters.product), [], NOTHING))

/**
 * What differs at the moment of a reading of the gate. The ledger was read before it and after it: a product that
 * changed between the two counts as equal, since nothing exact can be said of it. `sections`: the section of a seat.
 */
export function compareReadings(
  gate: GateReading | null,
  before: readonly Pick<ProductCounters, 'product' | 'version'>[],
  after: LedgerReading,
  sections: ReadonlyMap<string, readonly number[]> = new Map(),
): Comparison[] {
  const versions = new Map(before.map(({ product, version }) => [product, version]))
  const flights = gate && isWhole(gate) ? inFlight(gate, after) : null
  return after.products.map((counters) => {
    const { product, version } = counters
    const stock = gate?.stock.get(product)
    if (stock && (!flights || versions.get(product) !== version)) return equal(counters)
    return comparisonOf(counters, stock, sections.get(product) ?? NO_SEATS, flights?.get(product) ?? NOTHING)
  })
}

/** The seats that are taken in the gate or in the ledger alone, and that no order in flight takes or frees. */
export function seatsApart(gate: GateReading, ledger: LedgerReading): number[] {
  if (!ledger.seats || !isWhole(gate)) return []
  const { waiting, ended, missing } = apart(gate, ledger)
  const isMoving = new Set([...waiting, ...ended, ...missing].flatMap(seatsIn))
  return differingSeats(gate.seats, bitsOf(ledger.seats)).filter((seat) => !isMoving.has(seat))
}

/** The later of two comparisons, without what differs in another way than before. */
export function lasting(before: readonly Comparison[], again: readonly Comparison[]): Comparison[] {
  const earlier = new Map(before.map((one) => [one.product_id, textOf(one)]))
  return again.map((one) =>
    one.found === 'drift' && earlier.get(one.product_id) !== textOf(one) ? { ...one, found: 'ok' } : one,
  )
}
const textOf = ({ found, drift, heldDrift, seats }: Comparison) => [found, drift, heldDrift, ...seats].join()

/** Both know all orders of a product. */
const NOTHING: InFlight = { held: 0, gone: 0 }
/** A section does not differ, or a product is no section. */
const NO_SEATS: readonly number[] = []

/** A reading with its intents, of which there are sometimes too many to read. */
type WholeReading = GateReading & { readonly intents: readonly Intent[] }
const isWhole = (gate: GateReading): gate is WholeReading => gate.intents !== null

function comparisonOf(
  counters: ProductCounters,
  stock: Stock | undefined,
  seats: readonly number[],
  { held: heldInFlight, gone }: InFlight,
): Comparison {
  const same = equal(counters)
  if (!stock) return { ...same, found: 'fenced' }
  const { ledger } = same
  const drift = stock.available + gone - ledger.available
  const heldDrift = stock.held - heldInFlight - ledger.held
  const isSame = drift === 0 && heldDrift === 0 && seats.length === 0
  return isSame ? same : { ...same, found: 'drift', drift, heldDrift, seats }
}

function equal(counters: ProductCounters): Comparison {
  const { product, total, held, sold } = counters
  const ledger = { total, available: available(counters), held, sold }
  return { product_id: product, found: 'ok', drift: 0, heldDrift: 0, seats: [], ledger }
}

/** The orders that one of the two does not know yet. */
function apart({ holds, intents }: WholeReading, { recorded, ended, missing }: LedgerReading) {
  const known = new Set(recorded)
  const isHeld = new Set(holds)
  const waiting = intents.flatMap(({ order, reservation }) =>
    reservation && isHeld.has(order) && !known.has(order) ? [partsOf(reservation)] : [],
  )
  return { waiting, ended: ended.map(unitsOf), missing: missing.map(unitsOf) }
}

function inFlight(gate: WholeReading, ledger: LedgerReading): Map<string, InFlight> {
  const flights = new Map<string, InFlight>()
  const add = (parts: readonly CartPart[], sign: 1 | -1, isGone: boolean) => {
    for (const { product, quantity } of parts) {
      const { held, gone } = flights.get(product) ?? NOTHING
      flights.set(product, { held: held + sign * quantity, gone: isGone ? gone + sign * quantity : gone })
    }
  }
  const { waiting, missing } = apart(gate, ledger)
  for (const parts of waiting) add(parts, 1, true)
  for (const parts of missing) add(parts, -1, true)
  for (const order of ledger.ended) add(unitsOf(order), 1, !order.isSold)
  return flights
}

const unitsOf = ({ product, quantity, lines }: OrderUnits) =>
  partsOf({ product, quantity, cart: cartOf(lines) } satisfies Units)
