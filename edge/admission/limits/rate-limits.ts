/**
 * Limits on calls, by address and by visitor: enough to make hammering useless and many places for one caller slow. Each
 * kind of call is counted by itself, in the memory of this isolate; joins are also counted by Cloudflare, for all isolates
 * of one location.
 */

import { type Call, refuse } from '../../call.ts'
import type { Rate } from '../../config.ts'
import { Limiter } from './limiter.ts'
import { networksOf } from './networks.ts'

/** By what is counted, one for each size of network: a crowd of one kind must not use up another. */
const limiters = new Map<string, Limiter>()

function limiterOf(what: string): Limiter {
  const limiter = limiters.get(what) ?? new Limiter()
  limiters.set(what, limiter)
  return limiter
}

/**
 * Counts a call of an address and of the networks around it; throws `too-many-requests` if it is one too many for one of
 * them. The smallest network comes first: calls refused to an address do not count for its neighbours.
 */
export function limitAddress(what: string, rate: Rate | null, call: Call, how: 'take' | 'wait' = 'take'): void {
  if (!rate) return
  for (const [size, network] of networksOfCaller(call).entries()) {
    const calls = rate.calls * (multiplesOf(call)[size] ?? 1)
    limit(`${what} of network ${size}`, network, { ...rate, calls }, call, how)
  }
}

/** The same for calls that count only if they turn out to be wrong: this counts none, and refuses after too many of them. */
export const limitGuesses = (what: string, rate: Rate | null, call: Call) => limitAddress(what, rate, call, 'wait')

const multiplesOf = ({ config }: Call) => [1, ...config.NETWORK_MULTIPLES]

/** Calls without the header count as one address, or leaving it out would be a way round. */
const networksOfCaller = ({ request, config }: Call) => networksOf(request.headers.get(config.ADDRESS_HEADER) ?? '')

/** Counts a call of a visitor by their name. */
export function limitVisitor(what: string, name: string, rate: Rate | null, call: Call): void {
  if (rate) limit(`${what} of visitor`, name, rate, call)
}

function limit(what: string, who: string, rate: Rate, { nowMs }: Call, how: 'take' | 'wait' = 'take'): void {
  const waitMs = limiterOf(what)[how](who, rate, nowMs)
  if (waitMs > 0) refuse('too-many-requests', { retry_after_seconds: waitMs / 1000 })
}

/** The caller's networks with what each may hold unpaid, for EDGE_NETWORKS_HEADER; null where nothing is bounded. */
export function unpaidBounds(call: Call): string | null {
  const { UNPAID_PER_ADDRESS: units } = call.config
  if (units === null) return null
  const bounds = networksOfCaller(call).map((network, size) => {
    return `${encodeURIComponent(network)}=${Math.floor(units * (multiplesOf(call)[size] ?? 1))}`
  })
  return bounds.join(' ')
}

/** Of the places of a network only those of the latest so many seconds count. */
const PLACES_SECONDS = 600

/** Whether a new place is beyond those that its network can use: each to buy as much as one may, and all together as much as it may hold unpaid. */
export function isCrowded(queue: string, limitPerVisitor: number, call: Call): boolean {
  const { UNPAID_PER_ADDRESS: units } = call.config
  if (units === null) return false
  const places = Math.max(1, Math.floor(units / limitPerVisitor))
  return networksOfCaller(call).some((network, size) => {
    const rate = { calls: places * (multiplesOf(call)[size] ?? 1), seconds: PLACES_SECONDS }
    return limiterOf(`places of network ${size}`).take(`${queue} ${network}`, rate, call.nowMs) > 0
  })
}

/** What Cloudflare counts in: `[[ratelimits]]` of wrangler.toml, by the size of the network. None elsewhere. */
const JOIN_COUNTERS = ['JOINS_BY_ADDRESS', 'JOINS_BY_NETWORK', 'JOINS_BY_WIDE_NETWORK'] as const
/** Its period: the longest time until it starts again. */
const COUNTER_SECONDS = 60

/** Counts a call for a new place. */
export async function limitJoins(call: Call): Promise<void> {
  const { JOINS_PER_ADDRESS } = call.config
  limitAddress('join', JOINS_PER_ADDRESS, call)
  if (!JOINS_PER_ADDRESS) return
  for (const [size, network] of networksOfCaller(call).entries()) {
    const counter = call.env[JOIN_COUNTERS[size] ?? 'JOINS_BY_ADDRESS']
    if (!counter) return
    const { success } = await counter.limit({ key: network })
    if (!success) refuse('too-many-requests', { retry_after_seconds: COUNTER_SECONDS })
  }
}
