/** Checkout, for those whose turn has come. */
import { EDGE_ADDRESS_HEADER, EDGE_LANGUAGE_HEADER, EDGE_NETWORKS_HEADER } from '../../shared/api/internal.ts'
import { Order } from '../../shared/api/public.ts'
import { tryParse } from '../../shared/parse.ts'
import { refuseBlockedIn } from '../admission/admit.ts'
import { limitAddress, limitVisitor, unpaidBounds } from '../admission/limits/rate-limits.ts'
import { type Call, isBrowser } from '../call.ts'
import { passOn } from '../origin.ts'
import { type Admission, requireAdmission, setOrderCookie } from '../visitor/credentials.ts'
import { languageOf } from '../visitor/language.ts'

/** `POST /sales/{sale}/checkout` */
export async function checkout(sale: string, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call)
  const response = await passOn(`/sales/${sale}/checkout`, token, call, aboutBuyer(call))
  return isBrowser(call.request) && response.status < 300 ? tokenInCookie(response, call) : response
}

/** `POST /sales/{sale}/totals`: what a checkout would cost. */
export async function totals(sale: string, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call, 'totals')
  return passOn(`/sales/${sale}/totals`, token, call, networksHeader(call))
}

/**
 * The admission of a caller who checks out, or does `what`; throws `refused`, or `too-many-requests` where they or their network do so
 * too often.
 */
export async function requireBuyer(sale: string, call: Call, what = 'checkout'): Promise<Admission> {
  limitAddress(what, call.config.STATUS_PER_ADDRESS, call)
  const admission = await requireAdmission(sale, call)
  limitVisitor(what, admission.claims.sub, call.config.STATUS_PER_VISITOR, call)
  await refuseBlockedIn(sale, admission.claims.sub, call)
  return admission
}

/**
 * What the origin may keep with an order, for support and mail: where it came from, and the language of its page; and what the networks
 * of its buyer may hold unpaid.
 */
export function aboutBuyer(call: Call) {
  const { request, config } = call
  const address = request.headers.get(config.ADDRESS_HEADER)
  return {
    [EDGE_LANGUAGE_HEADER]: languageOf(call).lang,
    ...(address !== null && { [EDGE_ADDRESS_HEADER]: address }),
    ...networksHeader(call),
  }
}

export function networksHeader(call: Call): Readonly<Record<string, string>> {
  const networks = unpaidBounds(call)
  return networks === null ? {} : { [EDGE_NETWORKS_HEADER]: networks }
}

/** A browser's order token goes into a cookie, out of reach of page script. */
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
