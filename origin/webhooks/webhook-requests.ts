/** The operators' requests about webhooks, and the events that an endpoint can receive. */
import * as v from 'valibot'
import { exactly, instant, note, pageLimit } from '../../shared/api/fields.ts'
import { isSecret } from '../lib/http/standard-webhooks.ts'

export const EVENT_TYPES = [
  'order.reserved',
  'order.paying',
  'order.confirmed',
  'order.declined',
  'order.expired',
  'order.cancelled',
  'order.refunded',
  'order.fulfilled',
  'sale.opened',
  'sale.paused',
  'sale.sold_out',
  'sale.restocked',
  'sale.ended',
  'finding.opened',
] as const

const Secret = v.pipe(
  v.string('text is required'),
  v.regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'whsec_ and 24 to 64 bytes in base64 are required'),
  v.check(isSecret, 'whsec_ and 24 to 64 bytes in base64 are required'),
)

const entries = {
  url: v.pipe(
    v.string('text is required'),
    v.maxLength(2_000, 'at most 2000 characters'),
    v.check((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'an http(s) URL is required'),
    v.check((text) => !URL.canParse(text) || new URL(text).username + new URL(text).password === '', 'no user name'),
  ),
  events: v.pipe(
    v.array(
      v.picklist(['*', ...EVENT_TYPES], `* or some of ${EVENT_TYPES.join(', ')} are required`),
      'a list is required',
    ),
    v.minLength(1, 'at least one'),
    v.maxLength(EVENT_TYPES.length + 1, 'each only once'),
  ),
  secret: Secret,
  state: v.picklist(['active', 'paused'], 'active or paused is required'),
}

export const WebhookConfig = exactly({
  ...entries,
  secret: v.optional(entries.secret),
  state: v.optional(entries.state, 'active'),
  note,
})
export type WebhookConfig = v.InferOutput<typeof WebhookConfig>

/**
 * `rotate` makes a new secret. The previous secret signs as well for a day, both here and if a new secret is sent.
 */
export const WebhookChange = v.pipe(
  exactly({
    url: v.exactOptional(entries.url),
    events: v.exactOptional(entries.events),
    secret: v.optional(entries.secret),
    state: v.exactOptional(entries.state),
    note: v.exactOptional(note.wrapped),
    rotate: v.optional(v.boolean('true or false is required')),
  }),
  v.forward(
    v.check(({ secret, rotate }) => secret === undefined || rotate !== true, 'send a secret, or have one made'),
    ['rotate'],
  ),
)
export type WebhookChange = v.InferOutput<typeof WebhookChange>

const DeliveryId = v.pipe(v.string('text is required'), v.regex(/^\d{1,15}$/, 'a delivery is required'))
/** An operator chooses at most this many deliveries one by one. */
const MAX_CHOSEN = 500

export const ReplayRequest = v.union(
  [
    exactly({ delivery: DeliveryId }),
    exactly({
      deliveries: v.pipe(
        v.array(DeliveryId, 'a list is required'),
        v.minLength(1, 'at least one'),
        v.maxLength(MAX_CHOSEN, `at most ${MAX_CHOSEN}`),
      ),
    }),
    exactly({ from: instant, to: instant }),
  ],
  'delivery, deliveries, or from and to, are required',
)
export type ReplayRequest = v.InferOutput<typeof ReplayRequest>

export const DeliveryQuery = v.object({
  state: v.optional(v.picklist(['pending', 'delivered', 'dead'], 'pending, delivered or dead is required')),
  /** Selects deliveries older than this one. */
  after: v.optional(v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'a delivery is required'))),
  limit: v.optional(pageLimit(1_000), '100'),
})
export type DeliveryQuery = v.InferOutput<typeof DeliveryQuery>
