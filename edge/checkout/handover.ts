/**
 * The route `GET /sales/{sale}/order/{order}/handover`: the buyer of a paid order returns to the shop, which asks for
 * their address there. The shop gets the signed order in the query, and verifies it by the keys at
 * `/.well-known/handover-keys.json`.
 */

import { isSold } from '../../shared/api/order-status.ts'
import type { Order } from '../../shared/api/public.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { problemIn } from '../../shared/problem.ts'
import { HANDOVER, HANDOVER_TTL_SECONDS, type HandoverClaims, signToken } from '../../shared/tokens.ts'
import { type Call, refuse, seeOther } from '../http/call.ts'
import { publicNow } from '../queue/sale-now.ts'
import { visitorPage } from '../sale/visitor-page.ts'
import { orderOf } from './own-orders.ts'

export async function handOver(sale: string, id: string, call: Call): Promise<Response> {
  const now = await publicNow(sale, call)
  const { kind, return_url } = now.facts.delivery
  if (kind !== 'handover' || return_url === undefined) refuse('not-found')
  try {
    const order = await orderOf(sale, id, call)
    if (!isSold(order.status)) return seeOther(`/sales/${sale}/order/${id}`)
    const to = new URL(return_url)
    to.searchParams.set('order', await signToken(HANDOVER, call.config.keys.handover, claimsOf(order, call.nowMs)))
    return seeOther(to.href)
  } catch (error) {
    return visitorPage(now, { kind: 'problem', problem: problemIn(error) }, call)
  }
}

function claimsOf(order: Order, nowMs: number): HandoverClaims {
  const { order_id: sub, sale, short_number, total_minor, currency } = order
  // Units of the same product are summed, because an entry for each seat would make the address too long.
  const quantities = new Map<string, number>()
  for (const { product_id, section_id, quantity, status } of order.lines) {
    if (status !== 'sold') continue
    const id = assertExists(product_id ?? section_id, 'A line of an order has a product or a section.')
    const known = quantities.get(id)
    quantities.set(id, known === undefined ? quantity : known + quantity)
  }
  const lines = [...quantities].map(([product_id, quantity]) => ({ product_id, quantity }))
  const iat = Math.floor(nowMs / 1000)
  return { sub, sale, short_number, total_minor, currency, lines, iat, exp: iat + HANDOVER_TTL_SECONDS }
}
