/**
 * Ticket numbers for those who join. A known visitor's ticket shard looks the number up or records a new one. For
 * unknown visitors this isolate leases numbers from a shard and hands them out from memory: a crowd costs a few calls
 * a second.
 */
import { hashOf } from '../../../shared/lib/hash.ts'
import { RecentMap } from '../../../shared/lib/recent-map.ts'
import { isAhead, Waiting } from '../../http/waiting.ts'
import {
  type FoundNumber,
  type JoinRequest,
  type JoinResponse,
  type QueueContext,
  RESPONSE_MS,
  type ShardCalls,
  shardOf,
  withRetries,
} from '../rpc.ts'
import { readSale, type SaleNow } from '../sale-cache.ts'
import { BatchedCalls } from './batched-calls.ts'
import { Block, IsolateDemand } from './lease.ts'
import { choicesOf, shardName } from './tree.ts'

/** The limit of queues with a block in memory. Beyond it, the block that was used longest ago becomes a gap. */
const MAX_BLOCKS = 1_000
/** Longest wait for a number before the visitor is asked to try again. */
const GIVE_UP_MS = 3_000
/** After so long without a block another request leases: the one that did may be gone. */
const LEASING_MS = 1_000
/** Pause after a shard that did not respond, less a random part. */
const FAILED_MS = 250
/** Longest wait for a shard that is asked about a place. */
const ASK_MS = 1_000
/**
 * A place that was not given up counts as kept for so long: a token may claim its turn as often as its holder calls.
 */
const KEPT_MS = 5_000
/** The limit of places remembered as kept. */
const MAX_KEPT = 10_000

/** A number in the queue of `now`; `first` is false if the visitor had it before. */
export interface Taken {
  readonly now: SaleNow
  readonly number: number
  readonly first: boolean
}
/**
 * Why nobody gets a number: nobody can join now, the queue's objects did not respond, or the payment was used before.
 */
export type NotTaken = 'closed' | 'unreachable' | 'paid-already'

/** A visitor who may have joined before. */
interface KnownVisitor {
  readonly name: string
  readonly paidWith: string | undefined
  /** The place whose turn they have missed. */
  readonly missed: { readonly line: string; readonly number: number } | null
}

/**
 * The number of a known visitor, new or not, in the line that they chose first; whoever lost their token finds their
 * old number, and a new one replaces it where its turn has passed. A visitor who is not known (null) gets a new
 * number.
 */
export async function takeNumber(
  now: SaleNow,
  visitor: KnownVisitor | null,
  context: QueueContext,
): Promise<Taken | NotTaken> {
  if (visitor === null) return nextNumber(now, context)
  const { name, paidWith, missed } = visitor
  const line = await chosenLine(now, name, missed?.line, context)
  if (line === null) return 'unreachable'
  const own = line === now.line ? now : await readSale(now.sale, line, context)
  if (typeof own === 'string') return 'unreachable'
  const instead_of = line === missed?.line ? missed.number : undefined
  const request = { queue: own.queue, visitor: name, paid_with: paidWith }
  const found = await recordedNumber(own, { ...request, instead_of }, context)
  if (typeof found === 'string' || found.first || own.place(found.number).status !== 'missed_turn') return found
  return recordedNumber(own, { ...request, instead_of: found.number }, context)
}

/**
 * The number of a known visitor who has a place, in the line that they chose, and nothing new: null without a place.
 */
export async function findNumber(
  now: SaleNow,
  visitor: string,
  context: QueueContext,
): Promise<Omit<Taken, 'first'> | 'unreachable' | null> {
  const { sale, ticketShards, policy } = now
  const inQueue = (queue: string) =>
    finds.call(visitor, shardName(queue, shardFor(visitor, ticketShards), ticketShards), context)
  let own: SaleNow | null = now
  if (policy.lines.length > 1) {
    const chosen = await inQueue(choicesOf(sale))
    if (chosen === null) return 'unreachable'
    const line = policy.lines.find((one) => idOf(one.line) === chosen.number)?.line
    if (line === undefined) return null
    const read = await readSale(sale, line, context)
    own = typeof read === 'string' ? null : read
  }
  const found = own && (await inQueue(own.queue))
  if (!own || !found) return 'unreachable'
  return found.number === null ? null : { now: own, number: found.number }
}

const finds = new BatchedCalls<string, FoundNumber>(ASK_MS, (shard, visitors) => shard.findAll(visitors))

/**
 * Leaves the lobby. The number is recorded, also one that its visitor got while unknown: should they come back, it is
 * still theirs.
 */
export async function leaveLobby(now: SaleNow, visitor: string, number: number, context: QueueContext): Promise<void> {
  const request = { queue: now.queue, visitor, has: number, leaves_lobby: true } as const
  await Promise.all([recordedNumber(now, request, context), chosenLine(now, visitor, undefined, context)])
}

/** Gives up a place for good. Whoever has left a sale may come back in another line. */
export async function giveUpPlace(now: SaleNow, visitor: string, number: number, context: QueueContext): Promise<void> {
  const shard = shardFor(visitor, now.ticketShards)
  keptUntilMs.delete(placeKey(now, number))
  const leave = (queue: string, left: { visitor: string; number?: number }) =>
    withRetries(() => shardOf(queue, shard, now.ticketShards, context.env).leave(left))
  await Promise.all([
    leave(now.queue, { visitor, number }),
    now.policy.lines.length > 1 && leave(choicesOf(now.sale), { visitor }),
  ])
}

const leavers = new BatchedCalls<number, boolean>(ASK_MS, (shard, numbers) => shard.haveLeft(numbers))
const keptUntilMs = new RecentMap<string, number>(MAX_KEPT)
const placeKey = ({ queue }: SaleNow, number: number) => `${queue} ${number}`

/**
 * True for a place that was given up, whose token is still good. Asked where a turn is claimed, which a crowd does no
 * faster than the queue moves. A shard that does not respond holds nobody up.
 */
export async function hasLeft(now: SaleNow, visitor: string, number: number, context: QueueContext): Promise<boolean> {
  const key = placeKey(now, number)
  const untilMs = keptUntilMs.get(key)
  if (untilMs !== undefined && isAhead(untilMs, Date.now(), KEPT_MS)) return false
  const shard = shardName(now.queue, shardFor(visitor, now.ticketShards), now.ticketShards)
  const left = (await leavers.call(number, shard, context)) === true
  if (!left) keptUntilMs.set(key, Date.now() + KEPT_MS)
  return left
}

// -- Known visitors --------------------------------------------------------------------------------------------------

const joins = new BatchedCalls<JoinRequest, JoinResponse>(RESPONSE_MS, (shard, requests) => shard.joinAll(requests))

async function recordedNumber(now: SaleNow, request: JoinRequest, context: QueueContext): Promise<Taken | NotTaken> {
  const joined = await joins.call(request, shardOfVisitor(request, now.ticketShards), context)
  if (joined?.joined) return { now, number: joined.number, first: joined.first }
  return joined === null || joined.reason === 'try-again' ? 'unreachable' : joined.reason
}

/**
 * Which line of a sale a known visitor is in: the one they chose first, on whatever device, so that nobody has a
 * place in two. Recorded as a number is, in shards of a queue that gives none out. `leaves`: the line whose turn they
 * have missed. Null where the shard does not respond.
 */
async function chosenLine(
  { sale, line: wanted, policy: { lines }, ticketShards }: SaleNow,
  visitor: string,
  leaves: string | undefined,
  context: QueueContext,
): Promise<string | null> {
  if (lines.length < 2) return wanted
  const request = { queue: choicesOf(sale), visitor, has: idOf(wanted) }
  const choose = async (instead_of?: number) => {
    const joined = await joins.call({ ...request, instead_of }, shardOfVisitor(request, ticketShards), context)
    return joined?.joined ? joined.number : null
  }
  const chosen = await choose(leaves === undefined ? undefined : idOf(leaves))
  if (chosen === null) return null
  const found = lines.find(({ line }) => idOf(line) === chosen)
  if (found) return found.line
  // An operator has removed the line from the list.
  return (await choose(chosen)) === null ? null : wanted
}

const idOf = (line: string) => hashOf(line) + 1
export const shardFor = (visitor: string, shards: number) => hashOf(visitor) % shards
const shardOfVisitor = ({ queue, visitor }: JoinRequest, shards: number) =>
  shardName(queue, shardFor(visitor, shards), shards)

// -- Unknown visitors ------------------------------------------------------------------------------------------------

/** What this isolate has on lease of one queue, and who waits for it. */
interface Counter {
  block: Block | null
  /** Always the same shard, so that this isolate's own visitors keep their order; another one if it fails. */
  shard: number
  readonly demand: IsolateDemand
  /** How long the last lease was on its way. */
  tripMs: number
  /** Until when others leave it to the request that leases. */
  leasingUntilMs: number
  readonly waiting: Waiting<number | NotTaken>
}

const counters = new RecentMap<string, Counter>(MAX_BLOCKS)

const counterOf = ({ queue, ticketShards }: SaleNow): Counter =>
  counters.getOrAdd(queue, () => ({
    block: null,
    shard: anyOf(ticketShards),
    demand: new IsolateDemand(),
    tripMs: 0,
    leasingUntilMs: 0,
    waiting: new Waiting(),
  }))

const anyOf = (shards: number) => Math.floor(Math.random() * shards)

/** The next number of this isolate's block. One request leases for all who wait. */
async function nextNumber(now: SaleNow, context: QueueContext): Promise<Taken | NotTaken> {
  const counter = counterOf(now)
  const { block, waiting } = counter
  const nowMs = Date.now()
  counter.demand.add(1, nowMs)
  const number = waiting.size === 0 ? block?.take(nowMs) : null
  if (number) return { now, number, first: true }
  const next = waiting.wait(GIVE_UP_MS, 'unreachable')
  if (!isAhead(counter.leasingUntilMs, nowMs, LEASING_MS)) context.ctx.waitUntil(leaseForAll(counter, now, context))
  const taken = await next
  return typeof taken === 'string' ? taken : { now, number: taken, first: true }
}

/** Leases until nobody waits, each time for all who do. */
async function leaseForAll(counter: Counter, { queue, ticketShards }: SaleNow, { env, ctx }: QueueContext) {
  const { waiting, demand } = counter
  const untilMs = Date.now() + GIVE_UP_MS
  for (let nowMs = Date.now(); waiting.size > 0 && nowMs < untilMs; nowMs = Date.now()) {
    counter.leasingUntilMs = nowMs + LEASING_MS
    const shard = shardOf(queue, counter.shard, ticketShards, env)
    const wanted = demand.lease(waiting.size, counter.tripMs, nowMs)
    const leased = await withRetries(() => shard.take({ queue, ...wanted }), untilMs - nowMs)
    if (!leased) {
      // The pause and the change of shard protect a shard in trouble from all the calls at once.
      counter.shard = anyOf(ticketShards)
      await scheduler.wait(FAILED_MS * (1 - Math.random() / 2))
      continue
    }
    if (!leased.granted) {
      waiting.resolveAll('closed')
      break
    }
    const arrivedAtMs = Date.now()
    counter.tripMs = arrivedAtMs - nowMs
    const block = new Block(leased.lease, nowMs, arrivedAtMs)
    counter.block = block
    // At once: on a busy machine the block would end before those who wait had looked for it.
    waiting.resolveEach(() => block.take(arrivedAtMs))
    ctx.waitUntil(giveBackAtItsEnd(block, leased.lease.lives_ms, shard))
  }
  counter.leasingUntilMs = 0
}

/** What is unused of a block when it ends goes back to its shard, so that it is no gap in the queue. */
async function giveBackAtItsEnd(block: Block, livesMs: number, shard: ShardCalls) {
  await scheduler.wait(Math.max(0, livesMs))
  const unused = block.giveBack()
  // No retry: delivery is unknown, and a loss only leaves a gap.
  if (unused) await shard.takeBack(unused).catch(() => {})
}
