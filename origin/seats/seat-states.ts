/**
 * The state of each seat of a hall: available, held, sold or blocked. Read from the ledger once a second and sale at
 * most, however many ask, and packed into two bits a seat.
 */

import { type HallAvailability, SEAT_STATES, type SeatState } from '../../shared/api/hall.ts'
import { packStates } from '../../shared/hall/hall-model.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { seatsOf, sectionsIn } from './chart-document.ts'
import type { Halls } from './halls.ts'
import { readSeatStates } from './seat-queries.ts'

/** The longest age in milliseconds of the states that are sent; older ones are read again. */
const FRESH_MS = 1_000

/** The number of each seat's state, indexed by its place in the bitmap; seats past the end are available. */
export type StateNumbers = Uint8Array

export class SeatStates {
  readonly #sql: Sql
  readonly #halls: Halls
  readonly #latest = new Map<string, { readonly atMs: number; readonly states: Promise<StateNumbers> }>()
  readonly #packed = new WeakMap<StateNumbers, HallAvailability>()

  constructor(sql: Sql, halls: Halls) {
    this.#sql = sql
    this.#halls = halls
  }

  /** Fails as the ledger does. */
  of(saleId: string): Promise<StateNumbers> {
    const latest = this.#latest.get(saleId)
    if (latest && performance.now() - latest.atMs < FRESH_MS) return latest.states
    const made = { atMs: performance.now(), states: this.#read(saleId) }
    this.#latest.set(saleId, made)
    const forget = () => {
      if (this.#latest.get(saleId) === made) this.#latest.delete(saleId)
    }
    made.states.then(() => setTimeout(forget, FRESH_MS).unref(), forget)
    return made.states
  }

  /** All sections of a hall, packed; null for a sale without one. */
  async packed(sale: SaleRow): Promise<HallAvailability | null> {
    const [hall, states] = await Promise.all([this.#halls.of(sale), this.of(sale.sale_id)])
    if (!hall) return null
    const known = this.#packed.get(states)
    if (known?.version === hall.version) return known
    const sections = sectionsIn(sale.products).map(({ product_id }): [string, string] => [
      product_id,
      packStates(seatsOf(hall, product_id).map(({ index }) => numberAt(states, index))),
    ])
    const made = { version: hall.version, sections: Object.fromEntries(sections) }
    this.#packed.set(states, made)
    return made
  }

  async #read(saleId: string): Promise<StateNumbers> {
    const rows = await readSeatStates(this.#sql, saleId)
    const most = rows.reduce((most, { seats }) => seats.reduce((a, b) => Math.max(a, b), most), -1)
    const states = new Uint8Array(most + 1)
    for (const { state, seats } of rows) for (const seat of seats) states[seat] = SEAT_STATES.indexOf(state)
    return states
  }
}

/** The first state is "available": that of the seats past the end. */
const numberAt = (states: StateNumbers, seat: number): number => states[seat] ?? 0

export const stateAt = (states: StateNumbers, seat: number): SeatState =>
  assertExists(SEAT_STATES[numberAt(states, seat)], 'A seat has one of the known states.')
