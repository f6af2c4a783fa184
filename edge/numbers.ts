/**
 * Ticket numbers for those who join. Who is known is looked up and recorded by their ticket shard. For those nobody
 * knows this isolate takes numbers on lease from a shard and hands them out from memory: a crowd of them costs a few
 * calls a second.
 */
import { type Problem, problem } from '../shared/problem.ts'
import type { Call } from './http.ts'
import { Block, Demand, ISOLATE_LEASE_MS } from './lease.ts'
import { proofRequired } from './proof-of-work.ts'
import { answerOf, type JoinRequest, type ShardCalls, shardOf } from './rpc.ts'

/** Most sales with a block in hand; beyond it the oldest block becomes a gap. */
const MAX_BLOCKS = 1_000
/** Calls for one number, before the visitor is asked to try again. */
const MAX_TRIES = 3
/** Another request is counted on to bring the next block for so long. */
const ASKING_MS = 250

interface Counter {
  block: Block | null
  /** Always the same shard, so that this isolate's own visitors keep their order; another one if it fails. */
  shard: number
  readonly demand: Demand
  askingUntilMs: number
}

const counters = new Map<string, Counter>()

export interface Given {
  readonly number: number
  /** False if the visitor had it before. */
  readonly first: boolean
}

/** A number for someone nobody knows: the next of this isolate's block. */
export async function nextNumber(sale: string, call: Call): Promise<Given | Problem> {
  const counter = counterOf(sale, call.config.ticketShards)
  counter.demand.add(1, call.nowMs)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const nowMs = Date.now()
    const number = counter.block?.take(nowMs)
    if (number) return { number, first: true }
    // One request asks for all that are to come, the others of this moment each for their own.
    const alone = counter.askingUntilMs > nowMs && counter.askingUntilMs <= nowMs + ASKING_MS
    if (!alone) counter.askingUntilMs = nowMs + ASKING_MS
    const shard = shardOf(sale, counter.shard, call.env)
    const leased = await answerOf(() => shard.take({ sale, count: alone ? 1 : counter.demand.forecast() }))
    if (!alone) counter.askingUntilMs = 0
    if (!leased) {
      counter.shard = anyOf(call.config.ticketShards)
      break
    }
    if (!leased.granted) return closed()
    const block = new Block(leased.lease, nowMs, Date.now())
    const first = block.take(Date.now())
    if (!alone && block.left(Date.now()) > 0) {
      counter.block = block
      call.ctx.waitUntil(giveBackAtItsEnd(sale, block, leased.lease.lives_ms, shard))
    }
    if (first) return { number: first, first: true }
  }
  return problem('try-again', { detail: 'The line could not be reached.', retry_after_seconds: 1 })
}

/** What is left of a block when it ends goes back to where it came from, so that it need not be a gap in the line. */
async function giveBackAtItsEnd(
  sale: string,
  block: Block,
  livesMs: number,
  shard: ShardCalls,
): Promise<void> {
  await scheduler.wait(Math.max(0, livesMs))
  const rest = block.giveBack()
  // Asked once: whether it arrived cannot be told, and a rest that is lost is only a gap.
  if (rest) await shard.takeBack({ sale, rest }).catch(() => {})
}

/** The number of a known visitor, new or not. */
export async function numberOf(request: JoinRequest, call: Call): Promise<Given | Problem> {
  const joined = await answerOf(() => shardFor(request.sale, request.visitor, call).join(request))
  if (joined?.joined) return { number: joined.number, first: joined.first }
  if (joined?.reason === 'closed') return closed()
  if (joined?.reason === 'paid-already') return proofRequired(request.sale)
  return problem('try-again', { detail: 'The line could not be reached.', retry_after_seconds: 1 })
}

/** Somebody gives their number back. */
export async function forget(sale: string, visitor: string, call: Call): Promise<void> {
  await answerOf(() => shardFor(sale, visitor, call).leave({ visitor }))
}

const closed = () =>
  problem('try-again', { detail: 'Nobody can join at this moment.', retry_after_seconds: 2 })

const anyOf = (shards: number) => Math.floor(Math.random() * shards)

function counterOf(sale: string, shards: number): Counter {
  const found = counters.get(sale)
  if (found) return found
  const counter = {
    block: null,
    shard: anyOf(shards),
    demand: new Demand(ISOLATE_LEASE_MS),
    askingUntilMs: 0,
  }
  counters.set(sale, counter)
  if (counters.size > MAX_BLOCKS) {
    for (const oldest of counters.keys()) {
      counters.delete(oldest)
      break
    }
  }
  return counter
}

/** A known visitor's shard is always the same, by a hash of their name (FNV-1a). */
function shardFor(sale: string, visitor: string, { env, config }: Call): ShardCalls {
  let hash = 0x811c9dc5
  for (let i = 0; i < visitor.length; i++) hash = Math.imul(hash ^ visitor.charCodeAt(i), 0x01000193)
  return shardOf(sale, (hash >>> 0) % config.ticketShards, env)
}
