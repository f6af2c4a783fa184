/**
 * The token with which a visitor returns to the shop. The connector there verifies it with the secret that both have,
 * and then remembers the visitor by a cookie of its own. Pure.
 */
import { hmacHex } from '../../shared/lib/hash.ts'

/**
 * A connector takes a token as often as it is sent, so a token is valid only for the way to the shop, and for a clock
 * there that is a minute ahead.
 */
export const TOKEN_SECONDS = 120

export interface KnownUser {
  /** The event; absent for a token that lets nobody in. */
  readonly event?: string
  /** The id of the place; absent for a visitor who passes without one. */
  readonly queueId?: string
  /** The time until which the token is valid, in seconds since the epoch. */
  readonly untilSeconds: number
  /** The minutes for which the connector's cookie is valid; absent: as configured there, from each request on. */
  readonly cookieMinutes?: number
  readonly redirectType: 'queue' | 'afterevent' | 'debug'
  /** The address to which the token is bound. */
  readonly address?: string
}

export function knownUserToken(user: KnownUser, secret: string): string {
  const { event, queueId, untilSeconds, cookieMinutes, redirectType, address } = user
  const pairs = [
    ['e', event],
    ['q', queueId],
    ['ts', untilSeconds],
    ['ce', cookieMinutes === undefined],
    ['cv', cookieMinutes],
    ['rt', redirectType],
    ['hip', address && hmacHex(secret, address)],
  ]
  const text = pairs
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}_${value}`)
    .join('~')
  return `${text}~h_${hmacHex(secret, text)}`
}
