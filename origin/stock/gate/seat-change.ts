/**
 * What an operator changes of seats in the ledger, as the gate counts it (scripts/change-seats.lua). It comes after
 * the commit, in any order, beside buyers and rebuilds: it says by how much the counts change, and the version of the
 * section's row that has the change. Pure.
 */
import type { Stock } from './verdicts.ts'

export interface SeatChange {
  readonly section: string
  readonly version: number
  /** The visitor whose order has another seat now. */
  readonly visitor?: string
  readonly freed: readonly number[]
  readonly taken: readonly number[]
  /** The change in units of each section, first of the section that an order leaves. */
  readonly stock: readonly (Stock & { readonly product: string })[]
}

/** A seat by its place in the bitmap of taken seats. */
export interface SectionSeat {
  readonly section: string
  readonly seat: number
}

/** Seats of a section that are out of sale, or back. */
export const blockChange = (
  section: string,
  version: number,
  seats: readonly number[],
  isBlocked: boolean,
): SeatChange => ({
  section,
  version,
  freed: isBlocked ? [] : seats,
  taken: isBlocked ? seats : [],
  stock: [{ product: section, available: isBlocked ? -seats.length : seats.length, held: 0 }],
})

/** The version is that of the section that the order comes to. */
export const moveChange = (
  { visitor, isSold }: { readonly visitor: string; readonly isSold: boolean },
  version: number,
  from: SectionSeat,
  to: SectionSeat,
): SeatChange => {
  const held = isSold ? 0 : 1
  const units = [
    { product: from.section, available: 1, held: -held },
    { product: to.section, available: -1, held },
  ]
  const stock = from.section === to.section ? [] : units
  return { section: to.section, version, visitor, freed: [from.seat], taken: [to.seat], stock }
}
