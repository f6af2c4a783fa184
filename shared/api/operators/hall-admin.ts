/** The hall of a sale in the operators' API: sections, seats, blocks, moves and the box office. */
import * as v from 'valibot'
import { exactly, filled, instant, name, note, whole } from '../fields.ts'
import type { SeatState, SectionType } from '../hall.ts'
import { CheckoutRequest, SeatId, SectionId } from '../public.ts'
import { chargeIssue } from '../stripe-amount.ts'
import { MAX_UNITS } from './sale-config.ts'

/** The maximum number of seats of a sale. */
export const MAX_SEATS = 200_000
/** The maximum number of sections of a sale. */
export const MAX_SECTIONS = 500
/** One call blocks or releases at most this many seats. The limit of its body is slightly higher. */
const MAX_CHANGED = 5_000
/** The maximum number of points of a section's outline. */
const MAX_POINTS = 500

/** A coordinate of a seat, an outline or the focal point, in any unit that the whole hall uses. */
const coordinate = v.pipe(
  v.number('a number is required'),
  v.finite('a number is required'),
  v.minValue(-1e6, 'at least -1000000'),
  v.maxValue(1e6, 'at most 1000000'),
)

const SECTION_TYPES = ['reserved', 'general_admission'] as const satisfies readonly SectionType[]

/** A seat's price, or a section's. */
export const MAX_PRICE_MINOR = 1_000_000_000

export const SectionConfig = v.pipe(
  exactly(
    {
      name,
      type: v.picklist(SECTION_TYPES, 'reserved or general_admission is required'),
      /** The number of places of a standing section. A section with seats has as many places as seats. */
      total: v.optional(whole(0, MAX_UNITS)),
      /** The price of a section with seats is shown until it has some, because each seat has its own. */
      price_minor: whole(0, MAX_PRICE_MINOR),
      currency: v.pipe(v.string('text is required'), v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as EUR is required')),
      /** The position among the sections. If missing it stays unchanged, and a new section is last. */
      order: v.optional(whole(0, 100_000)),
      /** A closed polygon; if missing, there is no outline. */
      outline: v.optional(
        v.pipe(
          v.array(v.tuple([coordinate, coordinate], 'two numbers are required'), 'a list of points is required'),
          v.minLength(3, 'at least 3 points'),
          v.maxLength(MAX_POINTS, `at most ${MAX_POINTS} points`),
        ),
      ),
    },
    ['section_id', 'available', 'held', 'sold', 'blocked'],
  ),
  v.forward(
    v.check(({ type, total }) => type !== 'general_admission' || total !== undefined, 'is required'),
    ['total'],
  ),
  v.forward(
    v.check(({ type, total }) => type !== 'reserved' || total === undefined, 'is the number of its seats'),
    ['total'],
  ),
  v.forward(
    v.check(
      ({ price_minor, currency }) => chargeIssue(price_minor, currency) === undefined,
      ({ input }) => chargeIssue(input.price_minor, input.currency) ?? '',
    ),
    ['price_minor'],
  ),
)
export type SectionConfig = v.InferOutput<typeof SectionConfig>

export const ChartConfig = exactly({
  /** If missing, it stays unchanged. */
  focal_point: v.optional(exactly({ x: coordinate, y: coordinate })),
  /** True if a choice of seats that leaves a single free seat is refused. If missing, it stays unchanged. */
  refuse_single: v.optional(v.boolean('true or false is required')),
})
export type ChartConfig = v.InferOutput<typeof ChartConfig>

const reason = name
const seatsOf = {
  /** May be missing if the seats' ids are unique in the sale. */
  section_id: v.optional(SectionId),
  seats: v.pipe(
    v.array(SeatId, 'a list is required'),
    v.minLength(1, 'at least one seat'),
    v.maxLength(MAX_CHANGED, `at most ${MAX_CHANGED} seats`),
    v.check((list) => new Set(list).size === list.length, 'a seat is named twice'),
  ),
}
export const BlockSeats = exactly({
  ...seatsOf,
  reason,
  /** The time at which the seats are for sale again by themselves; null or missing until an operator releases them. */
  until: v.optional(v.nullable(instant), null),
})
export const ReleaseSeats = exactly({ ...seatsOf, reason: v.optional(reason) })
export type ReleaseSeats = v.InferOutput<typeof ReleaseSeats>

/** The price and the category of chosen seats. What is missing stays as it is. */
export const PriceSeats = v.pipe(
  exactly({
    ...seatsOf,
    price_minor: v.optional(whole(0, MAX_PRICE_MINOR)),
    category: v.optional(filled(100)),
  }),
  v.forward(
    v.check(
      ({ price_minor, category }) => price_minor !== undefined || category !== undefined,
      'price_minor or category is required',
    ),
    ['price_minor'],
  ),
)
export type PriceSeats = v.InferOutput<typeof PriceSeats>

export const MoveRequest = exactly({
  /** The number of the order line, from 1. */
  line: whole(1, 10_000),
  seat_id: SeatId,
  /** If missing, it is the section of the line. */
  section_id: v.optional(SectionId),
})
export type MoveRequest = v.InferOutput<typeof MoveRequest>

const { lines, contact } = CheckoutRequest.entries
export const BoxOfficeRequest = exactly({
  lines: v.nonOptional(lines, 'is required'),
  /** The note is for people who read the order later. */
  note,
  contact,
})
export type BoxOfficeRequest = v.InferOutput<typeof BoxOfficeRequest>

// -- What operators read --------------------------------------------------------------------------------------------

export interface SectionState {
  readonly section_id: string
  readonly name: string
  readonly type: SectionType
  readonly total: number
  readonly available: number
  readonly held: number
  readonly sold: number
  readonly blocked: number
  readonly price_minor: number
  readonly currency: string
}

/** The response of `GET /admin/sales/{sale}/hall`. */
export interface HallState {
  readonly version: number
  /** The sections in their order. */
  readonly sections: readonly SectionState[]
  /**
   * Two bits per seat in base64, the first seat in the highest bits. Sections follow each other, and the seats of
   * each are in the order of its chart.
   */
  readonly seats: string
  /** The blocks, the newest first. */
  readonly blocks: readonly BlockedSeat[]
}
interface BlockedSeat {
  readonly section_id: string
  readonly seat_id: string
  readonly reason: string
  readonly operator: string | null
  readonly since: Date
  /** The time at which the block ends by itself; null if an operator must release it. */
  readonly until: Date | null
}

/** The response of `GET /admin/sales/{sale}/hall/seats/{section}/{seat}`. */
export interface SeatOwner {
  readonly section_id: string
  readonly seat_id: string
  readonly state: SeatState
  /** The order of a held or sold seat. */
  readonly order?: string
  readonly status?: string
  /** The reason of a blocked seat. */
  readonly reason?: string
  readonly operator?: string
  readonly since?: Date
  readonly until?: Date
  /** What it went through, the newest first. */
  readonly history: readonly SeatEvent[]
}

/** What happened to a seat. */
export interface SeatEvent {
  readonly at: Date
  readonly what: 'reserved' | 'paid' | 'returned' | 'blocked' | 'released' | 'priced' | 'moved'
  /** The operator of a change; missing for what buyers did. */
  readonly by?: string
  readonly order?: string
  /** The price that an order has for it, or that an operator set. */
  readonly price_minor?: number
  /** The reason of a block or a release, or the status in which an order gave the seat back. */
  readonly reason?: string
}

/** The changes that an import makes to the seats of its section, or would make. */
export interface SeatImport {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly unchanged: number
  /** The seats of orders whose row, number or category changes: at most 100 of them, and how many there are. */
  readonly reprinted: readonly string[]
  readonly reprinted_count: number
}
