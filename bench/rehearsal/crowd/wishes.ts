/** What a visitor of a rehearsal wants beside some units of its one product, and what they do when they cannot have it. */
import type { Order } from '../../../shared/api/public.ts'
import type { Refusal } from '../../lib/responses.ts'

/** What a visitor does about a refusal: asks for something else, asks the same again later, or goes. */
export type Reaction = 'ask' | 'wait' | 'leave'

export interface Wishes {
  /** Of all lines of the current request. */
  readonly units: number
  /** Grows with each request that differs from the one before: each has a key of its own. */
  readonly version: number
  /** When the current request was sent first; 0: not yet. */
  askedMs: number
  /** When the order was shown; 0: not yet. */
  answeredMs: number
  /** The current request, which stays the same however often it is sent. */
  body(nowMs: number, random: () => number): object
  /** Reads a refusal. After `ask` the next request is another one. */
  refused(refusal: Refusal, random: () => number): Reaction
  /** Reads the order that was made. */
  has(order: Partial<Pick<Order, 'lines' | 'total_minor'>>): void
}
