/** What everyone sees of a hall: its sections, the geometry of its chart, and the state of its seats. */
import * as v from 'valibot'
import type { SeatKind } from './public.ts'

/** A section with seats by name, or a standing section, of which only the places are counted. */
export type SectionType = 'reserved' | 'general_admission'

/** `GET /sales/{sale}/sections` */
export interface SectionsDocument {
  readonly sale: string
  /** Of the chart; null without one. */
  readonly version: number | null
  /** When the ledger was read. */
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

/** `GET /sales/{sale}/chart?v=VERSION`: never changes. */
export interface ChartDocument {
  readonly version: number
  readonly focal_point: { readonly x: number; readonly y: number }
  /** With the least price of their seats, and the highest where it is another. */
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

/** States of a seat, each at its number in an availability document. */
export const SEAT_STATES = ['available', 'held', 'sold', 'blocked'] as const
export type SeatState = (typeof SEAT_STATES)[number]

/**
 * `GET /sales/{sale}/sections/{section}/availability`: the states of its seats in the chart's order, two bits each, the first seat in
 * the highest bits of the first byte, as base64.
 */
export interface AvailabilityDocument {
  readonly section_id: string
  readonly version: number
  readonly seats: string
}

/** The same of all sections, as the origin sends it to the edge. */
export const HallAvailability = v.object({ version: v.number(), sections: v.record(v.string(), v.string()) })
export type HallAvailability = v.InferOutput<typeof HallAvailability>

/** `GET /sales/{sale}/sections/{section}/seats` */
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

/** Data of an event of `GET /sales/{sale}/sections/updates`. */
export interface SectionUpdate {
  readonly section_id: string
  readonly available_seats: number
  readonly timestamp: string
}
