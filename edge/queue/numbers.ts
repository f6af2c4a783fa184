/**
 * Ticket numbers for those who join. A known visitor's ticket shard looks the number up or records a new one. For unknown
 * visitors this isolate leases numbers from a shard and hands them out from memory: a crowd costs a few calls a second.
 */
import { lineOfRoom, PUBLIC_LINE, roomName } from '../../shared/api/access.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { QueueClaims } from '../../shared/tokens.ts'
import { refuseProof } from '../admission/proofs/proof-of-work.ts'
import { type Call, isAhead, pollWhile, refuse } from '../call.ts'
import { deletePlaceCookie } from '../visitor/credentials.ts'
import { joinShard } from './joins.ts'
import { Block, Demand, ISOLATE_LEASE_MS } from './lease.ts'
import { type JoinRequest, type ShardCalls, shardOf, withRetries } from './rpc.ts'
import type { SaleNow } from './sale-cache.ts'

/** Most sales with a block in hand; beyond it the block used longest ago becomes a gap. */
const MAX_BLOCKS = 1_000
/** Longest wait for a number before the visitor is asked to try again. */
const GIVE_UP_MS = 3_000
/** A request that leases the next block may take so long; after one that failed nobody tries for as long, less a random part. */
const LEASING_MS = 250

interface Counter {
  block: Block | null
  /** How many the sale has. */
  readonly shards: number
  /** Always the same shard, so that this isolate's own visitors keep their order; another one if it fails. */
  shard: number
  readonly demand: Demand
  leasingUntilMs: number
  /** Numbers that requests wait for at this moment. */
  wanted: number
}

const counters = new RecentMap<string, Counter>(MAX_BLOCKS)

export interface Given {
  readonly number: number
  /** False if the visitor had it before. */
  readonly first: boolean
}

/** A number for an unknown visitor: the next of this isolate's block, from one of the sale's shards. Throws `try-again` without one. */
export async function nextNumber(sale: string, shards: number, call: Call): Promise<Given> {
  const counter = counterOf(sale, shards)
  counter.demand.add(1, call.nowMs)
  counter.wanted++
  try {
    return { number: await numberFrom(counter, sale, call), first: true }
  } finally {
    counter.wanted--
  }
}

/** One request leases for all who wait. */
async function numberFrom(counter: Counter, sale: string, call: Call): Promise<number> {
  const untilMs = call.nowMs + GIVE_UP_MS
  for (let nowMs = Date.now(); nowMs < untilMs; nowMs = Date.now()) {
    const number = counter.block?.take(nowMs)
    if (number) return number
    if (isAhead(counter.leasingUntilMs, nowMs, LEASING_MS))
      await pollWhile(
        (atMs) => atMs < untilMs && !counter.block?.left(atMs) && isAhead(counter.leasingUntilMs, atMs, LEASING_MS),
      )
    else await leaseBlock(counter, sale, untilMs, call)
  }
  return refuseUnreachable()
}

async function leaseBlock(counter: Counter, sale: string, untilMs: number, call: Call) {
  const nowMs = Date.now()
  counter.leasingUntilMs = nowMs + LEASING_MS
  const shard = shardOf(sale, counter.shard, call.env)
  const leased = await withRetries(
    () => shard.take({ sale, count: Math.max(counter.wanted, counter.demand.forecast()) }),
    untilMs - nowMs,
  )
  if (!leased) {
    // Another shard may be well; but one in trouble must not meet a crowd.
    counter.shard = anyOf(counter.shards)
    counter.leasingUntilMs = Date.now() + LEASING_MS * (1 - Math.random() / 2)
    return
  }
  counter.leasingUntilMs = 0
  if (!leased.granted) return refuseClosed()
  const block = new Block(leased.lease, nowMs, Date.now())
  counter.block = block
  call.ctx.waitUntil(giveBackAtItsEnd(sale, block, leased.lease.lives_ms, shard))
}

/** What is unused of a block when it ends goes back to its shard, so that it is no gap in the line. */
async function giveBackAtItsEnd(sale: string, block: Block, livesMs: number, shard: ShardCalls) {
  await scheduler.wait(Math.max(0, livesMs))
  const rest = block.giveBack()
  // No retry: delivery is unknown, and a loss only leaves a gap.
  if (rest) await shard.takeBack({ sale, rest }).catch(() => {})
}

/**
 * The number of a known visitor, new or not. Whoever lost their token finds their old number; a new one replaces it where
 * `hasPassed`. Throws `try-again`, or `proof-required` if the proof was used before.
 */
export async function numberOf(
  request: JoinRequest,
  shards: number,
  call: Call,
  hasPassed = (_number: number) => false,
): Promise<Given> {
  const joined = await joinShard(request, shardFor(request.visitor, shards), call)
  if (joined?.joined) {
    const { number, first } = joined
    return first || !hasPassed(number) ? joined : numberOf({ ...request, instead_of: number }, shards, call)
  }
  if (joined?.reason === 'paid-already') {
    const { sale, line } = lineOfRoom(request.sale)
    return refuseProof(sale, line === PUBLIC_LINE ? null : line)
  }
  return joined?.reason === 'closed' ? refuseClosed() : refuseUnreachable()
}

/** The number of a visitor who may have joined; null if they are not recorded. Throws `try-again`. */
export async function findNumber(room: string, visitor: string, shards: number, call: Call): Promise<number | null> {
  const found = await joinShard({ sale: room, visitor, look_up: true }, shardFor(visitor, shards), call)
  if (found?.joined) return found.number
  return found?.reason === 'unknown' ? null : refuseUnreachable()
}

/** A visitor's own shard, in the room of their line. */
const ownShard = ({ sale, line = PUBLIC_LINE, sub }: QueueClaims, shards: number, call: Call) =>
  shardOf(roomName(sale, line), shardFor(sub, shards), call.env)

/** Longest wait for a shard that is asked about a place. */
const ASK_MS = 1_000

/** Gives up a place for good. */
export async function giveUp(place: QueueClaims, shards: number, call: Call): Promise<void> {
  await withRetries(() => ownShard(place, shards, call).leave({ visitor: place.sub, number: place.num }))
}

/**
 * True of a place that was given up, whose token is still good. Asked where a turn is claimed, which a crowd does no faster
 * than the line moves. A shard that does not respond holds nobody up.
 */
export async function hasLeft(place: QueueClaims, shards: number, call: Call): Promise<boolean> {
  return (await withRetries(() => ownShard(place, shards, call).hasLeft({ number: place.num }), ASK_MS)) === true
}

/** Throws `invalid-token` for a place that was given up. */
export async function refuseLeft(place: QueueClaims, shards: number, call: Call): Promise<void> {
  if (!(await hasLeft(place, shards, call))) return
  deletePlaceCookie(place.sale, call)
  refuse('invalid-token', { detail: 'This place was given up. Join again.' })
}

/**
 * Which line of a sale a known visitor is in: the one they chose first, on whatever device, so that nobody has a place in two.
 * Recorded as a number is, in shards of a room that gives none out. `leaves`: the line whose turn they have missed.
 */
export async function lineOf(
  sale: string,
  visitor: string,
  { wanted, leaves }: { wanted: string; leaves?: string | undefined },
  { policy: { lines }, ticketShards }: Pick<SaleNow, 'policy' | 'ticketShards'>,
  call: Call,
): Promise<string> {
  if (lines.length < 2) return wanted
  const request = { sale: choicesOf(sale), visitor, has: idOf(wanted) }
  const shard = shardFor(visitor, ticketShards)
  const choose = async (instead_of?: number) => {
    const joined = await joinShard({ ...request, instead_of }, shard, call)
    return joined?.joined ? joined.number : refuseUnreachable()
  }
  const chosen = await choose(leaves === undefined ? undefined : idOf(leaves))
  const found = lines.find(({ line }) => idOf(line) === chosen)
  if (found) return found.line
  // The list has it no longer.
  await choose(chosen)
  return wanted
}

/** Whoever has left a sale may come back in another line. */
export async function forgetLine(
  sale: string,
  visitor: string,
  { policy, ticketShards }: Pick<SaleNow, 'policy' | 'ticketShards'>,
  call: Call,
): Promise<void> {
  if (policy.lines.length < 2) return
  await withRetries(() => shardOf(choicesOf(sale), shardFor(visitor, ticketShards), call.env).leave({ visitor }))
}

/** No line has an empty name. */
const choicesOf = (sale: string) => roomName(sale, '')
const idOf = (line: string) => hashOf(line) + 1

const refuseClosed = () => refuse('try-again', { detail: 'Nobody can join at this moment.', retry_after_seconds: 2 })
const refuseUnreachable = () =>
  refuse('try-again', { detail: 'The line could not be reached.', retry_after_seconds: 1 })

const anyOf = (shards: number) => Math.floor(Math.random() * shards)

function counterOf(sale: string, shards: number): Counter {
  const found = counters.get(sale)
  if (found) return found
  const demand = new Demand(ISOLATE_LEASE_MS)
  const counter = { block: null, shards, shard: anyOf(shards), demand, leasingUntilMs: 0, wanted: 0 }
  counters.set(sale, counter)
  return counter
}

const shardFor = (visitor: string, shards: number) => hashOf(visitor) % shards

/** A 32-bit hash of a text (FNV-1a over UTF-16 code units) spreads names over shards. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
