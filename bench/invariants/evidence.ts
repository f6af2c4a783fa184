/** What a rehearsal is judged by: what every client received, and what ledger, gate, stream and provider have on record. */
import type { DemoHall } from '../../dev/demo/hall.ts'
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
  /** Waits on: their orders came to nothing, and others come first. */
  'others_first',
  'gave_up',
  'failed',
] as const
export type End = (typeof ENDS)[number]

/** How an accepted payment by each method ends. */
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

/** What one visitor experienced. Times are milliseconds on the server's clock; null means it did not happen. */
export interface VisitRecord {
  readonly number: number | null
  readonly joinSentMs: number
  readonly joinAnsweredMs: number
  readonly admittedMs: number | null
  /** `now_serving` of the response that admitted them; null where that was a page. */
  readonly admittedAtServing: number | null
  readonly order: string | null
  /** Each status the client saw, in order. */
  readonly statuses: readonly string[]
  readonly quantity: number
  /** When the checkout that made the order was sent, at the earliest. */
  readonly reserveSentMs: number | null
  /** What they pay with, or would: after a decline, another. Null for those who never mean to pay. */
  readonly method: Method | null
  /** Declined payments that were seen. */
  readonly declines: number
  /** When they first meant to pay with this method, and when the accepted call was sent. */
  readonly payMeantMs: number | null
  readonly paidSentMs: number | null
  readonly soldOutSeenMs: number | null
  readonly end: End
  /** In a hall. */
  readonly hall?: HallVisit | undefined
  /** Of a drop. */
  readonly goods?: GoodsVisit | undefined
}

/** What a visitor wanted of a hall, and was told they have. */
export interface HallVisit {
  readonly seeks: string
  /** The lines of the request that made the order, when it was sent first, and when its seats were shown. */
  readonly asked: readonly CheckoutLine[]
  readonly askedMs: number
  readonly answeredMs: number
  /** Null without an order. */
  readonly heard: Order['lines'] | null
}

/** What a visitor asked for last of a drop, and was told that it costs. */
export interface GoodsVisit {
  readonly product: string
  readonly quantity: number
  readonly country: Country
  /** Had the promo code; `hasCode`: and asked with it last. */
  readonly broughtCode: boolean
  readonly hasCode: boolean
  /** Null without an order. */
  readonly told: number | null
}

export interface LedgerOrder {
  readonly order_id: string
  readonly status: string
  /** Why it was cancelled. */
  readonly reason: string | null
  readonly visitor: string
  readonly ticket_number: number
  readonly quantity: number
  /** By the prices of the sale as it was opened. */
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

/** The counters of the sale's products together in each store. */
export interface StoreRecords {
  readonly row: { readonly total: number; readonly held: number; readonly sold: number }
  /** Sums over the orders in the ledger. */
  readonly orders: { readonly held: number; readonly sold: number }
  /** Null while the gate is closed. */
  readonly gate: { readonly available: number; readonly held: number } | null
  readonly intents: number
  readonly holds: number
  /** Findings of the reconciler that crashes alone must never cause. */
  readonly findings: readonly string[]
}

/** These records could not be read; the reason is for a person. */
export interface Unread {
  readonly unread: string
}

export interface Records {
  readonly inventory: { total: number; available: number; held: number; sold: number }
  readonly orders: readonly LedgerOrder[]
  readonly charges: readonly Charge[] | Unread
  readonly stores: StoreRecords | Unread
  readonly feed: readonly Change[] | Unread
  /** Null for a sale without goods. */
  readonly goods: GoodsRecords | Unread | null
  /** Null for a sale without a hall. */
  readonly hall: HallRecords | Unread | null
}

/** A drop in the ledger: what each order has and costs, and how often its code is used. */
export interface GoodsRecords {
  readonly orders: ReadonlyMap<
    string,
    { readonly product: string; readonly isLive: boolean; readonly hasCode: boolean; readonly total_minor: number }
  >
  readonly code: { readonly uses: number; readonly held: number; readonly sold: number }
}

/** The seats of a sale in the ledger and in the gate. */
export interface HallRecords {
  /** As it was opened. */
  readonly hall: DemoHall
  readonly orders: ReadonlyMap<string, HallOrder>
  /** The orders that have seats at the end, by the seat's index; null: it is blocked. */
  readonly claims: ReadonlyMap<number, string | null>
  /** By product or section. */
  readonly counters: ReadonlyMap<string, Counters>
  /** Null while the gate is closed; seats by their index. */
  readonly gate: {
    readonly stock: ReadonlyMap<string, Pick<Counters, 'held'> & { readonly available: number }>
    readonly seats: readonly number[]
  } | null
  /** Each change of an order's status, in the order in which the ledger wrote them: true from then on it has its units. */
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
  /** When its seats were free again; null while it has them. */
  readonly endedMs: number | null
}

/** Seats have an index; what is returned is for sale again. */
export interface HallLine {
  readonly product: string
  readonly seat: number | null
  readonly quantity: number
  readonly unit_price_minor: number
  readonly returned: boolean
}

/** One change of an order, as the feed has it. */
export interface Change {
  readonly type: string
  readonly order: string
  readonly status: string
}

/** What an operator gave back of one order. */
export interface GivenBack {
  /** Calls that were accepted. */
  readonly calls: number
  /** Its units are for sale again. */
  readonly restocked: boolean
  readonly cancelled: boolean
  /** Null: all of it. */
  readonly minor: number | null
}

export interface OperatorRecord {
  readonly orders: ReadonlyMap<string, GivenBack>
  /** Calls that were refused, or never answered. */
  readonly failed: readonly string[]
}

/** What repeated and forged calls achieved. */
export interface Attempts {
  /** Joins of somebody who had joined, and how many got a number they should not have. */
  rejoins: number
  otherNumbers: number
  /** Checkouts without an admission, and how many were not refused. */
  intrusions: number
  letIn: number
  /** Repeated checkouts that returned an order, and how many returned a second one. */
  repeats: number
  secondOrders: number
}

/** What one attack got. */
export interface Gains {
  readonly attack: string
  readonly bots: number
  readonly calls: number
  /** Places in the queue, and turns that came. */
  readonly places: number
  readonly admissions: number
  /** Names of visitors under which it joined. */
  readonly visitors: number
  /** Units that the ledger has as sold to it, and those that it kept from others meanwhile, on average. */
  readonly bought: number
  readonly held: number
  /** Answers of 400 and above, most frequent first. */
  readonly refusals: readonly (readonly [what: string, times: number])[]
}

/** What attackers did beside the crowd. */
export interface AttackRecord {
  readonly gains: readonly Gains[]
  readonly orders: ReadonlySet<string>
  /** Visitors of the crowd who were refused by a limit. */
  readonly refusedByLimit: number
  /** How many accounts each attack has; null where a place needs none. */
  readonly accounts: number | null
}

export interface FaultRecord {
  /** Kills by part, for every part that was to be killed. */
  readonly kills: Readonly<Record<string, number>>
  /** Restarts of Redis without its data. */
  readonly wipes: number
  /** Checkouts and payments in flight at the kills. */
  readonly inFlight: number
  /** Polls of the ledger during the sale, and those that found more live units than the total. */
  readonly polls: number
  readonly oversold: number
  /** Parts that ended without being killed, or did not come back. */
  readonly broken: readonly string[]
}

/** What ran a Worker behind the cache of one data centre, of the shop front, its search and the posts of a sale. */
export interface FrontRecord {
  readonly fetches: readonly { readonly path: string; readonly atMs: number }[]
  /** When the cache was told to take back what it had of the sale. */
  readonly purgesMs: readonly number[]
  /** False where there were more than could be written down. */
  readonly isWhole: boolean
  /** By the crowd: of pages, searches of free text, and posts. */
  readonly requests: { readonly front: number; readonly search: number; readonly feed: number }
}

export interface Evidence extends Records {
  readonly stock: number
  readonly rate: number
  readonly limit: number
  readonly currency: string
  readonly holdMs: number
  /** On the server's clock. */
  readonly opensAtMs: number
  /** True if the rehearsal started the system, so that all records are within reach. */
  readonly ownSystem: boolean
  /** True if time ran out before every visitor had finished. */
  readonly cutShort: boolean
  readonly visits: readonly VisitRecord[]
  /** Numbers issued that no visit has: to visitors who joined again, and to bots with two names. */
  readonly otherNumbers: readonly number[]
  /** The public schedules in the order of reading; the first was read before anyone arrived. */
  readonly documents: readonly Seen[]
  /** The highest position that the public schedules had called at a moment of the server's clock. */
  readonly servedByMs: (atMs: number) => number
  /** Positions in responses, and how many differ from the recomputed draw. */
  readonly positions: { readonly seen: number; readonly wrong: number }
  /** Moments of first checkout calls, milliseconds, in order. */
  readonly shoppingMs: readonly number[]
  readonly attempts: Attempts
  /** Responses of 500 and above that are no honest 503. */
  readonly bareErrors: number
  readonly bots: boolean
  readonly operator: OperatorRecord
  /** Null where nothing was attacked, and nobody limited. */
  readonly attackers: AttackRecord | null
  /** Ticket shards of the sale. */
  readonly shards: number
  /** Null where nothing was killed. */
  readonly faults: FaultRecord | null
  /** Null without a cache before the edge. */
  readonly front: FrontRecord | null
}
