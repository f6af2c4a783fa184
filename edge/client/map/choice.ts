/** The visitor's current choice, its price, and how it changes when others buy. Pure. */
import { FREE, type Hall, type Seat, type Section } from '../../../shared/hall/hall-model.ts'

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

/** The seats of the hall that are named by their section and their own names. */
export const seatsNamed = (
  { seats }: Pick<Hall, 'seats'>,
  named: { readonly section_id: string; readonly seats: readonly string[] },
): Seat[] => seats.filter(({ section, seat_id }) => section.id === named.section_id && named.seats.includes(seat_id))

/** Splits the chosen seats into those that are still free and those that another visitor has now. */
export function stillFree(chosen: readonly Seat[], states: Uint8Array) {
  const isFree = ({ index }: Seat) => states[index] === FREE
  return { chosen: chosen.filter(isFree), gone: chosen.filter((seat) => !isFree(seat)) }
}

/** The sections whose seats cost differently, so that their count of free seats says nothing of a price. */
export const mixedSections = ({ sections }: Pick<Hall, 'sections'>): Section[] =>
  sections.filter(({ seats }) => seats.some(({ category }) => category !== seats[0]?.category))

/**
 * The number of free seats by price category. A category is missing as long as a section of it is unknown. `counts` are
 * those of sections; `known` are the sections whose seats have been read.
 */
export function freeByCategory(
  { sections }: Pick<Hall, 'sections'>,
  states: Uint8Array,
  counts: ReadonlyMap<string, number>,
  known: ReadonlySet<Section>,
): Map<string, number> {
  const free = new Map<string, number>()
  const unknown = new Set<string>()
  for (const section of sections) {
    const categories = Map.groupBy(section.seats, ({ category }) => category)
    for (const [category, seats] of categories) {
      const count = categories.size === 1 ? counts.get(section.id) : undefined
      if (count === undefined && !known.has(section)) unknown.add(category)
      const left = count ?? seats.filter(({ index }) => states[index] === FREE).length
      free.set(category, (free.get(category) ?? 0) + left)
    }
  }
  for (const category of unknown) free.delete(category)
  return free
}

/** Units that are chosen by number only. */
export interface Units {
  readonly quantity: number
  readonly price_minor: number
}

export const unitsIn = (units: readonly Units[]) => units.reduce((sum, { quantity }) => sum + quantity, 0)
