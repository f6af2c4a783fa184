/** The messages between edge and origin. */

import * as v from 'valibot'
import { Policy } from './access.ts'
import { Email, LANGUAGES, Texts } from './fields.ts'
import { Delivery, Fees, type GoodsDocument } from './goods.ts'
import { PushOffer, PushSubscription } from './mails.ts'
import {
  Announcement,
  AskedContact,
  OnReceipts,
  Posts,
  PublicProduct,
  PublicSale,
  SalePayment,
  Totals,
} from './public.ts'
import { SourceLabel } from './views/source.ts'

/**
 * The header in which a buyer's call carries the edge's token (EDGE_TOKEN). The buyer's own token is in
 * `Authorization`.
 */
export const EDGE_TOKEN_HEADER = 'edge-token'

interface EdgeTokens {
  readonly EDGE_TOKEN: string
  readonly EDGE_TOKEN_ALSO?: string | undefined
}
/** The secrets by which one half knows the other: two while the secret is changed. */
export const edgeTokens = ({ EDGE_TOKEN, EDGE_TOKEN_ALSO }: EdgeTokens) =>
  EDGE_TOKEN_ALSO === undefined ? [EDGE_TOKEN] : [EDGE_TOKEN, EDGE_TOKEN_ALSO]

/** The buyer's network address and the language of their pages, sent with a checkout and the edge's token. */
export const EDGE_ADDRESS_HEADER = 'edge-address'
export const EDGE_LANGUAGE_HEADER = 'edge-language'
/**
 * The networks of a buyer, sent with a checkout or a request for its price and with the edge's token. The smallest
 * network comes first, each with the units that it may hold unpaid at once, as `NETWORK=UNITS NETWORK=UNITS`. Omitted
 * if there is no limit.
 */
export const EDGE_NETWORKS_HEADER = 'edge-networks'
/** The number of the buyer's network (ASN), sent with a checkout; omitted if it is unknown. */
export const EDGE_ASN_HEADER = 'edge-asn'
/**
 * The time that the Worker spent on the call in milliseconds, without the time of receiving its body. It counts only
 * with the edge's token.
 */
export const EDGE_WAITED_HEADER = 'edge-waited-ms'
/** The visitor of a list of orders, as the edge knows them, percent-encoded. It counts only with the edge's token. */
export const EDGE_VISITOR_HEADER = 'edge-visitor'

/**
 * The origin's state of a sale for one of its queues (GET /internal/sales/{queue}, with the queue's name). It is all
 * that the edge knows of the sale. Times, rate, `max_inside` and arrivals belong to the queue. Times for calculations
 * are in milliseconds from now, so that the two clocks need not agree; times in ISO 8601 are for people.
 */
export const SaleState = v.object({
  sale: v.string(),
  line: v.string(),
  /** The share of the available units for which this line may call people, from 0 to 1. */
  share: v.number(),
  name: v.string(),
  phase: v.picklist(['upcoming', 'open', 'paused', 'all_in_carts', 'sold_out', 'ended']),
  /** The age of the ledger's data, because one of several origins may be cut off from the ledger. */
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
  mails: v.array(v.string()),
  push: v.nullable(PushOffer),
  payment: SalePayment,
  test: v.boolean(),
  fees: Fees,
  delivery: Delivery,
  goods_version: v.nullable(v.number()),
  products: v.array(v.object({ ...PublicProduct.entries, held: v.number(), sold: v.number() })),
  /** Null if the sale has no hall. */
  chart_version: v.nullable(v.number()),
  admission: v.object({ rate_per_second: v.number(), max_inside: v.nullable(v.number()) }),
  /**
   * The ticket numbers whose first checkout call has reached the origin since it began to count. The count may
   * restart at 0.
   */
  arrivals: v.number(),
  /**
   * A sample of the numbers that arrived since the last state request, the latest last, which shows how late people
   * arrive.
   */
  arrived_lately: v.array(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  /** The visitors who are on a protected site now. */
  on_site: v.number(),
  /** Visitors who wait for stock: they found all units in carts, and their pages still poll. */
  waiting_for_stock: v.number(),
  /** False while these counts are not up to date. A visitor who has not arrived is then not counted as a no-show. */
  counted: v.boolean(),
  /** The number of ticket shards, fixed when the sale was created; null takes the edge's setting. */
  ticket_shards: v.nullable(v.number()),
  /** The announcement, and the reason of a pause. */
  announcement: v.nullable(Announcement),
  pause_reason: v.nullable(Texts),
  feed_version: v.number(),
  /** The access policy; null if the caller has this version of it. */
  policy: v.nullable(Policy),
  /**
   * The duration of the origin's own work for checkouts, payments and orders within about the last second, at the
   * slowest origin (origin/queue/answer-samples.ts).
   */
  answers_ms: v.optional(v.number()),
  /**
   * `ok` means serving. `slow` means that the origin sheds load, so the edge must admit fewer. Only the edge itself
   * uses "unreachable".
   */
  health: v.picklist(['ok', 'slow']),
})
export type SaleState = v.InferOutput<typeof SaleState>

/** A page of a sale's feed. `latest` is the highest number of a post so far. */
/** `retracted` are the numbers of posts that were taken away, among the newest; left out if there are none. */
export const FeedPage = v.object({
  ...Posts.entries,
  latest: v.number(),
  retracted: v.optional(v.array(v.number())),
})
export type FeedPage = v.InferOutput<typeof FeedPage>

const requestFields = {
  about: v.picklist(['turn', 'restock']),
  language: v.picklist(LANGUAGES),
  line: v.string(),
  number: v.nullable(v.number()),
}
/** A visitor's request for a mail: about their turn, with their ticket number, or about a restock. */
export const MailRequest = v.object({ ...requestFields, email: Email, visitor: v.nullable(v.string()) })
export type MailRequest = v.InferOutput<typeof MailRequest>
/**
 * A visitor's request for push messages, which also include the sale's messages about the visitor's orders. Without a
 * number there are only these.
 */
export const PushRequest = v.object({ ...requestFields, push: PushSubscription, visitor: v.string() })
export type PushRequest = v.InferOutput<typeof PushRequest>

/** Unsaved changes of a sale, which may not exist yet, with which the edge previews a page. */
export const SaleDraft = v.object({
  sale: v.pick(PublicSale, [
    'name',
    'hold_seconds',
    'limit_per_visitor',
    'seller',
    'tax',
    'fees',
    'delivery',
    'payment',
    'test',
    'mails',
    'products',
  ]),
  goods: v.custom<GoodsDocument>((goods) => typeof goods === 'object' && goods !== null),
})
export type SaleDraft = v.InferOutput<typeof SaleDraft>

const figure = v.pipe(v.string(), v.transform(Number), v.number(), v.minValue(0))
/** The edge's figures of the line for operators, in the query of each state request. */
export const LineFigures = v.object({
  /** The ticket numbers that were given out, or leased for that. */
  numbers_given: figure,
  /**
   * The number of visitors who joined, in all lines of the sale, reported by the sale's own queue. It is below the
   * number of tickets, some of which nobody got.
   */
  joined: v.optional(figure),
  /**
   * `called` counts the positions called so far; `waiting` counts those that were given out and may still be called.
   */
  called: figure,
  waiting: figure,
  /**
   * The seconds until the last visitor in the queue is called at the current rate; omitted while the line is stopped.
   */
  wait_seconds: v.optional(figure),
  /** The called visitors who may still come: in units that they may take, and as the highest number of people. */
  coming_units: figure,
  coming_people: figure,
  /**
   * The people in the queue, and called people who may still come, as many as are likely to come. Many visitors from
   * one network count as few.
   */
  likely_people: figure,
  /** The called visitors who have not arrived and whose turn has not passed. */
  may_come: v.optional(figure),
  /** The positions called per second now: the configured rate times `boost` times `throttle`. */
  called_per_second: figure,
  /** The factor that compensates for visitors who do not arrive; 1 or more. */
  boost: figure,
  /** The factor that protects the origin; 1 or less. */
  throttle: figure,
  /** The edge's clock at the request, in milliseconds since the epoch. */
  clock_ms: figure,
  /** The failed purges of the cache in a row; 0 once, when it was purged at last; omitted otherwise. */
  purge_failures: v.optional(figure),
})
export type LineFigures = v.InferOutput<typeof LineFigures>

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const byName = (name: RegExp) => v.record(v.pipe(v.string(), v.regex(name)), count)
/** What happened to visitors who joined since the last state request, as JSON in the query parameter `counts`. */
export const JoinCounts = v.object({
  /** The number of new places. */
  joins: count,
  /** The new places whose network already had as many places as can buy at once. */
  crowded: count,
  /** The number of solved proofs of work. */
  proofs: count,
  /** The new places by the label of their source, as far as they have one. */
  sources: v.record(SourceLabel, count),
  /** The refusals by the name of the problem. */
  refusals: byName(/^[a-z-]{1,40}$/),
  /** The number of matches of each rule. */
  met: byName(/^\d{1,20}$/),
  /**
   * How long the protected site took to answer those who were let in, in milliseconds. A session is one sample a
   * second, by the digest of both (edge/protect/answer-times.ts).
   */
  answers: byName(/^[0-9a-f]{8}$/),
  /**
   * The new places by the number of their network (ASN), as far as it is known, and the joins from there that were
   * refused for want of a proof of work.
   */
  networks: v.record(v.pipe(v.string(), v.regex(/^\d{1,9}$/)), v.tuple([count, count])),
  /**
   * The sessions on a protected site that began, were extended or ended: the seconds for which each lasts unless its
   * visitor comes back, 0 once it has ended. By ticket number, with the line unless it is the public one.
   */
  sessions: byName(/^\d{1,12}(~[a-z0-9-]{1,40})?$/),
})
export type JoinCounts = v.InferOutput<typeof JoinCounts>

// -- Ticket shards: the objects at the edge that record a sale's visitors and give them numbers ---------------------

/** All expected visitors may join within a few seconds, and a shard records some hundreds a second. */
const VISITORS_PER_SHARD = 10_000
/**
 * The limit serves 20 million visitors. With more shards the waiting room would get reports from too many hubs
 * (edge/queue/numbers/tree.ts).
 */
export const MAX_SHARDS = 2_000

export const shardsFor = (visitors: number) => Math.min(MAX_SHARDS, Math.ceil(visitors / VISITORS_PER_SHARD))

/** What the ticket shards of a sale store of one visitor: their number in each of its lines. */
export const StoredPlaces = v.object({ places: v.array(v.object({ line: v.string(), number: v.number() })) })
export type StoredPlaces = v.InferOutput<typeof StoredPlaces>
export type StoredPlace = StoredPlaces['places'][number]

/** The price of a choice, as the origin calculates it before a reservation. */
export const Quote = v.object({
  ...Totals.entries,
  /** The valid promo codes, and the reasons why others are not valid. */
  promo_codes: v.optional(
    v.array(v.object({ code: v.string(), holds: v.boolean(), reason: v.optional(v.string()) })),
    [],
  ),
  /** True if the totals are without delivery, whose price depends on the country. */
  needs_country: v.optional(v.boolean(), false),
})
export type Quote = v.InferOutput<typeof Quote>
