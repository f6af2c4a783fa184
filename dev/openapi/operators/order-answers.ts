/** What operators read of orders and of halls. */
import * as v from 'valibot'
import { Address } from '../../../shared/api/goods.ts'
import { SEAT_STATES } from '../../../shared/api/hall.ts'
import type {
  AsJson,
  OrderCounts as Counts,
  FoundOrder as Found,
  OrderTimeline,
} from '../../../shared/api/operators/answers.ts'
import type {
  HallState,
  SeatOwner as Owner,
  SeatImport as SeatsImported,
  SectionState,
} from '../../../shared/api/operators/hall-admin.ts'
import { Card, Order, OrderLine } from '../../../shared/api/public.ts'
import type { SchemaOf } from '../answers.ts'
import { maybe, maybeText, text, whole } from './sale-answers.ts'

const anything = v.record(v.string(), v.unknown())
const { contact: _, ...order } = Order.entries

export const FoundOrder = v.object({
  ...order,
  sale_name: text,
  product_name: text,
  visitor: text,
  ticket_number: whole,
  charge_id: maybeText,
  email: v.exactOptional(text),
  picture: maybeText,
  is_parcel: v.boolean(),
  card: v.nullable(Card),
  payment_method: maybeText,
  refunding_minor: maybe,
})
export const FoundOrders = v.object({ orders: v.array(FoundOrder), next: maybeText })

const statuses = {
  reserved: whole,
  paying: whole,
  confirmed: whole,
  fulfilled: whole,
  expired: whole,
  cancelled: whole,
  refunded: whole,
}
export const OrderCounts = v.object({
  counts: v.nullable(v.object(statuses)),
  problems: maybe,
}) satisfies SchemaOf<Counts>

export const OrderHistory = v.object({
  ...FoundOrder.entries,
  lines: v.array(v.object({ ...OrderLine.entries, cost_minor: whole })),
  bill: v.array(
    v.object({
      kind: v.picklist(['discount', 'fee', 'shipping', 'tax']),
      name: text,
      amount_minor: whole,
      included: v.exactOptional(v.literal(true)),
    }),
  ),
  idempotency_key: text,
  attempts: whole,
  reason_in_full: maybeText,
  updated_at: text,
  contact: v.nullable(
    v.object({
      email: maybeText,
      delivery: v.nullable(Address),
      address: maybeText,
      language: text,
      delete_after: text,
    }),
  ),
  block: v.nullable(v.object({ block: text, note: text, blocked_at: text })),
  history: v.array(
    v.object({
      at: text,
      kind: v.picklist(['event', 'capture', 'refund', 'delivery', 'mail', 'action', 'note']),
      what: text,
      by: maybeText,
      detail: anything,
    }),
  ),
})

export const Note = v.object({ operator: text, text, at: text })
export const Forgotten = v.object({
  contacts: whole,
  notes: whole,
  orders: whole,
  orders_later: whole,
  sales_unreached: whole,
})
const rows = v.array(v.record(text, anything))
export const KeptOfPerson = v.object({
  visitor: text,
  ledger: v.record(text, rows),
  redis: rows,
  places: v.nullable(rows),
})

/** An order that was deleted since has its id and its status only. */
const OrderThen = v.union([Order, v.object({ order_id: text, status: v.nullable(text) })])
const Change = v.object({ cursor: text, type: text, timestamp: text, data: OrderThen })
export const Changes = v.object({ changes: v.array(Change), next: text })

// -- Halls ----------------------------------------------------------------------------------------------------------

export const Section = v.object({
  section_id: text,
  name: text,
  type: v.picklist(['reserved', 'general_admission']),
  total: whole,
  available: whole,
  held: whole,
  sold: whole,
  blocked: whole,
  price_minor: whole,
  currency: text,
}) satisfies SchemaOf<SectionState>

export const Hall = v.object({
  version: whole,
  sections: v.array(Section),
  seats: v.pipe(v.string(), v.base64()),
  blocks: v.array(
    v.object({
      section_id: text,
      seat_id: text,
      reason: text,
      operator: maybeText,
      since: text,
      until: maybeText,
    }),
  ),
}) satisfies SchemaOf<AsJson<HallState>>

export const ChartSettings = v.object({
  focal_point: v.object({ x: v.number(), y: v.number() }),
  refuse_single: v.boolean(),
})

export const SeatOwner = v.object({
  section_id: text,
  seat_id: text,
  state: v.picklist(SEAT_STATES),
  order: v.exactOptional(text),
  status: v.exactOptional(text),
  reason: v.exactOptional(text),
  operator: v.exactOptional(text),
  since: v.exactOptional(text),
  until: v.exactOptional(text),
  history: v.array(
    v.object({
      at: text,
      what: v.picklist(['reserved', 'paid', 'returned', 'blocked', 'released', 'priced', 'moved']),
      by: v.exactOptional(text),
      order: v.exactOptional(text),
      price_minor: v.exactOptional(whole),
      reason: v.exactOptional(text),
    }),
  ),
}) satisfies SchemaOf<AsJson<Owner>>

const imported = {
  added: whole,
  changed: whole,
  removed: whole,
  unchanged: whole,
  reprinted: v.array(text),
  reprinted_count: whole,
}
export const SeatImport = v.object({
  ...imported,
  errors: v.exactOptional(v.array(v.object({ field: text, detail: text }))),
  error_count: v.exactOptional(whole),
  seats: v.exactOptional(v.array(text)),
  seat_count: v.exactOptional(whole),
}) satisfies SchemaOf<SeatsImported>
export const BlockedSeats = v.object({ blocked: whole, unchanged: whole })
export const ReleasedSeats = v.object({ released: whole, unchanged: whole })
export const PricedSeats = v.object({ changed: whole, unchanged: whole })

FoundOrder satisfies SchemaOf<Omit<AsJson<Found>, 'reason'>>
OrderHistory satisfies SchemaOf<Omit<AsJson<OrderTimeline>, 'reason'>>
