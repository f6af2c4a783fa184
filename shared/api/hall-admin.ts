/** The hall of a sale as operators send it and read it: sections, seats, blocks, moves and the box office. */
import * as v from 'valibot'
import { chargeIssue } from '../stripe-amount.ts'
import { exactly, name, note, whole } from './fields.ts'
import type { SeatState, SectionType } from './hall.ts'
import { MAX_UNITS } from './operator.ts'
import { CheckoutRequest, SeatId, SectionId } from './public.ts'

/** Seats of one sale. */
export const MAX_SEATS = 200_000
/** Sections of one sale. */
export const MAX_SECTIONS = 500
/** Seats that one call blocks or releases; the body's own limit is a little more. */
const MAX_CHANGED = 5_000
/** Points of a section's outline. */
const MAX_POINTS = 500

/** Of a seat, an outline or the focal point, in whatever unit the hall is drawn in. */
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
      /** Places of a standing section. Those of a section with seats are its seats. */
      total: v.optional(whole(0, MAX_UNITS)),
      /** Of a section with seats: shown until it has some, since each seat has its own. */
      price_minor: whole(0, MAX_PRICE_MINOR),
      currency: v.pipe(v.string('text is required'), v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as EUR is required')),
      /** Its place among the sections. Left out: as it is, a new one last. */
      order: v.optional(whole(0, 100_000)),
      /** A closed line of points; left out: none. */
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
  /** Left out: as it is. */
  focal_point: v.optional(exactly({ x: coordinate, y: coordinate })),
  /** Whether a choice by name is refused that leaves a single seat. Left out: as it is. */
  refuse_single: v.optional(v.boolean('true or false is required')),
})
export type ChartConfig = v.InferOutput<typeof ChartConfig>

const reason = v.pipe(name, v.maxLength(200, 'at most 200 characters'))
const seatsOf = {
  /** May be left out where the seats' ids are unique in the sale. */
  section_id: v.optional(SectionId),
  seats: v.pipe(
    v.array(SeatId, 'a list is required'),
    v.minLength(1, 'at least one seat'),
    v.maxLength(MAX_CHANGED, `at most ${MAX_CHANGED} seats`),
    v.check((list) => new Set(list).size === list.length, 'a seat is named twice'),
  ),
}
export const BlockSeats = exactly({ ...seatsOf, reason })
export const ReleaseSeats = exactly({ ...seatsOf, reason: v.optional(reason) })
export type ReleaseSeats = v.InferOutput<typeof ReleaseSeats>

export const MoveRequest = exactly({
  /** As the order's lines are numbered, from 1. */
  line: whole(1, 10_000),
  seat_id: SeatId,
  /** Left out: that of the line. */
  section_id: v.optional(SectionId),
})
export type MoveRequest = v.InferOutput<typeof MoveRequest>

const { lines, contact } = CheckoutRequest.entries
export const BoxOfficeRequest = exactly({
  lines: v.nonOptional(lines, 'is required'),
  /** For those who read the order later. */
  note,
  contact,
})
export type BoxOfficeRequest = v.InferOutput<typeof BoxOfficeRequest>

// -- What operators read -----------------------------------------------------------------------------------------------

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

/** `GET /admin/sales/{sale}/hall`. */
export interface HallState {
  readonly version: number
  /** In their order. */
  readonly sections: readonly SectionState[]
  /** Two bits a seat, in base64, the first in the highest ones: section by section, the seats of each as its chart lists them. */
  readonly seats: string
  /** The newest first. */
  readonly blocks: readonly BlockedSeat[]
}
interface BlockedSeat {
  readonly section_id: string
  readonly seat_id: string
  readonly reason: string
  readonly operator: string | null
  readonly since: Date
}

/** `GET /admin/sales/{sale}/hall/seats/{section}/{seat}`. */
export interface SeatOwner {
  readonly section_id: string
  readonly seat_id: string
  readonly state: SeatState
  /** Of a held or sold one. */
  readonly order?: string
  readonly status?: string
  /** Of a blocked one. */
  readonly reason?: string
  readonly operator?: string
  readonly since?: Date
}

/** What an import does to the seats of its section, or would do. */
export interface SeatImport {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly unchanged: number
}
