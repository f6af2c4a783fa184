/**
 * The sale that a request is about, as one of its lines has it. What cannot be read ends the request with a problem.
 */

import { PUBLIC_LINE } from '../../shared/api/access.ts'
import { type Call, refuse } from '../http/call.ts'
import { limitAddress, limitGuesses } from '../http/limits/rate-limits.ts'
import { readSale, type SaleNow, type Unread } from './sale-cache.ts'

/**
 * The sale as all see it now: in the public line, or in the first where none is public. Read once, where a route
 * begins. Throws `unknown-sale`, or `try-again` when no copy can be had.
 */
export async function publicNow(sale: string, call: Call): Promise<SaleNow> {
  const now = await lineNow(sale, PUBLIC_LINE, call)
  const { lines } = now.policy
  const [first] = lines
  const isPublic = !first || lines.some(({ line }) => line === PUBLIC_LINE)
  return isPublic ? now : lineNow(sale, first.line, call)
}

/** The sale as one of its lines has it: one that its policy lists, or that a token names. */
export async function lineNow(sale: string, line: string, call: Call): Promise<SaleNow> {
  const { JOINS_PER_ADDRESS: rate } = call.config
  let isLookUp = false
  const now = await readSale(sale, line, call, () => {
    limitGuesses('name', rate, call)
    isLookUp = true
  })
  // A client that invents names consumes the look-ups of its whole address.
  if (isLookUp && now === 'unknown-sale') limitAddress('name', rate, call)
  return orRefuse(now)
}

/** A sale that has been read, as another of its lines has it. */
export async function inLine(now: SaleNow, line: string, call: Call): Promise<SaleNow> {
  return line === now.line ? now : lineNow(now.sale, line, call)
}

function orRefuse(now: SaleNow | Unread): SaleNow {
  if (typeof now !== 'string') return now
  return now === 'unknown-sale' ? refuse(now) : refuse('try-again', { retry_after_seconds: 1 })
}
