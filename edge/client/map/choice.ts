/** The visitor's current choice, its price, and how it changes when others buy. Pure. */
import { FREE, type Seat } from '../../../shared/hall/hall-model.ts'

export interface Filter {
  /** The price category to show; null shows all. */
  readonly category: string | null
  readonly accessible: boolean
}

/** The kinds of wheelchair places and of the seats for companions. */
const ACCESSIBLE = ['accessible', 'companion']

export const fits = ({ category, kind }: Pick<Seat, 'category' | 'kind'>, filter: Filter) =>
  (filter.category === null || filter.category === category) && (!filter.accessible || ACCESSIBLE.includes(kind))

/** Adds a seat, or removes it if it was chosen. Null if no more seats may be chosen. */
export function toggleSeat(chosen: readonly Seat[], seat: Seat, room: number): readonly Seat[] | null {
  const without = chosen.filter(({ index }) => index !== seat.index)
  if (without.length < chosen.length) return without
  return room > 0 ? [...chosen, seat] : null
}

/** Splits the chosen seats into those that are still free and those that another visitor has now. */
export function stillFree(chosen: readonly Seat[], states: Uint8Array) {
  const isFree = ({ index }: Seat) => states[index] === FREE
  return { chosen: chosen.filter(isFree), gone: chosen.filter((seat) => !isFree(seat)) }
}

/** Units that are chosen by number only. */
export interface Units {
  readonly quantity: number
  readonly price_minor: number
}

export const unitsIn = (units: readonly Units[]) => units.reduce((sum, { quantity }) => sum + quantity, 0)
