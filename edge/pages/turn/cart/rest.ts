/** The part of a refused cart that can still be had: what was lost meanwhile, and the form without it. Pure. */
import { Gone } from '../../../../shared/api/public.ts'
import { type Fields, tryParse } from '../../../../shared/parse.ts'
import type { Problem } from '../../../../shared/problem.ts'
import { linesIn, type NamedSeat, type Part, seatField, seatsIn } from '../cart-fields.ts'

/** A line of a number that cannot be had as it was asked for. */
export interface Lost {
  readonly part: Part
  /** The product or the standing section. */
  readonly product: string
  /** The units that this line can still have. */
  readonly left: number
}

/** The lines that a problem names as gone. The refusal of a cart of one line does not name it. */
export function lostIn(problem: Problem | undefined, fields: Fields): Lost[] {
  if (!problem) return []
  const lines = linesIn(fields).flatMap(
    ({ part, line: { product_id, section_id = product_id, quantity, together } }) =>
      section_id !== undefined && quantity !== undefined && together === undefined
        ? { part, product: section_id, quantity }
        : [],
  )
  const named = tryParse(Gone, problem.gone) ?? []
  const left = new Map(named.map(({ product_id = '', section_id = product_id, left }) => [section_id, left]))
  const [only, another] = lines
  const isOut = problem.remaining !== undefined || /(all-in-carts|sold-out)$/.test(problem.type)
  if (named.length === 0 && isOut && only && !another) left.set(only.product, Number(problem.remaining ?? 0))
  return lines.flatMap(({ part, product, quantity }) => {
    const free = left.get(product)
    if (free === undefined) return []
    const kept = Math.min(free, quantity)
    left.set(product, free - kept)
    return kept < quantity ? { part, product, left: kept } : []
  })
}

// -- Seats ----------------------------------------------------------------------------------------------------------

export const isTaken = ({ type }: Problem) => type.endsWith('/seat-taken')

/** The seats that others have taken. */
export const takenIn = ({ seats }: Problem): readonly unknown[] => (Array.isArray(seats) ? seats : [])

/** The seats that are offered instead of the taken ones. */
export function seatsInstead({ offer }: Problem): NamedSeat[] {
  if (!Array.isArray(offer)) return []
  return offer.flatMap(({ section_id, seats }: { section_id: string; seats: readonly string[] }) =>
    seats.map((seat) => ({ section: section_id, seat })),
  )
}

/** The seats of a form that met taken ones: those offered instead of all, or the free ones of them. */
export function seatsLeft(problem: Problem, fields: Fields): NamedSeat[] {
  const instead = seatsInstead(problem)
  const gone = takenIn(problem)
  return instead.length > 0 ? instead : seatsIn(fields).filter(({ seat }) => !gone.includes(seat))
}

// -- The form -------------------------------------------------------------------------------------------------------

/** The form after a refusal, as far as it can be had: the free seats, and as much of each lost line as is left. */
export function restAfter(problem: Problem, fields: Fields): Fields {
  const rest = restOf(fields, lostIn(problem, fields))
  if (!isTaken(problem)) return rest
  const others = Object.entries(rest).filter(([name]) => !name.startsWith('seat:'))
  const seats = seatsLeft(problem, fields).map(({ section, seat }) => [seatField(section, seat), '1'])
  return Object.fromEntries([...seats, ...others])
}

/** The form with as much of each lost line as is left. */
export function restOf(fields: Fields, lost: readonly Lost[]): Fields {
  const rest = { ...fields }
  for (const { part, left } of lost) {
    rest[part] = left > 0 ? String(left) : ''
    if (left === 0 && part.startsWith('count:')) delete rest[part.replace('count:', 'size:')]
  }
  return rest
}
