/**
 * Reads the seats of a section from a table, row by row: what each field may hold, and which line is wrong. Pure, for
 * CSV and JSON alike: a field is text or a number.
 */
import type { ChartSeat } from '../../shared/api/hall.ts'
import { MAX_PRICE_MINOR, MAX_SEATS } from '../../shared/api/operators/hall-admin.ts'
import { SEAT_KINDS } from '../../shared/api/public.ts'
import { sameName, storedText, textFault } from '../../shared/lib/text.ts'
import type { FieldError } from '../../shared/problem.ts'

export const COLUMNS = ['seat_id', 'row', 'number', 'place', 'x', 'y', 'category', 'kind', 'price_minor'] as const
type Column = (typeof COLUMNS)[number]

/** Errors that are named; more are counted. */
const MAX_ERRORS = 100
const MAX_TEXT = 64
/** The bound of a place in a row, and of coordinates in either direction. */
const MAX_NUMBER = 1_000_000
const SEAT_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
const DECIMAL = /^-?\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,3})?$/i

export class SeatTable {
  readonly seats: ChartSeat[] = []
  readonly errors: FieldError[] = []
  /** The number of all errors, including those that are not listed. */
  errorCount = 0
  /** The seats of all lines, also of those that are wrong otherwise, and the line of each. */
  readonly named = new Map<string, string>()
  /** Each category as it was first written, by its folded name. */
  readonly #categories = new Map<string, string>()
  /** The line of each place in a row, and of each printed number. */
  readonly #places = new Map<string, string>()
  readonly #numbers = new Map<string, string>()

  /** True once a further row would be too many. */
  get isFull(): boolean {
    return this.named.size + this.errorCount >= MAX_SEATS
  }

  /** `line`: what an error calls it. */
  add(line: string, fields: Readonly<Partial<Record<Column, unknown>>>): void {
    const before = this.errorCount
    const wrong = (column: Column, detail: string) => {
      this.errorCount++
      if (this.errors.length < MAX_ERRORS) this.errors.push({ field: `${line}: ${column}`, detail })
    }
    const text = (column: Column): string => {
      const value = fields[column]
      const text = typeof value === 'number' ? String(value) : value
      if (typeof text !== 'string') wrong(column, value === undefined ? 'is required' : 'text is required')
      else if (text === '') wrong(column, 'must not be empty')
      else if (text.length > MAX_TEXT) wrong(column, `at most ${MAX_TEXT} characters`)
      else {
        const stored = storedText(text)
        const fault = textFault(stored)
        if (fault === undefined) return stored
        wrong(column, fault)
      }
      return ''
    }
    const number = (column: Column, [least, most]: readonly [number, number], isWhole: boolean): number => {
      const value = fields[column]
      const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value
      if (typeof number !== 'number' || !Number.isFinite(number)) wrong(column, 'a number is required')
      else if (isWhole && !Number.isInteger(number)) wrong(column, 'a whole number is required')
      else if (number < least || number > most) wrong(column, `from ${least} to ${most}`)
      else return number
      return 0
    }
    const seat_id = text('seat_id')
    if (seat_id !== '') {
      const earlier = this.named.get(seat_id)
      if (!SEAT_ID.test(seat_id)) wrong('seat_id', '1 to 64 letters, digits, "-", "_" or ".", a letter or digit first')
      else if (earlier !== undefined) wrong('seat_id', `${seat_id} is ${earlier} already`)
      else this.named.set(seat_id, line)
    }
    const span = [-MAX_NUMBER, MAX_NUMBER] as const
    const kind = SEAT_KINDS.find((one) => one === fields.kind)
    const seat = {
      seat_id,
      row: text('row'),
      number: text('number'),
      place: number('place', span, true),
      x: number('x', span, false),
      y: number('y', span, false),
      category: text('category'),
      kind: kind ?? 'standard',
      price_minor: number('price_minor', [0, MAX_PRICE_MINOR], true),
    }
    if (!kind) wrong('kind', `one of ${SEAT_KINDS.join(', ')} is required`)
    const written = this.#categories.get(sameName(seat.category))
    if (seat.category !== '' && written !== undefined && written !== seat.category)
      wrong('category', `differs from ${written} by case alone`)
    if (this.errorCount > before) return
    this.#categories.set(sameName(seat.category), seat.category)
    const place = `${seat.place} ${seat.row}`
    const other = this.#places.get(place)
    if (other !== undefined) {
      wrong('place', `place ${seat.place} of row ${seat.row} is ${other} already`)
      return
    }
    const printed = JSON.stringify([seat.row, seat.number])
    const same = this.#numbers.get(printed)
    if (same !== undefined) {
      wrong('number', `number ${seat.number} of row ${seat.row} is ${same} already`)
      return
    }
    this.#places.set(place, line)
    this.#numbers.set(printed, line)
    this.seats.push(seat)
  }

  /** Adds an error that belongs to no row. */
  addError(error: FieldError): void {
    this.errorCount++
    if (this.errors.length < MAX_ERRORS) this.errors.push(error)
  }
}
