/**
 * The calls between the Worker and its two kinds of objects. Requests and responses are plain data.
 *
 * `queue` is the name of one queue of a sale (queueName in shared/api/access.ts): the sale's own, or that of another
 * line.
 */
import type { JoinCounts } from '../../shared/api/internal.ts'
import type { Env } from '../http/config.ts'
import type { Lease, UnusedRange } from './numbers/lease.ts'
import { mirrorName, mirrorsOf, shardName, upstreamName } from './numbers/tree.ts'
import type { SaleSnapshot } from './timeline.ts'

/** What the queue needs of the request that it works for: its objects, and leave to go on behind the response. */
export interface QueueContext {
  readonly env: Env
  readonly ctx: Pick<ExecutionContext, 'waitUntil'>
  readonly config: { readonly TICKET_SHARDS: number }
}

export interface SnapshotRequest {
  readonly queue: string
  /** Wait for a schedule of a higher version than this, at most `wait_ms`. */
  readonly newer_than?: number
  readonly wait_ms?: number
  /** The version of the policy that the caller has. */
  readonly has_policy?: string | undefined
  /** What the caller has counted since its last request. */
  readonly counts?: JoinCounts | undefined
}

export type SnapshotResponse =
  | { readonly known: true; readonly snapshot: SaleSnapshot }
  | { readonly known: false; readonly reason: 'unknown-sale' | 'unavailable' }

export interface LeaseRequest {
  readonly queue: string
  readonly count: number
  /** How long the numbers are wanted for. */
  readonly for_ms?: number
  /** What the caller did not use of its lease before. */
  readonly unused?: UnusedRange
}

/** A lease; `granted` is false while nobody can join. */
export type LeaseResponse = { readonly granted: true; readonly lease: Lease } | { readonly granted: false }

export interface JoinRequest {
  readonly queue: string
  readonly visitor: string
  /** A number of this visitor's whose turn has passed: they get a new one, once. */
  readonly instead_of?: number | undefined
  /** A number that this visitor got while unknown, and that was not recorded: it stays theirs. */
  readonly has?: number
  /** The visitor leaves the lobby: the number is theirs when they join again, and until then they have no place. */
  readonly leaves_lobby?: true
  /** The payment for the number (a proof of work), where one is required; a payment never buys a second number. */
  readonly paid_with?: string | undefined
}

/** Longest time for which a payment is good. */
export const PAYMENT_TTL_SECONDS = 600

export type JoinResponse =
  | { readonly joined: true; readonly number: number; readonly first: boolean }
  | { readonly joined: false; readonly reason: 'closed' | 'paid-already' | 'try-again' }

/** The number of a visitor who has a place; null without one. */
export interface FoundNumber {
  readonly number: number | null
}

/** A visitor gives up their place; without a number only what is recorded of the visitor. */
export interface LeaveRequest {
  readonly visitor: string
  readonly number?: number
}

/** What the waiting room and a hub do for those that lease from them. */
export interface UpstreamCalls {
  poll(request: SnapshotRequest): Promise<SnapshotResponse>
  lease(request: LeaseRequest): Promise<LeaseResponse>
  takeBack(unused: UnusedRange): Promise<void>
}

export interface RoomCalls extends UpstreamCalls {
  refresh(queue: string): Promise<SnapshotResponse>
}

export interface ShardCalls extends UpstreamCalls {
  take(request: LeaseRequest): Promise<LeaseResponse>
  /** The responses in the order of the requests. */
  joinAll(requests: readonly JoinRequest[]): Promise<readonly JoinResponse[]>
  /** The numbers of these visitors, in their order. */
  findAll(visitors: readonly string[]): Promise<readonly FoundNumber[]>
  leave(request: LeaveRequest): Promise<void>
  /** True for each number whose place was given up. */
  haveLeft(numbers: readonly number[]): Promise<readonly boolean[]>
  deletePlaces(): Promise<void>
  /** The visitor's number, whether they have left or not. */
  storedOf(visitor: string): Promise<FoundNumber>
  /** Deletes the visitor's row; the result says whether there was one. */
  forget(visitor: string): Promise<{ readonly forgotten: boolean }>
}

/**
 * The objects of a class, within the jurisdiction that is set. An object of the same name elsewhere is another one.
 * Cloudflare alone has jurisdictions; workerd throws.
 */
const within = (namespace: DurableObjectNamespace, { JURISDICTION }: Env) =>
  JURISDICTION ? namespace.jurisdiction(JURISDICTION as DurableObjectJurisdiction) : namespace

export function roomOf(queue: string, env: Env): RoomCalls {
  return releasing<RoomCalls>(within(env.WAITING_ROOM, env).getByName(queue))
}

/** A ticket shard, a hub or a mirror, by its name (numbers/tree.ts). */
export function objectOf(name: string, env: Env): ShardCalls {
  return releasing<ShardCalls>(within(env.TICKET_SHARD, env).getByName(name))
}

export function shardOf(queue: string, index: number, shards: number, env: Env): ShardCalls {
  return objectOf(shardName(queue, index, shards), env)
}

/** One of those that hand on the waiting room's snapshots. */
export function anyMirrorOf(queue: string, shards: number, env: Env): ShardCalls {
  return objectOf(mirrorName(queue, Math.floor(Math.random() * mirrorsOf(shards)), shards), env)
}

/** What an object of this queue leases from, and reads snapshots from. */
export function upstreamOf(name: string, queue: string, env: Env): UpstreamCalls {
  const upstream = upstreamName(name)
  return upstream === queue ? roomOf(queue, env) : objectOf(upstream, env)
}

/**
 * An object as its callers see it. The platform keeps resources open behind every response until it is disposed of, and
 * wraps every response type in a proxy; ours are plain data, and are disposed of as they come in.
 */
function releasing<Calls extends object>(object: object): Calls {
  return new Proxy(object as Calls, {
    get: (_, method) => async (request: unknown) => {
      const response: unknown = await Reflect.apply(Reflect.get(object, method), object, [request])
      ;(response as Partial<Disposable> | undefined)?.[Symbol.dispose]?.()
      return response
    },
  })
}

/** The limit of calls for one response. */
const MAX_TRIES = 3
/** Before the next try, a random part of this, doubled each time. */
const RETRY_MS = 25
/** Longest wait for a response, all tries together: a join may wait behind several seconds' worth of others. */
export const RESPONSE_MS = 10_000

/**
 * An object's response, for the Worker; null without one within `withinMs`. Retries unless the object is overloaded or
 * the time is up. (Objects call each other once: a Worker waits for them, and retries.) Every call may be repeated: a
 * known visitor finds their number, and a lost lease only leaves a gap.
 */
export async function withRetries<T>(call: () => Promise<T>, withinMs = RESPONSE_MS): Promise<T | null> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  // The promise is not awaited between two attempts, so its rejection needs a handler.
  late.catch(() => {})
  const timer = setTimeout(() => reject(new TimeoutError(`no response within ${withinMs} ms`)), withinMs)
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await Promise.race([call(), late])
      } catch (error) {
        const isOverloaded = (error as { overloaded?: boolean }).overloaded
        if (tries === MAX_TRIES || error instanceof TimeoutError || isOverloaded) {
          console.warn(JSON.stringify({ msg: 'object did not respond', why: String(error) }))
          return null
        }
        await scheduler.wait(Math.random() * RETRY_MS * 2 ** tries)
      }
    }
  } finally {
    clearTimeout(timer)
  }
}

class TimeoutError extends Error {}
