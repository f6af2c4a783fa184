/** What operators read of a sale: its configuration with its state, its scheduled actions, and who may join. */
import * as v from 'valibot'
import type { VersionedState } from '../../../origin/sales-api/admin-sales.ts'
import type { State } from '../../../origin/sales-api/inspect-sale.ts'
import { Access, Line as LineConfig, RuleConfig } from '../../../shared/api/access.ts'
import { Texts } from '../../../shared/api/fields.ts'
import {
  Brand,
  Delivery,
  Fees,
  Names,
  PromoCode,
  type PromoCodesCheck,
  productContent,
} from '../../../shared/api/goods.ts'
import { Mails } from '../../../shared/api/mails.ts'
import type {
  AsJson,
  BlockState,
  ScheduledRun,
  Rule as StoredRule,
  Suspension,
} from '../../../shared/api/operators/answers.ts'
import { ScheduledEffect } from '../../../shared/api/operators/requests.ts'
import { Contact, OversellPolicy } from '../../../shared/api/operators/sale-config.ts'
import { Post, SalePayment, Seller, Announcement as ShownAnnouncement, Tax } from '../../../shared/api/public.ts'
import type { SchemaOf } from '../answers.ts'

export const whole = v.pipe(v.number(), v.integer())
export const maybe = v.nullable(v.number())
export const text = v.string()
export const maybeText = v.nullable(v.string())
const isTrue = v.boolean()

const units = { total: whole, buffer: whole, held: whole, sold: whole, available: whole }
export const Product = v.object({
  product_id: text,
  name: text,
  unit_price_minor: whole,
  currency: text,
  ...units,
  section_type: v.nullable(v.picklist(['reserved', 'general_admission'])),
  limit: v.nullable(whole),
  weight_grams: v.nullable(whole),
  has_terms: isTrue,
  ...productContent,
  variants: v.exactOptional(
    v.array(
      v.object({
        variant_id: text,
        options: v.record(v.string(), v.string()),
        unit_price_minor: whole,
        ...units,
        sku: v.exactOptional(text),
      }),
    ),
  ),
})

const lineFigures = {
  arrivals: whole,
  numbers_given: maybe,
  called: maybe,
  may_come: maybe,
  waiting: maybe,
  wait_seconds: maybe,
}

/** The state of a sale without its version, as it is listed, and streamed while the sale runs. */
export const SaleState = v.object({
  sale: text,
  name: text,
  time_zone: text,
  phase: v.picklist(['upcoming', 'open', 'paused', 'all_in_carts', 'sold_out', 'ended']),
  pre_queue_opens_at: text,
  opens_at: text,
  ends_at: maybeText,
  ended_at: maybeText,
  paused: isTrue,
  hold_seconds: whole,
  limit_per_visitor: whole,
  limit_per_order: v.nullable(whole),
  products: v.array(Product),
  goods_version: v.nullable(whole),
  chart_version: v.nullable(whole),
  admission: v.object({ rate_per_second: v.number(), max_inside: v.nullable(whole) }),
  expected_visitors: v.nullable(whole),
  max_unpaid_orders: whole,
  announcement: v.nullable(ShownAnnouncement),
  pause_reason: v.nullable(Texts),
  seller: v.nullable(Seller),
  tax: v.nullable(Tax),
  fees: Fees,
  delivery: Delivery,
  indexed: isTrue,
  mails: Mails,
  payment: SalePayment,
  test: isTrue,
  brand: v.nullable(Brand),
  venue: maybeText,
  names: v.nullable(Names),
  event: v.nullable(v.object({ starts_at: text, ends_at: maybeText, time_zone: text })),
  access: Access,
  contact: Contact,
  lines: v.array(LineConfig),
  oversell_policy: OversellPolicy,
  invariant: v.object({ ...units, holds: isTrue, compared_at: maybeText }),
  rates: v.object({ admission_per_second: v.number(), called_per_second: maybe, boost: maybe, throttle: maybe }),
  queue: v.object({
    ...lineFigures,
    waiting_for_stock: whole,
    on_site: whole,
    counted: isTrue,
    lines: v.array(v.object({ line: text, ...lineFigures, called_per_second: maybe, boost: maybe, throttle: maybe })),
  }),
  health: v.picklist(['ok', 'slow']),
  server_time: text,
}) satisfies SchemaOf<Omit<AsJson<State>, 'products' | 'announcement'>>

export const Sale = v.object({ ...SaleState.entries, version: text }) satisfies SchemaOf<
  Omit<AsJson<VersionedState>, 'products' | 'announcement'>
>
/** A change that is noted while the ledger is away has no version yet. */
export const SteeredSale = v.object({ ...SaleState.entries, version: v.exactOptional(text) })
export const Sales = v.object({ sales: v.array(SaleState), findings: v.record(v.string(), whole) })

const found = v.picklist(['ok', 'fenced', 'drift'])
export const Reconciled = v.object({
  sale: text,
  findings: v.array(
    v.object({
      product_id: text,
      found,
      drift: whole,
      ledger: v.object({ total: whole, available: whole, held: whole, sold: whole }),
      healed: isTrue,
      recount: v.exactOptional(
        v.object({
          found: v.picklist(['ok', 'miscounted', 'oversold']),
          units: whole,
          healed: isTrue,
          outcome: v.exactOptional(text),
        }),
      ),
    }),
  ),
})

export const Preview = v.object({ url: text, query: text, states: v.array(text) })

// -- Posts ----------------------------------------------------------------------------------------------------------

const level = v.nullable(v.picklist(['info', 'warning']))
export const OperatorPost = v.object({
  ...Post.entries,
  operator: text,
  level,
  shown: isTrue,
  until: maybeText,
  removed_at: maybeText,
})
export const OperatorPosts = v.object({ posts: v.array(OperatorPost) })
export const Announcement = v.object({
  id: text,
  level,
  text: Texts,
  operator: text,
  since: text,
  until: maybeText,
})
export const Announcements = v.object({ announcements: v.array(Announcement) })

// -- Scheduled actions ----------------------------------------------------------------------------------------------

const Run = v.object({
  due_at: text,
  ran_at: text,
  late: isTrue,
  error: maybeText,
  has_document: isTrue,
}) satisfies SchemaOf<ScheduledRun>
const suspended = v.object({
  at: text,
  by: text,
  reason: v.picklist(['revoked', 'demoted']),
  due_at: text,
}) satisfies SchemaOf<Suspension>
const times = {
  action_id: text,
  cron: maybeText,
  operator: text,
  next_at: maybeText,
  not_after: maybeText,
  created_at: text,
  cancelled_at: maybeText,
  suspended: v.nullable(suspended),
}
type Effect = (typeof ScheduledEffect)['options'][number]
const actionWith = (more: v.ObjectEntries) =>
  v.variant(
    'action',
    ScheduledEffect.options.map(({ entries }: Effect) => v.object({ ...times, ...entries, ...more })) as unknown as [
      v.ObjectSchema<{ action: v.LiteralSchema<string, undefined> }, undefined>,
    ],
  )
export const ScheduledAction = actionWith({})
export const AddedAction = actionWith({ runs: v.array(Run) })
export const ScheduledActions = v.object({ scheduled: v.array(AddedAction) })

// -- Who may join ---------------------------------------------------------------------------------------------------

export const Rule = v.object({
  rule: text,
  met: whole,
  when: RuleConfig.entries.when,
  action: RuleConfig.entries.action,
  note: text,
}) satisfies SchemaOf<StoredRule>
export const Rules = v.object({ rules: v.array(Rule) })

export const Block = v.object({
  block: text,
  visitor: v.exactOptional(text),
  account: v.exactOptional(text),
  address: v.exactOptional(text),
  note: text,
  blocked_at: text,
}) satisfies SchemaOf<BlockState>
export const Blocks = v.object({ blocks: v.array(Block) })

const invitations = { invitations: whole, uses: whole, used: whole }
export const Invitations = v.object(invitations)
export const ImportedInvitations = v.object({ imported: whole, ...invitations })
export const VoidedLinks = v.object({ void_before: text })

const code = {
  code: text,
  percent: v.exactOptional(v.number()),
  amount_minor: v.exactOptional(whole),
  price_minor: v.exactOptional(whole),
  uses: v.nullable(whole),
  uses_per_visitor: v.nullable(whole),
  units_per_use: v.nullable(whole),
  from: maybeText,
  until: maybeText,
  products: v.nullable(v.array(text)),
  combined: isTrue,
}
export const PromoCodes = v.object({ sale: text, codes: v.array(v.object({ ...code, used: whole })) })
export const CheckedPromoCodes = v.object({
  understood: v.array(v.object({ line: whole, code: PromoCode })),
  refused: v.array(v.object({ line: v.nullable(whole), code: text, field: maybeText, why: text })),
  refused_count: whole,
}) satisfies SchemaOf<PromoCodesCheck>

export const Picture = v.object({ image: text, url: text, widths: v.array(whole), width: whole, height: whole })
