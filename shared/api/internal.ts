/** What the two halves send each other. */
import * as v from 'valibot'
import { Policy } from './access.ts'
import { Email, LANGUAGES, Texts } from './fields.ts'
import { Delivery, Fees, type GoodsDocument, NO_DELIVERY } from './goods.ts'
import { PushOffer, PushSubscription } from './mails.ts'
import { Announcement, AskedContact, OnReceipts, Posts, PublicProduct, PublicSale } from './public.ts'

/** In this header a buyer's call carries the edge's token (EDGE_TOKEN); the buyer's own is in `Authorization`. */
export const EDGE_TOKEN_HEADER = 'edge-token'
/** With a checkout, beside that token: the buyer's network address, and the language of their pages. */
export const EDGE_ADDRESS_HEADER = 'edge-address'
export const EDGE_LANGUAGE_HEADER = 'edge-language'
/**
 * With a checkout and what it would cost, beside that token: the networks of its buyer, the smallest first, each with the units that it may
 * hold unpaid at once, as `NETWORK=UNITS NETWORK=UNITS`; left out where they are not bounded.
 */
export const EDGE_NETWORKS_HEADER = 'edge-networks'
/** Beside that token: how long the Worker has worked on the call, in milliseconds, without the time in which its body came. */
export const EDGE_WAITED_HEADER = 'edge-waited-ms'
/** Beside that token, for a visitor's list of orders: the visitor, as the edge knows them, percent-encoded. */
export const EDGE_VISITOR_HEADER = 'edge-visitor'

/**
 * The origin's state of a sale for one of its queues (GET /internal/sales/{queue}, the queue's name): all that the edge knows
 * of it. Times, rate, `max_inside` and arrivals are the queue's own. Moments to calculate with are in milliseconds from now,
 * so that the two clocks need not agree; those in ISO 8601 are for people.
 */
export const SaleState = v.object({
  sale: v.string(),
  line: v.string(),
  /** The share of the available units that this line may call people for, from 0 to 1. */
  share: v.number(),
  name: v.string(),
  phase: v.picklist(['upcoming', 'open', 'paused', 'all_in_carts', 'sold_out', 'ended']),
  /** Age of the ledger's answer: one of several origins may be cut off from the ledger. */
  read_ago_ms: v.number(),
  pre_queue_opens_at: v.nullable(v.string()),
  pre_queue_opens_in_ms: v.number(),
  opens_at: v.string(),
  opens_in_ms: v.number(),
  ends_at: v.nullable(v.string()),
  ends_in_ms: v.nullable(v.number()),
  hold_seconds: v.number(),
  limit_per_visitor: v.number(),
  contact: AskedContact,
  ...OnReceipts,
  indexed: v.boolean(),
  mails: v.optional(v.array(v.string()), []),
  push: v.optional(v.nullable(PushOffer), null),
  test: v.boolean(),
  fees: v.optional(Fees, []),
  delivery: v.optional(Delivery, { ...NO_DELIVERY }),
  goods_version: v.optional(v.nullable(v.number())),
  products: v.array(v.object({ ...PublicProduct.entries, held: v.number(), sold: v.number() })),
  /** Null without a hall. */
  chart_version: v.optional(v.nullable(v.number())),
  admission: v.object({ rate_per_second: v.number(), max_inside: v.nullable(v.number()) }),
  /** Ticket numbers whose first checkout call has reached the origin since it began to count; it may start again at 0. */
  arrivals: v.number(),
  /** Some of the numbers that arrived since the last state request, the latest last: they show how late people come. */
  arrived_lately: v.array(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  /** Visitors who wait for stock: they found all units in carts, and still ask. */
  waiting_for_stock: v.number(),
  /** False while these counts are not up to date: a visitor who did not arrive is then not a known no-show. */
  counted: v.boolean(),
  /** Fixed when the sale was created; null: as the edge is set. */
  ticket_shards: v.nullable(v.number()),
  /** The announcement, and why the sale is paused. */
  announcement: v.nullable(Announcement),
  pause_reason: v.nullable(Texts),
  feed_version: v.number(),
  /** Who may join. Null: the caller has this version of it. */
  policy: v.nullable(Policy),
  /** How long our work for checkouts, payments and orders took within the last second or so, at the slowest origin (origin/queue/answer-samples.ts). */
  answers_ms: v.optional(v.number()),
  /** ok: serving; slow: shedding load, admit fewer. "unreachable" exists at the edge only. */
  health: v.picklist(['ok', 'slow']),
})
export type SaleState = v.InferOutput<typeof SaleState>

/** Posts of a sale's feed; `latest` is the highest number given so far. */
export const FeedPage = v.object({ ...Posts.entries, latest: v.number() })
export type FeedPage = v.InferOutput<typeof FeedPage>

const asked = {
  about: v.picklist(['turn', 'restock']),
  language: v.picklist(LANGUAGES),
  line: v.string(),
  number: v.nullable(v.number()),
}
/** A mail that a visitor asks for: about their turn, with their ticket number, or about a restock. */
export const MailAsk = v.object({ ...asked, email: Email, visitor: v.nullable(v.string()) })
export type MailAsk = v.InferOutput<typeof MailAsk>
/** The same by push, which also brings what the sale mails about the visitor's orders; no number: about these alone. */
export const PushAsk = v.object({ ...asked, push: PushSubscription, visitor: v.string() })
export type PushAsk = v.InferOutput<typeof PushAsk>

/** What an operator has not saved yet of a sale, which may not exist yet, for the edge to preview a page with it. */
export const SaleDraft = v.object({
  sale: v.pick(PublicSale, [
    'name',
    'hold_seconds',
    'limit_per_visitor',
    'seller',
    'tax',
    'fees',
    'delivery',
    'test',
    'mails',
    'products',
  ]),
  goods: v.custom<GoodsDocument>((goods) => typeof goods === 'object' && goods !== null),
})
export type SaleDraft = v.InferOutput<typeof SaleDraft>

const figure = v.pipe(v.string(), v.transform(Number), v.number(), v.minValue(0))
/** The edge's figures of the line, for operators: the query of each state request. */
export const LineFigures = v.object({
  /** Ticket numbers given out, or leased to be given out. */
  numbers_given: figure,
  /** Who has joined, in all lines of the sale: told by its own queue. Fewer than numbers, some of which nobody got. */
  joined: v.optional(figure),
  /** Positions called so far, and positions given out but not called yet while they may be. */
  called: figure,
  waiting: figure,
  /** Seconds until the last in line is called at the present rate; left out while the line is stopped. */
  wait_seconds: v.optional(figure),
  /** Those called who may still come: in units that they may take, and at most in people. */
  coming_units: figure,
  coming_people: figure,
  /** People in line, and called who may still come: as many as are likely to come. A crowd of one network counts as few. */
  likely_people: figure,
  /** Those called who have not arrived, and whose turn has not passed. */
  may_come: v.optional(figure),
  /** Positions called a second now: the configured rate times `boost` times `throttle`. */
  called_per_second: figure,
  /** Makes up for visitors who do not turn up; 1 or more. */
  boost: figure,
  /** Spares the origin; 1 or less. */
  throttle: figure,
  /** The edge's clock as it asked, in milliseconds since the epoch. */
  clock_ms: figure,
})
export type LineFigures = v.InferOutput<typeof LineFigures>

const many = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const byName = (name: RegExp) => v.record(v.pipe(v.string(), v.regex(name)), many)
/** What happened to those who joined since the last state request; JSON in its query as `counts`. */
export const JoinCounts = v.object({
  /** New places. */
  joins: many,
  /** Those of them whose network had as many places before as can buy at once. */
  crowded: v.optional(many, 0),
  /** Proofs of work solved. */
  proofs: many,
  /** By the name of the problem. */
  refusals: byName(/^[a-z-]{1,40}$/),
  /** How often each rule was met. */
  met: byName(/^\d{1,20}$/),
})
export type JoinCounts = v.InferOutput<typeof JoinCounts>
