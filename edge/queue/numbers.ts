/**
 * Ticket numbers for those who join. Who is known is looked up and recorded by their ticket shard. For those nobody
 * knows this isolate takes numbers on lease from a shard and hands them out from memory: a crowd of them costs a few
 * calls a second.
 */
import { hashOf } from '../../shared/hash.ts'
import { type Problem, problem } from '../../shared/problem.ts'
import { Recent } from '../../shared/recent-map.ts'
import { proofRequired } from '../auth/proof-of-work.ts'
import type { Call } from '../http.ts'
import { Block, Demand, ISOLATE_LEASE_MS } from './lease.ts'
import { answerOf, type JoinRequest, type ShardCalls, shardOf } from './rpc.ts'

/** Most sales with a block in hand; beyond it the block used longest ago becomes a gap. */
const MAX_BLOCKS = 1_000
/** How long a number is waited for, before the visitor is asked to try again. */
const GIVE_UP_MS = 3_000
/**
 * Another request is counted on to bring the next block for so long, and looked for at least so often. After one that
 * asked in vain nobody asks for as long, less a random part.
 */
const ASKING_MS = 250
const MAX_STEP_MS = 16

interface Counter {
  block: Block | null
  /** Always the same shard, so that this isolate's own visitors keep their order; another one if it fails. */
  shard: number
  readonly demand: Demand
  askingUntilMs: number
  /** Numbers that requests wait for at this moment. */
  wanted: number
}

const counters = new Recent<string, Counter>(MAX_BLOCKS)

export interface Given {
  readonly number: number
  /** False if the visitor had it before. */
  readonly first: boolean
}

/** A number for someone nobody knows: the next of this isolate's block. */
export async function nextNumber(sale: string, call: Call): Promise<Given | Problem> {
  const counter = counterOf(sale, call.config.ticketShards)
  counter.demand.add(1, call.nowMs)
  counter.wanted++
  try {
    return await numberFrom(counter, sale, call)
  } finally {
    counter.wanted--
  }
}

/** One request asks for all who wait; what it began is not waited for by the others, only looked for. */
async function numberFrom(counter: Counter, sale: string, call: Call): Promise<Given | Problem> {
  const untilMs = call.nowMs + GIVE_UP_MS
  let stepMs = 1
  for (let nowMs = Date.now(); nowMs < untilMs; nowMs = Date.now()) {
    const number = counter.block?.take(nowMs)
    if (number) return { number, first: true }
    if (counter.askingUntilMs > nowMs && counter.askingUntilMs <= nowMs + ASKING_MS) {
      await scheduler.wait(stepMs)
      stepMs = Math.min(MAX_STEP_MS, stepMs * 2)
      continue
    }
    counter.askingUntilMs = nowMs + ASKING_MS
    const shard = shardOf(sale, counter.shard, call.env)
    const leased = await answerOf(
      () => shard.take({ sale, count: Math.max(counter.wanted, counter.demand.forecast()) }),
      untilMs - nowMs,
    )
    if (!leased) {
      // Another shard may be well; but one in trouble is not the place for a crowd.
      counter.shard = anyOf(call.config.ticketShards)
      counter.askingUntilMs = Date.now() + ASKING_MS * (1 - Math.random() / 2)
      continue
    }
    counter.askingUntilMs = 0
    if (!leased.granted) return closed()
    const block = new Block(leased.lease, nowMs, Date.now())
    counter.block = block
    call.ctx.waitUntil(giveBackAtItsEnd(sale, block, leased.lease.lives_ms, shard))
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
    wanted: 0,
  }
  counters.set(sale, counter)
  return counter
}

/** A known visitor's shard is always the same. */
function shardFor(sale: string, visitor: string, { env, config }: Call): ShardCalls {
  return shardOf(sale, hashOf(visitor) % config.ticketShards, env)
}
