/** The public data of a hall: its sections, the geometry of its chart, and the state of its seats. */
import * as v from 'valibot'
import { exactly } from './fields.ts'
import { Category, Quantity, SEAT_KINDS, SeatId, type SeatKind, SectionId, Totals } from './public.ts'

/** A section with named seats, or a standing section, in which only the number of places counts. */
export type SectionType = 'reserved' | 'general_admission'

/** The response of `GET /sales/{sale}/sections`. */
export interface SectionsDocument {
  readonly sale: string
  /** The version of the chart; null if there is none. */
  readonly version: number | null
  /** The time at which the ledger was read. */
  readonly as_of: string
  readonly sections: readonly {
    readonly section_id: string
    readonly name: string
    readonly type: SectionType
    readonly total_seats: number
    readonly available_seats: number
    readonly price_minor: number
    readonly currency: string
  }[]
}

type PlacePoint = readonly [x: number, y: number]

export interface ChartSeat {
  readonly seat_id: string
  readonly row: string
  readonly number: string
  readonly place: number
  readonly x: number
  readonly y: number
  readonly category: string
  readonly kind: SeatKind
  readonly price_minor: number
}

/** The response of `GET /sales/{sale}/chart?v=VERSION`, which never changes. */
export interface ChartDocument {
  readonly version: number
  readonly focal_point: { readonly x: number; readonly y: number }
  /** The price categories, each with the lowest price of its seats, and the highest if that differs. */
  readonly categories: readonly {
    readonly category: string
    readonly price_minor: number
    readonly price_to_minor?: number
  }[]
  readonly sections: readonly {
    readonly section_id: string
    readonly name: string
    readonly type: SectionType
    readonly outline?: readonly PlacePoint[]
    readonly seats: readonly ChartSeat[]
  }[]
}

/** The states of a seat. The index of each is its number in an availability document. */
export const SEAT_STATES = ['available', 'held', 'sold', 'blocked'] as const
export type SeatState = (typeof SEAT_STATES)[number]

/**
 * The response of `GET /sales/{sale}/sections/{section}/availability`: the states of its seats in the chart's order,
 * two bits each, the first seat in the highest bits of the first byte, as base64.
 */
export interface AvailabilityDocument {
  readonly section_id: string
  readonly version: number
  readonly seats: string
  /** The time of states that could not be read again since. */
  readonly as_of?: string
}

/** The states of all sections, as the origin sends them to the edge. */
export const HallAvailability = v.object({ version: v.number(), sections: v.record(v.string(), v.string()) })
export type HallAvailability = v.InferOutput<typeof HallAvailability>

/** The response of `GET /sales/{sale}/sections/{section}/seats`. */
export interface SeatsPage {
  readonly section_id: string
  readonly total_seats: number
  readonly page: number
  readonly page_size: number
  readonly seats: readonly {
    readonly seat_id: string
    readonly row: string
    readonly number: string
    readonly category: string
    readonly kind: SeatKind
    readonly price_minor: number
    readonly status: SeatState
  }[]
}

/** The data of an event of `GET /sales/{sale}/sections/updates`. */
export interface SectionUpdate {
  readonly section_id: string
  readonly available_seats: number
  readonly timestamp: string
}

// -- An offer of seats ----------------------------------------------------------------------------------------------

/** An offer leaves out at most this many seats. */
const MAX_LEFT_OUT = 1_000

/** The body of `POST /sales/{sale}/seats/offer`. */
export const SeatOfferRequest = exactly({
  section_id: v.optional(SectionId),
  category: v.optional(Category),
  /** `accessible` means one accessible seat and the others beside it. Any other kind means all seats. */
  kind: v.optional(v.picklist(SEAT_KINDS, `one of ${SEAT_KINDS.join(', ')} is required`)),
  quantity: Quantity,
  /** These seats are not offered, for example because an earlier offer named them. */
  not: v.optional(
    v.pipe(v.array(SeatId, 'a list is required'), v.maxLength(MAX_LEFT_OUT, `at most ${MAX_LEFT_OUT} seats`)),
  ),
})
export type SeatOfferRequest = v.InferOutput<typeof SeatOfferRequest>

/** The seats of one section that best available would take now, and their price. They are held for nobody. */
export const SeatOffer = v.object({ section_id: v.string(), seats: v.array(v.string()), totals: Totals })
export type SeatOffer = v.InferOutput<typeof SeatOffer>
