/** The way back to the shop: where an admitted visitor goes, and with which token. */
import type { Call, Onwards } from '../http/call.ts'
import type { QueueItCustomer } from '../http/queue-it-setting.ts'
import { countSession } from '../protect/protect.ts'
import { knownUserToken, TOKEN_SECONDS } from './known-user-token.ts'
import { withToken } from './target.ts'
import { boundAddress, customersOf, isOver, queueIdOf, type Visit, visitTo } from './visit.ts'

/** After an event its connectors ask again this often whether it is still over. */
const AFTER_EVENT_MINUTES = 3

export const toShop: Onwards = {
  origins: (sale, call) => {
    const schemes = call.config.production ? ['https'] : ['https', 'http']
    const hosts = customersOf(sale, call).flatMap(({ hosts }) => hosts)
    return hosts.flatMap((host) => schemes.map((scheme) => `${scheme}://${host}`))
  },
  addressFor: async (claims, call) => {
    const visit = await visitTo(claims.sale, call)
    if (!visit) return null
    const { customer, event, target } = visit
    // The shop does not tell when a visitor comes and leaves, so they count as inside from here on.
    countSession(claims, customer.session_minutes * 60, call)
    const queueId = queueIdOf(claims, call)
    const user = { event, queueId, redirectType: 'queue', ...validity(customer, call) } as const
    return withToken(target, knownUserToken(user, customer.secret))
  },
  addressAfter: async (sale, call) => {
    const visit = await visitTo(sale, call)
    return visit && (await isOver(sale, call)) ? withToken(visit.target, tokenAfterEvent(visit, call)) : null
  },
}

/** The token with which a connector shows its diagnostics. It names no event, so it lets nobody in. */
export const debugToken = (customer: QueueItCustomer, call: Call): string =>
  knownUserToken({ redirectType: 'debug', ...validity(customer, call) }, customer.secret)

/** The token of a visitor who passes because the event is over. It names no place. */
export function tokenAfterEvent({ customer, event }: Pick<Visit, 'customer' | 'event'>, call: Call): string {
  const user = { event, cookieMinutes: AFTER_EVENT_MINUTES, redirectType: 'afterevent' } as const
  return knownUserToken({ ...user, ...validity(customer, call) }, customer.secret)
}

const validity = (customer: QueueItCustomer, call: Call) => ({
  untilSeconds: Math.floor(call.nowMs / 1000) + TOKEN_SECONDS,
  ...boundAddress(customer, call),
})
