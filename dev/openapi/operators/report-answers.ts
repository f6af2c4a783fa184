/** What operators read of how a sale goes: live, by the second, as a report; and of its views. */
import * as v from 'valibot'
import { Texts } from '../../../shared/api/fields.ts'
import type { AsJson } from '../../../shared/api/operators/answers.ts'
import type { LiveReading } from '../../../shared/api/operators/live.ts'
import type { FunnelRow, Rehearsal, SaleReport } from '../../../shared/api/operators/report.ts'
import type { SecondsAnswer } from '../../../shared/api/operators/seconds.ts'
import type { Recounted, SaleViews, TriedRules, SeenView as View } from '../../../shared/api/operators/views.ts'
import { VIEW_RULE_KINDS } from '../../../shared/api/operators/views.ts'
import type { SchemaOf } from '../answers.ts'
import { maybe, maybeText, Rule, SaleState, text, whole } from './sale-answers.ts'

const Figures = v.record(v.string(), v.number())
const anything = v.record(v.string(), v.unknown())
const Minute = v.object({ minute: text, counts: Figures, gauges: Figures })
export const backlog = { waiting: whole, oldest_seconds: maybe }
const Backlog = v.object(backlog)
const Place = v.object({ text, href: text })
export const needed = { level: v.picklist(['watch', 'bad']), advice: text, place: Place }

const OpenFinding = v.object({
  kind: text,
  product_id: text,
  subject: text,
  units: v.number(),
  detail: v.unknown(),
  first_seen_at: text,
})

export const LiveSale = v.object({
  state: SaleState,
  environment: v.object({ name: text, payments: text, test: v.boolean() }),
  summary: v.object({
    level: v.picklist(['good', 'watch', 'bad']),
    text,
    needs: v.array(v.object({ part: text, what: text, since: text, ...needed })),
    parts: v.array(v.object({ name: text, level: v.picklist(['good', 'watch', 'bad', 'unknown']), text })),
  }),
  forecast: v.object({ sold_out_at: maybeText }),
  health: v.object({
    ledger: v.boolean(),
    redis: v.boolean(),
    edge_seconds: maybe,
    workers: maybe,
    provider: v.nullable(v.picklist(['answers', 'fails', 'unused'])),
    provider_ms: v.nullable(v.object({ calls: whole, half: v.number(), most: v.number() })),
  }),
  backlogs: v.object({
    charges: Backlog,
    captures: Backlog,
    refunds: Backlog,
    webhooks: Backlog,
    mails: Backlog,
    intents: v.nullable(Backlog),
  }),
  findings: v.array(OpenFinding),
  rules: v.array(Rule),
  funnel: v.object({
    joined: whole,
    waiting: maybe,
    called: maybe,
    arrived: maybe,
    may_come: maybe,
    did_not_come: maybe,
    reserved: whole,
    paid: whole,
    revenue_minor: whole,
  }),
  minutes: v.array(Minute),
  before: Figures,
  read_at: text,
}) satisfies SchemaOf<AsJson<LiveReading>>

const units = { sold: whole, held: whole, free: whole, withheld: whole, total: whole }
const share = maybe
const funnel = { key: text, views: whole, joined: whole, turns: whole, reserved: whole, paid: whole, paid_minor: whole }
export const Funnel = v.object({ rows: v.array(v.object(funnel) satisfies SchemaOf<FunnelRow>) })

export const Report = v.object({
  sale: text,
  name: text,
  test: v.boolean(),
  phase: text,
  made_at: text,
  figures: v.object({
    joined: maybe,
    called: maybe,
    arrived: maybe,
    may_come: maybe,
    did_not_come: maybe,
    reserved: whole,
    paid: whole,
    refunded: whole,
    by_status: Figures,
    most_waiting: maybe,
    revenue: v.array(v.object({ currency: text, paid_minor: whole, refunded_minor: whole, left_minor: whole })),
    units: v.object(units),
    products: v.array(v.object({ product_id: text, name: text, currency: text, ...units, sold_minor: whole })),
    conversion: v.object({
      joined_to_arrived: share,
      arrived_to_reserved: share,
      reserved_to_paid: share,
      joined_to_paid: share,
    }),
    opened_at: text,
    ended_at: maybeText,
    all_in_carts_at: maybeText,
    sold_out_at: maybeText,
    duration_seconds: v.number(),
  }),
  curves: v.object({ minutes_per_point: v.number(), minutes: v.array(Minute) }),
  fairness: v.array(
    v.object({
      line: text,
      draw: v.nullable(
        v.object({
          commitment: text,
          seed: maybeText,
          beacon: maybeText,
          beacon_announced: v.boolean(),
          drawn: whole,
          holds: v.nullable(v.boolean()),
          schedule_url: maybeText,
          verify: text,
        }),
      ),
      compared: whole,
      one_in: v.number(),
      rank_correlation: maybe,
      overtaking: v.nullable(v.object({ overtaken: whole, worst_seconds: v.number(), worst_positions: v.number() })),
      before_turn: maybe,
      note: maybeText,
    }),
  ),
  attacks: v.object({
    refused: v.array(v.object({ at: text, reason: text, count: whole })),
    rules: v.array(v.object({ note: text, action: text, met: whole })),
    blocks: v.object({ in_force: whole, made_meanwhile: whole }),
  }),
  honest: v.nullable(
    v.object({
      units: whole,
      outside: whole,
      scripted: v.array(v.object({ network: text, joined: whole, unproved: whole, views: whole, units: whole })),
    }),
  ),
  incidents: v.array(
    v.object({
      at: text,
      kind: v.picklist(['action', 'finding']),
      what: text,
      by: maybeText,
      until: maybeText,
      detail: anything,
    }),
  ),
  announcements: v.array(v.object({ level: text, text: Texts, since: text, until: maybeText, operator: text })),
  sources: v.array(
    v.object({
      ...funnel,
      losses: v.object({
        viewed_to_joined: share,
        joined_to_turn: share,
        turn_to_reserved: share,
        reserved_to_paid: share,
      }),
    }),
  ),
  holds: v.object({
    abandoned: whole,
    abandonment: share,
    mean_seconds: maybe,
    by_length: v.array(
      v.object({
        hold_seconds: whole,
        reserved: whole,
        paid: whole,
        abandoned: whole,
        conversion: share,
        median_seconds_to_pay: maybe,
      }),
    ),
  }),
  forecast: v.object({ compared: whole, median_error: maybe, worst_error: maybe }),
  expected_visitors: maybe,
  recounted: v.array(v.object({ what: v.picklist(['joined', 'reserved', 'paid', 'sold']), live: maybe, now: maybe })),
  waits: v.object({
    compared: whole,
    median_error_seconds: maybe,
    worst_error_seconds: maybe,
    minutes: v.array(v.object({ minute: text, shown_seconds: v.number(), real_seconds: maybe })),
  }),
}) satisfies SchemaOf<AsJson<SaleReport>>

const figure = maybe
export const Seconds = v.object({
  opens_at: text,
  until: text,
  seconds: v.array(
    v.object({
      at: text,
      called: figure,
      arrived: figure,
      joined: figure,
      reserved: figure,
      paid: figure,
      declined: figure,
      paid_minor: figure,
      waiting: figure,
      held: figure,
      sold: figure,
      asked: figure,
    }),
  ),
  markers: v.array(
    v.object({
      at: text,
      action: text,
      by: text,
      product_id: maybeText,
      before: v.nullable(anything),
      after: v.nullable(anything),
    }),
  ),
}) satisfies SchemaOf<SecondsAnswer>

export const Rehearsals = v.object({
  rehearsals: v.array(
    v.object({
      sale: text,
      at: text,
      visitors: whole,
      arrived_per_second: v.number(),
      sold: whole,
    }) satisfies SchemaOf<Rehearsal>,
  ),
})

// -- Views ----------------------------------------------------------------------------------------------------------

const counted = { counted: whole, dropped: whole }
const byRule = v.array(v.object({ rule: text, dropped: whole }))
export const Views = v.object({
  ...counted,
  uniques: maybe,
  on_pages: maybe,
  mean_seconds: maybe,
  rows: v.array(v.object({ key: text, ...counted, uniques: maybe })),
  by_rule: byRule,
  as_of: text,
  behind_seconds: v.number(),
}) satisfies SchemaOf<SaleViews>

const SeenView = v.object({
  at: text,
  sale: maybeText,
  page: text,
  source: text,
  country: maybeText,
  network: text,
  device: text,
  language: maybeText,
}) satisfies SchemaOf<View>

/** A rule also has the fields of its kind, which `PUT` describes. */
export const ViewRules = v.object({
  rules: v.array(
    v.objectWithRest(
      {
        rule: text,
        kind: v.picklist(VIEW_RULE_KINDS),
        on: v.boolean(),
        note: text,
        dropped: whole,
        examples: v.array(SeenView),
      },
      v.unknown(),
    ),
  ),
})
export const TriedViewRules = v.object({
  ...counted,
  by_rule: byRule,
  more_dropped: v.array(v.object({ key: text, views: whole })),
}) satisfies SchemaOf<TriedRules>
export const RecountedViews = v.object({ ...counted, before: v.object(counted) }) satisfies SchemaOf<Recounted>

export const SearchMisses = v.object({
  misses: v.array(v.object({ query: text, searches: whole, callers: whole, last_day: text })),
})
