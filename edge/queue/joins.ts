/**
 * The joins of known visitors, on their way to the ticket shards. Those of this isolate that come within a millisecond
 * travel in one call: a call costs as much for one visitor as for fifty, and more than all else about a join.
 *
 * No I/O is shared between requests. The request that begins a batch makes the call, also when its own visitor goes away;
 * each of the others awaits a promise of its own. The caller resolves it with plain data, and the runtime resumes each
 * request in its own context (flag `handle_cross_request_promise_resolution`, the default since 2024-10-14).
 */
import { RecentMap } from '../../shared/lib/recent-map.ts'
import { type Call, isAhead } from '../call.ts'
import { type JoinRequest, type JoinResponse, RESPONSE_MS, type ShardCalls, shardOf, withRetries } from './rpc.ts'

/** How long a batch gathers while another call to its shard is under way; without one it leaves at once. */
const GATHER_MS = 1
/** After so long nobody joins a batch any more: the request that should have sent it may be gone. */
const STUCK_MS = 50
/** Most joins in one call. */
const MAX_BATCH = 500
/** Most shards in memory; one that is forgotten only begins a new batch. */
const MAX_SHARDS = 1_000

interface Waiting {
  readonly request: JoinRequest
  readonly resolve: (response: JoinResponse | null) => void
}

/** What this isolate has for one shard. */
interface Line {
  /** The batch that still gathers, and until when. */
  gathering: Waiting[] | null
  untilMs: number
  /** Calls under way. */
  calls: number
}

const lines = new RecentMap<string, Line>(MAX_SHARDS)

/** The shard's response to a join; null without one in time. */
export async function joinShard(request: JoinRequest, shard: number, call: Call): Promise<JoinResponse | null> {
  const { promise, resolve } = Promise.withResolvers<JoinResponse | null>()
  // The platform ends a request that waits for nothing of its own, so it waits for this timer.
  const timer = setTimeout(() => resolve(null), RESPONSE_MS)
  const line = lineTo(`${request.sale}/${shard}`)
  const { gathering } = line
  if (gathering && gathering.length < MAX_BATCH && isAhead(line.untilMs, Date.now(), STUCK_MS))
    gathering.push({ request, resolve })
  else call.ctx.waitUntil(sendBatch([{ request, resolve }], line, shardOf(request.sale, shard, call.env)))
  const response = await promise
  clearTimeout(timer)
  return response
}

async function sendBatch(batch: Waiting[], line: Line, shard: ShardCalls): Promise<void> {
  if (line.calls > 0) {
    line.gathering = batch
    line.untilMs = Date.now() + STUCK_MS
    await scheduler.wait(GATHER_MS)
    if (line.gathering === batch) line.gathering = null
  }
  line.calls++
  const requests = batch.map(({ request }) => request)
  const responses = await withRetries(() => joinAll(requests, shard))
  line.calls--
  for (const [i, { resolve }] of batch.entries()) resolve(responses?.[i] ?? null)
}

async function joinAll(requests: readonly JoinRequest[], shard: ShardCalls): Promise<readonly JoinResponse[]> {
  try {
    return await shard.joinAll(requests)
  } catch (error) {
    // A shard of the version before does not have the method.
    if (!(error instanceof TypeError)) throw error
    return Promise.all(requests.map((request) => shard.join(request)))
  }
}

function lineTo(name: string): Line {
  const found = lines.get(name)
  if (found) return found
  const line = { gathering: null, untilMs: 0, calls: 0 }
  lines.set(name, line)
  return line
}
