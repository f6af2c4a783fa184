/**
 * The joins of known visitors, on their way to the ticket shards. Those of this isolate that come within a millisecond
 * travel in one call: a call costs as much for one visitor as for fifty, and more than all else about a join.
 *
 * No I/O is shared between requests. The request that begins a batch makes the call, also when its own visitor goes away;
 * each of the others awaits a promise of its own. The caller resolves it with plain data, and the runtime resumes each
 * request in its own context (flag `handle_cross_request_promise_resolution`, the default since 2024-10-14).
 */
import { RecentMap } from '../../shared/lib/recent-map.ts'
import { isAhead } from '../poll.ts'
import { type JoinRequest, type JoinResponse, objectOf, type QueueContext, RESPONSE_MS, withRetries } from './rpc.ts'

/** How long a batch gathers while another call to its shard is under way; without one it leaves at once. */
const GATHER_MS = 1
/** After so long nobody joins a batch any more: the request that should have sent it may be gone. */
const STUCK_MS = 50
/** Most joins in one call. */
const MAX_BATCH = 500
/** Most shards in memory; one that is forgotten only begins a new batch. */
const MAX_SHARDS = 4_000

interface Waiting {
  readonly request: JoinRequest
  readonly resolve: (response: JoinResponse | null) => void
}

/** What this isolate has for one shard. */
interface ShardBatches {
  /** The batch that still gathers, and until when. */
  gathering: Waiting[] | null
  untilMs: number
  /** Calls under way. */
  calls: number
}

const shards = new RecentMap<string, ShardBatches>(MAX_SHARDS)

/** The response of the shard of this name to a join; null without one in time. */
export async function joinShard(
  request: JoinRequest,
  name: string,
  { env, ctx }: QueueContext,
): Promise<JoinResponse | null> {
  const { promise, resolve } = Promise.withResolvers<JoinResponse | null>()
  // The platform ends a request that waits for nothing of its own, so it waits for this timer.
  const timer = setTimeout(() => resolve(null), RESPONSE_MS)
  const shard = shards.getOrAdd(name, () => ({ gathering: null, untilMs: 0, calls: 0 }))
  const { gathering } = shard
  if (gathering && gathering.length < MAX_BATCH && isAhead(shard.untilMs, Date.now(), STUCK_MS))
    gathering.push({ request, resolve })
  else {
    const { joinAll } = objectOf(name, env)
    ctx.waitUntil(sendBatch([{ request, resolve }], shard, joinAll))
  }
  const response = await promise
  clearTimeout(timer)
  return response
}

type JoinAll = (requests: readonly JoinRequest[]) => Promise<readonly JoinResponse[]>

async function sendBatch(batch: Waiting[], shard: ShardBatches, joinAll: JoinAll): Promise<void> {
  if (shard.calls > 0) {
    shard.gathering = batch
    shard.untilMs = Date.now() + STUCK_MS
    await scheduler.wait(GATHER_MS)
    if (shard.gathering === batch) shard.gathering = null
  }
  shard.calls++
  const requests = batch.map(({ request }) => request)
  const responses = await withRetries(() => joinAll(requests))
  shard.calls--
  for (const [i, { resolve }] of batch.entries()) resolve(responses?.[i] ?? null)
}
