/**
 * What the Worker and its two kinds of objects say to each other. Requests and answers are plain data that only ever
 * gain optional fields: while a new version rolls out, one side is older than the other for some seconds.
 */

import type { Env } from '../config.ts'
import type { Lease, Rest } from './lease.ts'
import type { Told } from './timeline.ts'

export interface LookRequest {
  readonly sale: string
  /** Wait for a schedule of a higher version than this, at most `wait_ms`. */
  readonly newer_than?: number
  readonly wait_ms?: number
}

export interface LeaseRequest {
  readonly sale: string
  readonly count: number
  /** What is left of the caller's lease before. */
  readonly rest?: Rest
}

export interface RestRequest {
  readonly sale: string
  readonly rest: Rest
}

/** A lease; `granted` is false while nobody can join. */
export type Leased = { readonly granted: true; readonly lease: Lease } | { readonly granted: false }

export interface JoinRequest {
  readonly sale: string
  readonly visitor: string
  /** A number of this visitor's whose turn has passed: they get a new one, once. */
  readonly instead_of?: number
  /** A number this visitor was given when nobody knew them, and which was not recorded: it stays theirs. */
  readonly has?: number
  /** What paid for the number (a proof of work), if anything had to; the same payment never buys another number. */
  readonly paid_with?: string
}

export type Joined =
  | { readonly joined: true; readonly number: number; readonly first: boolean }
  | { readonly joined: false; readonly reason: 'closed' | 'paid-already' | 'try-again' }

export interface RoomCalls {
  look(request: LookRequest): Promise<Told>
  lease(request: LeaseRequest): Promise<Leased>
  takeBack(request: RestRequest): Promise<void>
  refresh(request: { readonly sale: string }): Promise<Told>
}

export interface ShardCalls {
  look(request: LookRequest): Promise<Told>
  take(request: LeaseRequest): Promise<Leased>
  takeBack(request: RestRequest): Promise<void>
  join(request: JoinRequest): Promise<Joined>
  leave(request: { readonly visitor: string }): Promise<void>
}

/** The coordinator of a sale. */
export function roomOf(sale: string, env: Env): RoomCalls {
  return releasing<RoomCalls>(env.WAITING_ROOM.getByName(sale))
}

/** One of a sale's ticket shards. */
export function shardOf(sale: string, index: number, env: Env): ShardCalls {
  return releasing<ShardCalls>(env.TICKET_SHARD.getByName(`${sale}/${index}`))
}

/**
 * An object as its callers see it. The platform keeps something open behind every answer until it is told that nobody
 * needs it, and its own types wrap every answer in a proxy: ours are plain data, and are released as they come in.
 */
function releasing<Calls extends object>(object: object): Calls {
  return new Proxy(object as Calls, {
    get: (_, method) => async (request: unknown) => {
      const answer: unknown = await Reflect.apply(Reflect.get(object, method), object, [request])
      ;(answer as Partial<Disposable> | undefined)?.[Symbol.dispose]?.()
      return answer
    },
  })
}

/** Calls for one answer, before there is none. */
const MAX_TRIES = 3
/** Before the next try, a random part of this, doubled each time. */
const RETRY_MS = 25
/** An answer that takes longer is none: whoever joins may have to wait for some seconds' worth of others. */
const ANSWER_MS = 10_000

/**
 * An object's answer, for the Worker; asks again if it failed for another reason than having too much to do. (Objects ask
 * each other once: a Worker waits for them, and asks again.) Everything here may be asked twice: a known visitor finds
 * their number, and a lease that got lost is a gap. Null if there is no answer, and none within `withinMs`, all tries
 * together: an object that hangs is not waited for again.
 */
export async function answerOf<T>(ask: () => Promise<T>, withinMs = ANSWER_MS): Promise<T | null> {
  const { late, inTime } = deadline(withinMs)
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await Promise.race([ask(), late])
      } catch (error) {
        if (
          tries === MAX_TRIES ||
          error instanceof TimeoutError ||
          (error as { overloaded?: boolean }).overloaded
        ) {
          console.warn(JSON.stringify({ msg: 'an object did not answer', why: String(error) }))
          return null
        }
        await scheduler.wait(Math.random() * RETRY_MS * 2 ** tries)
      }
    }
  } finally {
    inTime()
  }
}

class TimeoutError extends Error {}

/** A promise that fails after so long, unless it was in time. */
function deadline(withinMs: number): { readonly late: Promise<never>; readonly inTime: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  // Nobody waits for it between two tries.
  promise.catch(() => {})
  const timer = setTimeout(() => reject(new TimeoutError(`none within ${withinMs} ms`)), withinMs)
  return { late: promise, inTime: () => clearTimeout(timer) }
}
