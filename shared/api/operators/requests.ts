/** What operators send: the bodies of their calls, except the configuration of a sale. */
import * as v from 'valibot'
import { Email, exactly, filled, instant, LINES, name, ProductId, Texts, whole } from '../fields.ts'
import { Image } from '../goods.ts'
import { MAX_UNITS, rate } from './sale-config.ts'

export const AdmissionChange = exactly({ rate_per_second: rate })

/** The maximum number of order lines, which exceeds the number of seats in any order. Each seat is a line. */
const MAX_ORDER_LINES = 1_000

/** The numbers of lines of an order. */
const LineNumbers = v.pipe(
  v.array(whole(1, MAX_ORDER_LINES), 'a list is required'),
  v.minLength(1, 'at least one line'),
  v.maxLength(MAX_ORDER_LINES, `at most ${MAX_ORDER_LINES} lines`),
  v.check((lines) => new Set(lines).size === lines.length, 'each line once'),
)

/**
 * A missing `amount_minor` means all that has not been refunded yet, or the price of the lines. `restock` makes the
 * units of these lines, or of the order, available again after the refund, even if a part of the money is retained.
 */
export const RefundRequest = exactly({
  lines: v.optional(LineNumbers),
  amount_minor: v.optional(whole(1, 1_000_000_000_000)),
  reason: v.optional(name, 'refunded by the shop'),
  restock: v.optional(v.boolean('true or false is required'), false),
})
export type RefundRequest = v.InferOutput<typeof RefundRequest>

/** Missing `lines` mean the whole order. */
export const CancelRequest = exactly({ lines: v.optional(LineNumbers), reason: v.optional(name) })

/** Makes units of a refunded order available again. Missing `lines` mean all refunded ones. */
export const ReturnRequest = exactly({ lines: v.optional(LineNumbers) })
export type ReturnRequest = v.InferOutput<typeof ReturnRequest>

export const Restock = exactly({ quantity: whole(1, MAX_UNITS) })

export const AnnouncementRequest = exactly({
  level: v.optional(v.picklist(['info', 'warning'], 'info or warning is required'), 'info'),
  text: Texts,
  /** Pages show it until then, or until the next one. */
  until: v.optional(instant),
})
export type AnnouncementRequest = v.InferOutput<typeof AnnouncementRequest>

const OnlyUrgent = 'only an urgent post is on top until a time'

/** An urgent post is an announcement or a warning, which replaces the one before; `until` ends that. */
export const PostRequest = v.pipe(
  exactly({
    text: Texts,
    urgent: v.optional(v.boolean('true or false is required'), false),
    image: v.optional(Image),
    until: v.optional(instant),
  }),
  v.forward(
    v.check(({ urgent, until }) => urgent || until === undefined, OnlyUrgent),
    ['until'],
  ),
)
export type PostRequest = v.InferOutput<typeof PostRequest>

/**
 * What is left out stays. `urgent` puts a post on top of all pages, or takes it from there; `until` sets when that
 * ends, and null that no time is set.
 */
export const PostChange = v.pipe(
  exactly({
    text: v.exactOptional(Texts),
    urgent: v.exactOptional(v.boolean('true or false is required')),
    image: v.exactOptional(v.nullable(Image)),
    until: v.exactOptional(v.nullable(instant)),
  }),
  v.forward(
    v.check(({ urgent, until }) => urgent !== false || !until, OnlyUrgent),
    ['until'],
  ),
)
export type PostChange = v.InferOutput<typeof PostChange>

export const PauseRequest = exactly({ reason: v.optional(Texts) })

/**
 * The time of an action: once, or repeatedly by cron in the sale's time zone; no run begins after `not_after`. The
 * other fields of the body are its effect.
 */
export const ScheduledTime = v.pipe(
  v.objectWithRest(
    {
      at: v.optional(instant),
      cron: v.optional(v.pipe(v.string('text is required'), v.trim(), v.maxLength(100, 'at most 100 characters'))),
      not_after: v.optional(instant),
    },
    v.unknown(),
  ),
  v.forward(
    v.check(({ at, cron }) => (at === undefined) !== (cron === undefined), 'either at or cron is required'),
    ['at'],
  ),
)

const MAX_RECIPIENTS = 10
const ReportRecipients = v.pipe(
  v.array(Email, 'a list of addresses is required'),
  v.minLength(1, 'at least one address'),
  v.maxLength(MAX_RECIPIENTS, `at most ${MAX_RECIPIENTS} addresses`),
)

/**
 * The effect of a scheduled action, which is the same as that of the call with its name. `report` and `export` keep
 * the report and the orders as they are then; with `to` the report is mailed too. A repeated one is also made when the
 * sale ends.
 */
export const ScheduledEffect = v.variant(
  'action',
  [
    exactly({ action: v.literal('restock'), product_id: ProductId, quantity: whole(1, MAX_UNITS) }),
    exactly({ action: v.literal('rate'), rate_per_second: rate }),
    exactly({ action: v.literal('price'), product_id: ProductId, unit_price_minor: whole(0, 1_000_000_000) }),
    exactly({ action: v.literal('pause'), reason: v.optional(Texts) }),
    exactly({ action: v.literal('resume') }),
    exactly({ action: v.literal('announce'), level: AnnouncementRequest.entries.level, text: Texts }),
    exactly({ action: v.literal('end') }),
    exactly({ action: v.literal('report'), to: v.optional(ReportRecipients) }),
    exactly({ action: v.literal('export') }),
  ],
  'restock, rate, price, pause, resume, announce, end, report or export is required',
)
export type ScheduledEffect = v.InferOutput<typeof ScheduledEffect>

/** Which of a queue's given-up jobs are tried again: all, or those of a kind, a reason and the time of their end. */
export const RetryRequest = exactly({
  kind: v.optional(name),
  reason: v.optional(v.pipe(v.string('text is required'), v.maxLength(300, 'at most 300 characters'))),
  from: v.optional(instant),
  to: v.optional(instant),
})
export type RetryRequest = v.InferOutput<typeof RetryRequest>

/** A note of support about an order. */
export const NoteRequest = exactly({
  text: filled(2_000, LINES),
})
