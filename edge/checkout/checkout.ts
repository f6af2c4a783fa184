/** The checkout of visitors whose turn has come. */

import {
  EDGE_ADDRESS_HEADER,
  EDGE_ASN_HEADER,
  EDGE_LANGUAGE_HEADER,
  EDGE_NETWORKS_HEADER,
} from '../../shared/api/internal.ts'
import { Order } from '../../shared/api/public.ts'
import { tryParse } from '../../shared/parse.ts'
import { requireBuyer } from '../admission/admit.ts'
import { addressOf, type Call, isBrowser } from '../http/call.ts'
import { unpaidBounds } from '../http/limits/rate-limits.ts'
import { passOn } from '../http/origin.ts'
import { whereOf } from '../http/where.ts'
import { setOrderCookie } from '../visitor/credentials.ts'
import { languageOf } from '../visitor/language.ts'

/** The route `POST /sales/{sale}/checkout`. */
export async function checkout(sale: string, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call)
  const response = await passOn(`/sales/${sale}/checkout`, token, call, aboutBuyer(call))
  return isBrowser(call.request) && response.status < 300 ? tokenInCookie(response, call) : response
}

/** The route `POST /sales/{sale}/totals`: the price of a checkout before it. */
export async function totals(sale: string, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call, 'totals')
  return passOn(`/sales/${sale}/totals`, token, call, networksHeader(call))
}

/**
 * The headers that the origin may store with an order for support and mail: the address and the language of the page.
 * They also contain the units that the buyer's networks may hold unpaid.
 */
export function aboutBuyer(call: Call) {
  const address = addressOf(call)
  const { asn } = whereOf(call)
  return {
    [EDGE_LANGUAGE_HEADER]: languageOf(call).lang,
    ...(address !== null && { [EDGE_ADDRESS_HEADER]: address }),
    ...(asn !== null && { [EDGE_ASN_HEADER]: String(asn) }),
    ...networksHeader(call),
  }
}

export function networksHeader(call: Call): Readonly<Record<string, string>> {
  const networks = unpaidBounds(call)
  return networks === null ? {} : { [EDGE_NETWORKS_HEADER]: networks }
}

/** The order token of a browser is moved into a cookie that page scripts cannot read. */
async function tokenInCookie(response: Response, call: Call): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  const order = tryParse(Order, body)
  if (!order) return response
  const { order_token, ...visible } = order
  if (order_token) setOrderCookie(visible.order_id, order_token, call)
  return new Response(JSON.stringify(visible), response)
}
