/** The part of a refused cart that is not sold out: what was lost meanwhile, and the form without it. Pure. */
import { Gone } from '../../../../shared/api/public.ts'
import { type Fields, tryParse } from '../../../../shared/parse.ts'
import type { Problem } from '../../../../shared/problem.ts'
import { linesIn, type Part } from '../cart-fields.ts'

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

/** The form with as much of each lost line as is left. */
export function restOf(fields: Fields, lost: readonly Lost[]): Fields {
  const rest = { ...fields }
  for (const { part, left } of lost) {
    rest[part] = left > 0 ? String(left) : ''
    if (left === 0 && part.startsWith('count:')) delete rest[part.replace('count:', 'size:')]
  }
  return rest
}
