/**
 * The route `GET /sales/{sale}/order/{order}/handover`: the buyer of a paid order returns to the shop, which asks for
 * their address there. The shop gets the signed order in the query, and verifies it by the keys at
 * `/.well-known/handover-keys.json`.
 */

import { isSold } from '../../shared/api/order-status.ts'
import { problemIn } from '../../shared/problem.ts'
import { HANDOVER, HANDOVER_TTL_SECONDS, signToken } from '../../shared/tokens.ts'
import { type Call, refuse, seeOther } from '../http/call.ts'
import { publicNow } from '../queue/sale-now.ts'
import { visitorPage } from '../sale/visitor-page.ts'
import { orderOf } from './own-orders.ts'
import { addressWith, claimsOf } from './shop-payment.ts'

export async function handOver(sale: string, id: string, call: Call): Promise<Response> {
  const now = await publicNow(sale, call)
  const { kind, return_url } = now.facts.delivery
  if (kind !== 'handover' || return_url === undefined) refuse('not-found')
  try {
    const order = await orderOf(sale, id, call)
    if (!isSold(order.status)) return seeOther(`/sales/${sale}/order/${id}`)
    const iat = Math.floor(call.nowMs / 1000)
    const paid = { ...claimsOf(order, 'sold'), iat, exp: iat + HANDOVER_TTL_SECONDS }
    return seeOther(addressWith(return_url, await signToken(HANDOVER, call.config.keys.handover, paid)))
  } catch (error) {
    return visitorPage(now, { kind: 'problem', problem: problemIn(error) }, call)
  }
}
