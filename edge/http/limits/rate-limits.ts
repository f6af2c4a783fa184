/**
 * Limits calls by address and by visitor, so that hammering is useless and one caller gets many places only slowly.
 * Each kind of call has its own count in the memory of this isolate. Joins are also counted by Cloudflare for all
 * isolates of one location.
 */

import { addressOf, type Call, refuse } from '../call.ts'
import type { Rate } from '../setting-forms.ts'
import { Limiter } from './limiter.ts'
import { networksOf } from './networks.ts'

/**
 * There is a limiter for each kind of call and size of network, so that many calls of one kind do not use up the
 * slots of another.
 */
const limiters = new Map<string, Limiter>()

function limiterOf(what: string): Limiter {
  const limiter = limiters.get(what) ?? new Limiter()
  limiters.set(what, limiter)
  return limiter
}

/**
 * Counts a call of an address and of the networks around it. Throws `too-many-requests` if it exceeds the limit of
 * one of them. The smallest network comes first, so that calls refused to an address do not count for its neighbours.
 */
export function limitAddress(what: string, rate: Rate | null, call: Call, how: 'take' | 'wait' = 'take'): void {
  if (!rate) return
  for (const [size, network] of networksOfCaller(call).entries()) {
    const calls = rate.calls * (multiplesOf(call)[size] ?? 1)
    limit(`${what} of network ${size}`, network, { ...rate, calls }, call, how)
  }
}

/**
 * Checks the limit for calls that count only if they turn out to be wrong: this counts none, and refuses after too
 * many wrong ones.
 */
export const limitGuesses = (what: string, rate: Rate | null, call: Call) => limitAddress(what, rate, call, 'wait')

const multiplesOf = ({ config }: Call) => [1, ...config.NETWORK_MULTIPLES]

/** Calls without an address count as one caller, because omitting it would otherwise evade the limit. */
const networksOfCaller = (call: Call) => networksOf(addressOf(call) ?? '')

/** Counts a call of a visitor by name. */
export function limitVisitor(what: string, name: string, rate: Rate | null, call: Call): void {
  if (rate) limit(`${what} of visitor`, name, rate, call)
}

function limit(what: string, who: string, rate: Rate, { nowMs }: Call, how: 'take' | 'wait' = 'take'): void {
  const waitMs = limiterOf(what)[how](who, rate, nowMs)
  if (waitMs > 0) refuse('too-many-requests', { retry_after_seconds: waitMs / 1000 })
}

/**
 * The caller's networks with the units that each may hold unpaid, for EDGE_NETWORKS_HEADER; null if there is no
 * limit.
 */
export function unpaidBounds(call: Call): string | null {
  const { UNPAID_PER_ADDRESS: units } = call.config
  if (units === null) return null
  const bounds = networksOfCaller(call).map((network, size) => {
    return `${encodeURIComponent(network)}=${Math.floor(units * (multiplesOf(call)[size] ?? 1))}`
  })
  return bounds.join(' ')
}

/** The places of a network count for this many seconds. */
const PLACES_SECONDS = 600

/**
 * True if a network has more places than it can use. Each place may buy the limit of a visitor, and all places
 * together as much as the network may hold unpaid.
 */
export function isCrowded(queue: string, limitPerVisitor: number, call: Call): boolean {
  const { UNPAID_PER_ADDRESS: units } = call.config
  if (units === null) return false
  const places = Math.max(1, Math.floor(units / limitPerVisitor))
  return networksOfCaller(call).some((network, size) => {
    const rate = { calls: places * (multiplesOf(call)[size] ?? 1), seconds: PLACES_SECONDS }
    return limiterOf(`places of network ${size}`).take(`${queue} ${network}`, rate, call.nowMs) > 0
  })
}

/**
 * The counters of Cloudflare, by size of the network: `[[ratelimits]]` of wrangler.toml. They do not exist elsewhere.
 */
const JOIN_COUNTERS = ['JOINS_BY_ADDRESS', 'JOINS_BY_NETWORK', 'JOINS_BY_WIDE_NETWORK'] as const
/** The period of these counters, which is the longest time until they start again. */
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
