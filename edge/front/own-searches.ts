/**
 * The route `/me/searches`: the latest searches of a visitor who is signed in at the shop. The origin stores them for
 * all their devices.
 */
import { EDGE_VISITOR_HEADER } from '../../shared/api/internal.ts'
import { type Call, isForeignForm, refuse } from '../http/call.ts'
import { limitVisitor } from '../http/limits/rate-limits.ts'
import { passOn } from '../http/origin.ts'
import { accountOf } from '../visitor/session.ts'

export async function ownSearches(call: Call): Promise<Response> {
  const { request, config } = call
  // A request from another host may only read, and cannot see the response.
  if (request.method !== 'GET' && request.method !== 'HEAD' && isForeignForm(request)) refuse('forbidden')
  const detail = 'Sign in to the shop: it keeps the searches of accounts alone.'
  const account = (await accountOf(call)) ?? refuse('sign-in-required', { detail })
  limitVisitor('searches', account, config.STATUS_PER_VISITOR, call)
  const { search } = new URL(request.url)
  return passOn(`/internal/searches${search}`, config.EDGE_TOKEN, call, {
    [EDGE_VISITOR_HEADER]: encodeURIComponent(account),
  })
}
