/**
 * Calls to the ticket shards that travel together: the joins of known visitors, and what is asked about places whose
 * turn has come. Those of this isolate that come within a millisecond are one call: a call costs as much for one
 * visitor as for fifty, and more than all else about a join.
 *
 * No I/O is shared between requests. The request that begins a batch makes the call, also when its own visitor goes
 * away; each of the others awaits a promise of its own. The caller resolves it with plain data, and the runtime
 * resumes each request in its own context (flag `handle_cross_request_promise_resolution`, the default since
 * 2024-10-14).
 */
import { RecentMap } from '../../../shared/lib/recent-map.ts'
import { isAhead } from '../../http/waiting.ts'
import { objectOf, type QueueContext, type ShardCalls, withRetries } from '../rpc.ts'

/** How long a batch gathers while another call to its shard is under way; without one it leaves at once. */
const GATHER_MS = 1
/** After so long nobody joins a batch any more: the request that should have sent it may be gone. */
const STUCK_MS = 50
/** The limit of requests in one call. */
const MAX_BATCH = 500
/** The limit of shards in memory. A shard that is dropped simply begins a new batch. */
const MAX_SHARDS = 4_000

interface Waiting<Request, Response> {
  readonly request: Request
  readonly resolve: (response: Response | null) => void
}

/** What this isolate has for one shard. */
interface ShardBatches<Request, Response> {
  /** The batch that still gathers, and until when. */
  gathering: Waiting<Request, Response>[] | null
  untilMs: number
  /** Calls under way. */
  calls: number
}

type Send<Request, Response> = (shard: ShardCalls, requests: readonly Request[]) => Promise<readonly Response[]>

/** Calls of one kind. `send` gives the responses in the order of the requests. */
export class BatchedCalls<Request, Response> {
  readonly #send: Send<Request, Response>
  readonly #withinMs: number
  readonly #shards = new RecentMap<string, ShardBatches<Request, Response>>(MAX_SHARDS)

  constructor(withinMs: number, send: Send<Request, Response>) {
    this.#send = send
    this.#withinMs = withinMs
  }

  /** The response of the shard of this name; null without one in time. */
  async call(request: Request, name: string, { env, ctx }: QueueContext): Promise<Response | null> {
    const { promise, resolve } = Promise.withResolvers<Response | null>()
    // The platform ends a request that waits for nothing of its own, so it waits for this timer.
    const timer = setTimeout(() => resolve(null), this.#withinMs)
    const shard = this.#shards.getOrAdd(name, () => ({ gathering: null, untilMs: 0, calls: 0 }))
    const { gathering } = shard
    if (gathering && gathering.length < MAX_BATCH && isAhead(shard.untilMs, Date.now(), STUCK_MS))
      gathering.push({ request, resolve })
    else ctx.waitUntil(this.#sendBatch([{ request, resolve }], shard, objectOf(name, env)))
    const response = await promise
    clearTimeout(timer)
    return response
  }

  async #sendBatch(
    batch: Waiting<Request, Response>[],
    shard: ShardBatches<Request, Response>,
    object: ShardCalls,
  ): Promise<void> {
    if (shard.calls > 0) {
      shard.gathering = batch
      shard.untilMs = Date.now() + STUCK_MS
      await scheduler.wait(GATHER_MS)
      if (shard.gathering === batch) shard.gathering = null
    }
    shard.calls++
    const requests = batch.map(({ request }) => request)
    const responses = await withRetries(() => this.#send(object, requests), this.#withinMs)
    shard.calls--
    for (const [i, { resolve }] of batch.entries()) resolve(responses?.[i] ?? null)
  }
}
