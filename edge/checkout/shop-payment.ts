/**
 * What a shop gets in its address of an order: signed, in the query. It verifies it by the keys at
 * `/.well-known/handover-keys.json`.
 */
import type { Order } from '../../shared/api/public.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { type HandoverClaims, HOLD, signToken } from '../../shared/tokens.ts'
import type { Call } from '../http/call.ts'

/**
 * Where the shop takes the money of a hold, which it may sell until the hold ends. Its token is of a kind of its own,
 * so that no shop takes a hold for a paid order.
 */
export async function shopCheckout(returnUrl: string, order: Order, call: Call): Promise<string> {
  const reserved_until = assertExists(order.reserved_until, 'An order that is reserved has an end of its hold.')
  const iat = Math.floor(call.nowMs / 1000)
  const hold = { status: 'reserved', reserved_until, iat, exp: Math.floor(Date.parse(reserved_until) / 1000) } as const
  const token = await signToken(HOLD, call.config.keys.handover, { ...claimsOf(order, 'held'), ...hold })
  return addressWith(returnUrl, token)
}

export function addressWith(returnUrl: string, token: string): string {
  const to = new URL(returnUrl)
  to.searchParams.set('order', token)
  return to.href
}

/** What an order has of lines in this state, and costs. */
export function claimsOf(order: Order, of: 'held' | 'sold'): Omit<HandoverClaims, 'iat' | 'exp'> {
  const { order_id: sub, sale, short_number, total_minor, currency } = order
  // Units of the same product are summed, because an entry for each seat would make the address too long.
  const quantities = new Map<string, number>()
  for (const { product_id, section_id, quantity, status } of order.lines) {
    if (status !== of) continue
    const id = assertExists(product_id ?? section_id, 'A line of an order has a product or a section.')
    const known = quantities.get(id)
    quantities.set(id, known === undefined ? quantity : known + quantity)
  }
  const lines = [...quantities].map(([product_id, quantity]) => ({ product_id, quantity }))
  return { sub, sale, short_number, total_minor, currency, lines }
}
