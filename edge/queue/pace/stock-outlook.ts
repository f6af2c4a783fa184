/**
 * How far the stock is likely to last, from what people really do: how many of those called come, and what they take.
 * Pure.
 */
import type { SaleState } from '../../../shared/api/internal.ts'
import { hasUnits, type Memory, onTheirWay, type Settings, showRatio, unitsOf } from './memory.ts'

/** With fewer arrivals nothing is known of the others: everyone is taken to come, and to take one unit. */
const KNOWN_FROM_ARRIVALS = 20

/**
 * For how many more positions after those called the stock is likely to last, if people go on as they did; null while
 * nobody counts them. Units that come back were never taken for long, so they count as what they are in the end:
 * remaining stock.
 */
export function lastsForPositions(state: SaleState, memory: Memory, called: number, settings: Settings): number | null {
  if (!state.counted || !hasUnits(state)) return null
  const isKnown = memory.arrivals >= KNOWN_FROM_ARRIVALS
  const share = isKnown ? showRatio(memory, settings).share : 1
  const taken = (unitsOf(state, 'held') + unitsOf(state, 'sold')) * state.share
  const unitsPerArrival = isKnown ? taken / memory.arrivals : 1
  if (unitsPerArrival === 0) return null
  const coming = onTheirWay(memory, called, share, settings)
  const left = unitsOf(state, 'available') * state.share - coming * unitsPerArrival
  return about(Math.max(0, left / (unitsPerArrival * share)))
}

/**
 * Two significant digits: nobody can promise more, and a figure that hardly moves publishes no new schedule. Rounded
 * down, so that no page promises units that are not there.
 */
export function about(exactly: number): number {
  const whole = Math.floor(exactly)
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, whole))) - 1)
  return Math.floor(whole / unit) * unit
}

/** What is left of each product, about. */
export const productsLeft = ({ products }: SaleState) =>
  products.map(({ product_id, available }) => ({ product_id, available: about(available) }))
