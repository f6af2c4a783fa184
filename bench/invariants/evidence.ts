/**
 * The evidence by which a rehearsal is judged: what every client received, and the records of ledger, gate, stream
 * and provider.
 */
import type { DemoHall } from '../../dev/demo/hall.ts'
import type { FunnelRow } from '../../shared/api/operators/report.ts'
import type { CheckoutLine, Order } from '../../shared/api/public.ts'
import type { Schedule } from '../../shared/schedule.ts'
import type { Country } from '../lib/demo-drop.ts'

export const ENDS = [
  'bought',
  'declined',
  'payment_timeout',
  'unauthenticated',
  'abandoned',
  'cancelled',
  'expired',
  'no_show',
  'sold_out',
  'ended',
  'missed_turn',
  /** The visitor still waits, because their earlier orders failed and other visitors come first. */
  'others_first',
  'gave_up',
  'failed',
] as const
export type End = (typeof ENDS)[number]

/** The end of an accepted payment for each method. */
export const PAID_ENDS = {
  pm_ok: 'bought',
  pm_flaky: 'bought',
  pm_webhook_twice: 'bought',
  pm_3ds: 'bought',
  pm_declined: 'declined',
  pm_insufficient_funds: 'declined',
  pm_3ds_fails: 'declined',
  pm_3ds_abandoned: 'unauthenticated',
  pm_timeout: 'payment_timeout',
} as const
export type Method = keyof typeof PAID_ENDS

/** A public schedule, and the `server_time_ms` of its first and last read. */
export interface Seen {
  readonly atMs: number
  lastMs: number
  readonly schedule: Schedule
}

/** The experience of one visitor. Times are milliseconds on the server's clock; null means that it did not happen. */
export interface VisitRecord {
  readonly number: number | null
  /** The label of where they came from. */
  readonly source: string
  readonly joinSentMs: number
  readonly joinAnsweredMs: number
  readonly admittedMs: number | null
  /** The `now_serving` of the response that admitted them; null if that was a page. */
  readonly admittedAtServing: number | null
  readonly order: string | null
  /** All statuses that the client saw, in order. */
  readonly statuses: readonly string[]
  readonly quantity: number
  /** The earliest time at which the checkout that made the order was sent. */
  readonly reserveSentMs: number | null
  /**
   * The payment method that they use or would use, after a decline another one. Null for visitors who never intend to
   * pay.
   */
  readonly method: Method | null
  /** Declined payments that were seen. */
  readonly declines: number
  /** The time of the first intention to pay with this method, and the time at which the accepted call was sent. */
  readonly payMeantMs: number | null
  readonly paidSentMs: number | null
  readonly soldOutSeenMs: number | null
  readonly end: End
  /** The visit's data about a hall. */
  readonly hall?: HallVisit | undefined
  /** The visit's data about a drop. */
  readonly goods?: GoodsVisit | undefined
}

/** The visitor's wishes in a hall, and what the responses said that they have. */
export interface HallVisit {
  readonly seeks: string
  /**
   * The lines of the request that made the order, the time of its first attempt, and the time at which its seats were
   * shown.
   */
  readonly asked: readonly CheckoutLine[]
  readonly askedMs: number
  readonly answeredMs: number
  /** The lines of the order; null without one. */
  readonly heard: Order['lines'] | null
}

/** The visitor's last request in a drop, and the total that the response showed. */
export interface GoodsVisit {
  readonly product: string
  readonly quantity: number
  readonly country: Country
  /** The visitor had the promo code; `hasCode` means that the last request used it. */
  readonly broughtCode: boolean
  readonly hasCode: boolean
  /** The total that was shown; null without an order. */
  readonly told: number | null
}

export interface LedgerOrder {
  readonly order_id: string
  readonly status: string
  /** The reason of the cancellation. */
  readonly reason: string | null
  readonly visitor: string
  readonly ticket_number: number
  readonly quantity: number
  /** The total by the prices at the opening of the sale. */
  readonly total_minor: number
  readonly refunded_minor: number
}

export interface Charge {
  readonly order: string
  readonly status: string
  readonly amount_minor: number
  readonly currency: string
  readonly refunded_minor: number
  /** True if the order's row names this charge. */
  readonly recorded: boolean
}

/** The sums of the counters of the sale's products in each store. */
export interface StoreRecords {
  readonly row: { readonly total: number; readonly held: number; readonly sold: number }
  /** The sums over the orders in the ledger. */
  readonly orders: { readonly held: number; readonly sold: number }
  /** Null while the gate is closed. */
  readonly gate: { readonly available: number; readonly held: number } | null
  readonly intents: number
  readonly holds: number
  /** Findings of the reconciler that crashes alone must never cause. */
  readonly findings: readonly string[]
}

/** The records could not be read, for a reason that people can understand. */
export interface Unread {
  readonly unread: string
}

export interface Records {
  readonly inventory: { total: number; available: number; held: number; sold: number }
  readonly orders: readonly LedgerOrder[]
  readonly charges: readonly Charge[] | Unread
  readonly stores: StoreRecords | Unread
  readonly feed: readonly Change[] | Unread
  /** The sale's funnel by source. */
  readonly funnel: readonly FunnelRow[]
  /** Null for a sale without goods. */
  readonly goods: GoodsRecords | Unread | null
  /** Null for a sale without a hall. */
  readonly hall: HallRecords | Unread | null
}

/** The records of a drop in the ledger: the lines and total of each order, and the uses of its code. */
export interface GoodsRecords {
  readonly orders: ReadonlyMap<
    string,
    { readonly product: string; readonly isLive: boolean; readonly hasCode: boolean; readonly total_minor: number }
  >
  readonly code: { readonly uses: number; readonly held: number; readonly sold: number }
}

/** The seats of a sale in the ledger and in the gate. */
export interface HallRecords {
  /** The hall at the opening of the sale. */
  readonly hall: DemoHall
  readonly orders: ReadonlyMap<string, HallOrder>
  /** The orders that have seats at the end, by the seat's index; null means blocked. */
  readonly claims: ReadonlyMap<number, string | null>
  /** The counters by product or section. */
  readonly counters: ReadonlyMap<string, Counters>
  /** The gate's state, with seats by index; null while the gate is closed. */
  readonly gate: {
    readonly stock: ReadonlyMap<string, Pick<Counters, 'held'> & { readonly available: number }>
    readonly seats: readonly number[]
  } | null
  /**
   * Each change of an order's status in the order of the ledger. True means that the order has its units from then
   * on.
   */
  readonly history: readonly (readonly [order: string, has: boolean])[]
}

interface Counters {
  readonly total: number
  readonly buffer: number
  readonly held: number
  readonly sold: number
}

export interface HallOrder {
  readonly isLive: boolean
  readonly isHeld: boolean
  readonly lines: readonly HallLine[]
  readonly createdMs: number
  /** The time at which its seats were free again; null while it has them. */
  readonly endedMs: number | null
}

/** A line of an order. Seats have an index; returned units are for sale again. */
export interface HallLine {
  readonly product: string
  readonly seat: number | null
  readonly quantity: number
  readonly unit_price_minor: number
  readonly returned: boolean
}

/** One change of an order in the feed. */
export interface Change {
  readonly type: string
  readonly order: string
  readonly status: string
}

/** The refunds and cancellations of one order by an operator. */
export interface GivenBack {
  /** The number of accepted calls. */
  readonly calls: number
  /** True if its units are for sale again. */
  readonly restocked: boolean
  readonly cancelled: boolean
  /** The amount; null means all of it. */
  readonly minor: number | null
}

export interface OperatorRecord {
  readonly orders: ReadonlyMap<string, GivenBack>
  /** The calls that were refused, or never got a response. */
  readonly failed: readonly string[]
}

/** The results of repeated and forged calls. */
export interface Attempts {
  /** The number of joins by visitors who had already joined, and of those that got a wrong number. */
  rejoins: number
  otherNumbers: number
  /** The number of checkouts without an admission, and of those that were not refused. */
  intrusions: number
  letIn: number
  /** The number of repeated checkouts that returned an order, and of those that returned a second one. */
  repeats: number
  secondOrders: number
}

/** The gains of one attack. */
export interface Gains {
  readonly attack: string
  readonly bots: number
  readonly calls: number
  /** The places in the queue, and the turns that came. */
  readonly places: number
  readonly admissions: number
  /** The names of visitors under which it joined. */
  readonly visitors: number
  /** The units that the ledger records as sold to it, and those that it withheld from others, on average. */
  readonly bought: number
  readonly held: number
  /** The responses of 400 and above, the most frequent first. */
  readonly refusals: readonly (readonly [what: string, times: number])[]
}

/** The record of the attackers. */
export interface AttackRecord {
  readonly gains: readonly Gains[]
  readonly orders: ReadonlySet<string>
  /** Visitors of the crowd who were refused by a limit. */
  readonly refusedByLimit: number
  /** The number of accounts of each attack; null if a place needs none. */
  readonly accounts: number | null
}

export interface FaultRecord {
  /** The number of kills of each part that was to be killed. */
  readonly kills: Readonly<Record<string, number>>
  /** How often each kind of network fault was played; empty if the network was not to fail. */
  readonly network: Readonly<Record<string, number>>
  /** How often each step of a deployment was played; empty without one. */
  readonly steps: Readonly<Record<string, number>>
  /**
   * The time in milliseconds from each failover of Redis until the gate took a reservation; null if it took none.
   * Null without failovers.
   */
  readonly failovers: readonly (number | null)[] | null
  /** The number of restarts of Redis without its data. */
  readonly wipes: number
  /** The number of checkouts and payments in progress when a fault began. */
  readonly inFlight: number
  /** The number of polls of the ledger during the sale, and of those that found more live units than the total. */
  readonly polls: number
  readonly oversold: number
  /** Parts that ended without being killed, or did not restart. */
  readonly broken: readonly string[]
}

/** The Worker runs for the shop front, its search and the posts of a sale, behind the cache of one data centre. */
export interface FrontRecord {
  readonly fetches: readonly { readonly path: string; readonly atMs: number }[]
  /** The times at which the cache was told to purge the sale. */
  readonly purgesMs: readonly number[]
  /** False if there were more than could be recorded. */
  readonly isWhole: boolean
  /** The crowd's requests for pages, searches of free text, and posts. */
  readonly requests: { readonly front: number; readonly search: number; readonly feed: number }
}

export interface Evidence extends Records {
  readonly stock: number
  readonly rate: number
  readonly limit: number
  readonly currency: string
  readonly holdMs: number
  /** The opening on the server's clock. */
  readonly opensAtMs: number
  /** True if the rehearsal started the system, so that all records are accessible. */
  readonly ownSystem: boolean
  /** True if the time was over before every visitor had finished. */
  readonly cutShort: boolean
  readonly visits: readonly VisitRecord[]
  /** Issued numbers that no visit has: those of visitors who joined again, and of bots with two names. */
  readonly otherNumbers: readonly number[]
  /** The public schedules in the order of reading; the first was read before anyone arrived. */
  readonly documents: readonly Seen[]
  /** The highest position that the public schedules had called at a moment of the server's clock. */
  readonly servedByMs: (atMs: number) => number
  /** The number of positions in responses, and of those that differ from the recalculated draw. */
  readonly positions: { readonly seen: number; readonly wrong: number }
  /** The times of first checkout calls in milliseconds, in order. */
  readonly shoppingMs: readonly number[]
  readonly attempts: Attempts
  /** The number of responses of 500 and above that are not a 503 with a time to retry. */
  readonly bareErrors: number
  readonly bots: boolean
  readonly operator: OperatorRecord
  /** Null if there were no attacks and no limits. */
  readonly attackers: AttackRecord | null
  /** The number of the sale's ticket shards. */
  readonly shards: number
  /** Null if no faults were played. */
  readonly faults: FaultRecord | null
  /** Null without a cache in front of the edge. */
  readonly front: FrontRecord | null
  /** Null if no pages said that they were seen. */
  readonly views: ViewRecord | null
}

/** A bot is told by its user agent, its network, how often it comes, or how briefly it stays. */
export const VIEWER_KINDS = ['people', 'agent', 'network', 'rate', 'dwell'] as const
export type ViewerKind = (typeof VIEWER_KINDS)[number]

/** The views of a sale as they were begun, by people and by bots of each kind, and as the rules counted them. */
export interface ViewRecord {
  readonly sent: Readonly<Record<ViewerKind, number>>
  readonly refused: number
  readonly counted: number
  /** The dropped views by rule. */
  readonly dropped: ReadonlyMap<string, number>
}

// -- Checks ---------------------------------------------------------------------------------------------------------

/** One invariant of a rehearsal: its description, whether it holds, and by how much. */
export interface Check {
  readonly what: string
  /** The value is null if there was nothing to judge by. */
  readonly holds: boolean | null
  readonly detail: string
}

/** A failed check makes a rehearsal bad; one that could not be judged does not. */
export const isGood = (checks: readonly Check[]) => checks.every((c) => c.holds !== false)

export const check = (what: string, holds: boolean | null, detail: string): Check => ({ what, holds, detail })

/** A check of something that never occurred proves nothing. */
export const ifAny = (occurred: number, holds: boolean) => (occurred === 0 ? null : holds)

export function count<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let found = 0
  for (const item of list) if (holds(item)) found++
  return found
}
