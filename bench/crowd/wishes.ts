/** The wishes of a visitor for more than units of one product, and their reactions when they cannot have them. */
import type { Order } from '../../shared/api/public.ts'
import type { Refusal } from '../lib/responses.ts'

/** A visitor's reaction to a refusal: request something else, request the same again later, or leave. */
export type Reaction = 'ask' | 'wait' | 'leave'

export interface Wishes {
  /** The units of all lines of the current request. */
  readonly units: number
  /** The version grows with each request that differs from the one before, because each has its own key. */
  readonly version: number
  /** The time at which the current request was first sent; 0 before that. */
  askedMs: number
  /** The time at which the order was shown; 0 before that. */
  answeredMs: number
  /** The current request, which stays the same when it is repeated. */
  body(nowMs: number, random: () => number): object
  /** Handles a refusal. After `ask` the next request is a different one. */
  refused(refusal: Refusal, random: () => number): Reaction
  /** Handles the order that was made. */
  has(order: Partial<Pick<Order, 'lines' | 'total_minor'>>): void
}
