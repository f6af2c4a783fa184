/** What operators read: the shapes of responses, for the origin that writes them and the console that shows them. */
import type { RuleConfig } from '../access.ts'
import type { Address, BillLine } from '../goods.ts'
import type { OrderStatus } from '../order-status.ts'
import type { Card, Order, OrderLine } from '../public.ts'
import type { Backlog } from './report.ts'

/** The type after conversion to JSON, in which dates are text in ISO 8601. */
export type AsJson<T> = T extends Date
  ? string
  : T extends readonly (infer One)[]
    ? readonly AsJson<One>[]
    : T extends object
      ? { readonly [Name in keyof T]: AsJson<T[Name]> }
      : T

/**
 * A run of a scheduled action, successful or not. `late` means that it started more than five seconds after its time.
 */
export interface ScheduledRun {
  readonly due_at: string
  readonly ran_at: string
  readonly late: boolean
  readonly error: string | null
  /** True if the run has kept a report or the orders, to be read by the time at which it was due. */
  readonly has_document: boolean
}

/** The reason why a scheduled action does not run: its operator lost the role for it. */
export interface Suspension {
  readonly at: string
  /** The operator who revoked or demoted the action's operator. */
  readonly by: string
  readonly reason: 'revoked' | 'demoted'
  /** The time at which the action would have run next. */
  readonly due_at: string
}

/** A row of `GET /admin/audit`, whose response is `{ entries, next }`. */
export interface AuditRow {
  readonly entry: string
  readonly at: Date
  readonly operator: string
  readonly action: string
  readonly sale: string | null
  readonly sale_name: string | null
  readonly product_id: string | null
  readonly product_name: string | null
  readonly order_id: string | null
  /** The currency of the order, and whether it is sent to an address; null for an entry about no order. */
  readonly currency: string | null
  readonly is_parcel: boolean | null
  readonly before: unknown
  readonly after: unknown
}

/** The response of `GET /admin/queues`. */
export interface QueueState {
  readonly queue: string
  /** The jobs that are due, those for later, those that a worker has, and those that wait for another attempt. */
  readonly waiting: number
  readonly later: number
  readonly active: number
  readonly retrying: number
  /** The waiting time of the oldest due job; null if none is due. */
  readonly oldest_seconds: number | null
  readonly dead: number
  /** All open jobs, the age of the oldest, and the highest number of attempts of any of them. */
  readonly open: Backlog & { readonly tries: number }
}

/** What became of a queue's attempts in a minute. */
export interface QueueMinute {
  readonly minute: string
  readonly done: number
  /** The attempts that failed, including those after which a job was given up. */
  readonly failed: number
  readonly dead: number
}

/** Jobs of a queue that fail for the same reason: a row of `GET /admin/queues/{queue}/failing`. */
export interface FailingJobs {
  /** The type of a message; the queue's name for other jobs. */
  readonly kind: string
  /** The error, in which ids and long numbers are a `*`. */
  readonly reason: string
  /** The jobs that were given up, and those that wait for another attempt. */
  readonly dead: number
  readonly retrying: number
  /** When the first and the last of the given-up jobs failed for the last time; null if none was given up. */
  readonly first_at: Date | null
  readonly last_at: Date | null
}

/** The response of `GET /admin/queues/{queue}/dead`. */
export interface DeadJob {
  readonly job: string
  readonly data: unknown
  readonly died_at: Date
  readonly error: unknown
}

/** An order as `GET /admin/orders` finds it. */
export interface FoundOrder extends Omit<Order, 'contact'> {
  readonly sale_name: string
  readonly product_name: string
  readonly visitor: string
  readonly ticket_number: number
  readonly charge_id: string | null
  readonly email?: string
  /** The address of a picture of the first line's goods. */
  readonly picture: string | null
  /** True if it is sent to an address; otherwise it is handed over. */
  readonly is_parcel: boolean
  /** The card that paid it, or else the method. */
  readonly card: Card | null
  readonly payment_method: string | null
  /** The sum of the refunds that the provider has not confirmed yet; null for whatever is left. */
  readonly refunding_minor: number | null
}

/** The response of `GET /admin/orders/counts`. */
export interface OrderCounts {
  /** The orders in each status; null if there are too many to count in time. */
  readonly counts: Readonly<Record<Exclude<OrderStatus, 'processing'>, number>> | null
  /** The orders with a problem: a payment, a refund or a mail was given up, or an open finding names the order. */
  readonly problems: number | null
}

/** One event of an order, or one action on it. */
export interface HistoryEntry {
  readonly at: Date
  readonly kind: 'event' | 'capture' | 'refund' | 'delivery' | 'mail' | 'action' | 'note'
  /** The event's type, the operator's action, `captured`, `delivered` and so on. */
  readonly what: string
  /** The operator, if an operator did it. */
  readonly by: string | null
  readonly detail: Readonly<Record<string, unknown>>
}

/** The response of `GET /admin/orders/{order}`. */
export interface OrderTimeline extends FoundOrder {
  /** `cost_minor` includes the line's share of discounts, fees and tax. */
  readonly lines: (OrderLine & { readonly cost_minor: number })[]
  /** The costs of the order in addition to its lines. */
  readonly bill: readonly BillLine[]
  readonly idempotency_key: string
  readonly attempts: number
  readonly reason_in_full: string | null
  readonly updated_at: Date
  readonly contact: {
    readonly email: string | null
    /** The delivery address. */
    readonly delivery: Address | null
    readonly address: string | null
    readonly language: string
    readonly delete_after: Date
  } | null
  /** The block of the order's visitor or account, if there is one. */
  readonly block: { readonly block: string; readonly note: string; readonly blocked_at: Date } | null
  readonly history: readonly HistoryEntry[]
}

/** A stored rule, as `GET /admin/sales/{sale}/rules` returns it. */
export type Rule = RuleConfig & {
  readonly rule: string
  /** The number of times that the rule decided. */
  readonly met: number
}

/** An entry of `GET /admin/blocks`. Exactly one of visitor, account and address is set. */
export interface BlockState {
  readonly block: string
  readonly visitor?: string
  readonly account?: string
  readonly address?: string
  readonly note: string
  readonly blocked_at: string
}

/** An entry of `GET /admin/webhooks`, whose response is `{ webhooks }`. */
export interface WebhookState {
  readonly endpoint: string
  readonly url: string
  readonly events: readonly string[]
  readonly state: 'active' | 'paused'
  readonly note: string
  /** The secret is masked, except in the response that creates it. */
  readonly secret: string
  readonly secrets_live: number
  readonly created_at: string
  /**
   * The number of waiting messages, the age of the oldest, and the number given up. The response to a change does not
   * have them.
   */
  readonly waiting?: number
  readonly oldest_seconds?: number | null
  readonly dead?: number
  /** The error of the latest attempt that failed, of a message that waits. */
  readonly failure?: string | null
  /** The same in words; since when the first of these messages fails, and when one is tried again. */
  readonly reason?: string | null
  readonly fails_since?: string | null
  readonly next_attempt_at?: string | null
  /** The time of the last message that it accepted; null if none within a day. */
  readonly accepted_at?: string | null
  /** The messages accepted within a day, and the median of the latest in milliseconds; null without one. */
  readonly sent_day?: number
  readonly median_ms?: number | null
}

/** The response of `GET /admin/webhooks/{endpoint}/history`: the last quarter of an hour, the oldest step first. */
export interface WebhookHistory {
  readonly step_seconds: number
  readonly steps: readonly {
    readonly at: string
    /** The attempts that ended in this step. */
    readonly sent: number
    readonly failed: number
    /** The messages made in this step that still wait. */
    readonly waiting: number
  }[]
}

/** An entry of `GET /admin/webhooks/{endpoint}/deliveries`, whose response is `{ deliveries, next }`. */
export interface Delivery {
  readonly delivery: string
  readonly message_id: string
  readonly type: string
  readonly state: 'pending' | 'delivered' | 'dead'
  readonly attempts: number
  readonly status: number | null
  readonly error: string | null
  /** The latest attempts, the oldest first. */
  readonly tries: readonly {
    readonly at: string
    readonly ms: number
    readonly status: number | null
    readonly error: string | null
  }[]
  readonly created_at: string
  readonly next_attempt_at: string | null
  readonly delivered_at: string | null
  readonly body: unknown
}
