/** What the visitor chose so far, what it costs, and what becomes of it as others buy. Pure. */
import { FREE, type Seat } from './hall-model.ts'

export interface Filter {
  /** Only this price category; null for all. */
  readonly category: string | null
  readonly accessible: boolean
}

/** Wheelchair places, and the seats of those who come with somebody in a wheelchair. */
const ACCESSIBLE = ['accessible', 'companion']

export const fits = ({ category, kind }: Pick<Seat, 'category' | 'kind'>, filter: Filter) =>
  (filter.category === null || filter.category === category) && (!filter.accessible || ACCESSIBLE.includes(kind))

/** The seats with one added, or taken out where it was chosen; null where no more may be chosen. */
export function toggled(chosen: readonly Seat[], seat: Seat, room: number): readonly Seat[] | null {
  const without = chosen.filter(({ index }) => index !== seat.index)
  if (without.length < chosen.length) return without
  return room > 0 ? [...chosen, seat] : null
}

/** The chosen seats that are still free, and those that somebody else has now. */
export function stillFree(chosen: readonly Seat[], states: Uint8Array) {
  const isFree = ({ index }: Seat) => states[index] === FREE
  return { chosen: chosen.filter(isFree), gone: chosen.filter((seat) => !isFree(seat)) }
}

/** Units of which only the number is chosen. */
export interface Units {
  readonly quantity: number
  readonly price_minor: number
}

export const unitsIn = (units: readonly Units[]) => units.reduce((sum, { quantity }) => sum + quantity, 0)
