/** What operators read of the house: operators, audit, findings, alerts, queues of jobs, webhooks. */
import * as v from 'valibot'
import { EVENT_TYPES } from '../../../origin/webhooks/webhook-requests.ts'
import {
  ALERT_CHANNELS,
  type AlertChannelState,
  type AlertTest,
  type SeenFinding,
} from '../../../shared/api/operators/alerts.ts'
import type {
  AsJson,
  AuditRow,
  DeadJob,
  Delivery as DeliveryState,
  FailingJobs,
  WebhookHistory as History,
  QueueState,
  WebhookState,
} from '../../../shared/api/operators/answers.ts'
import { ROLES } from '../../../shared/api/operators/roles.ts'
import type { SchemaOf } from '../answers.ts'
import { backlog, needed } from './report-answers.ts'
import { maybe, maybeText, text, whole } from './sale-answers.ts'

const role = v.picklist(ROLES)
export const Operators = v.object({
  operators: v.array(v.object({ name: text, role, created_at: text, revoked_at: maybeText })),
})
export const OperatorKey = v.object({ name: text, role, key: text })

export const Audit = v.object({
  entries: v.array(
    v.object({
      entry: text,
      at: text,
      operator: text,
      action: text,
      sale: maybeText,
      sale_name: maybeText,
      product_id: maybeText,
      product_name: maybeText,
      order_id: maybeText,
      currency: maybeText,
      is_parcel: v.nullable(v.boolean()),
      before: v.unknown(),
      after: v.unknown(),
    }) satisfies SchemaOf<AsJson<AuditRow>>,
  ),
  next: maybeText,
})

// -- Findings and alerts --------------------------------------------------------------------------------------------

const findings = {
  findings: v.array(
    v.object({
      product_id: text,
      kind: text,
      subject: text,
      units: v.number(),
      detail: v.unknown(),
      seen: whole,
      first_seen_at: text,
      last_seen_at: text,
      closed_at: maybeText,
      outcome: maybeText,
    }),
  ),
  changes: v.array(
    v.object({
      at: text,
      actor: text,
      action: text,
      product_id: maybeText,
      order_id: maybeText,
      before: v.unknown(),
      after: v.unknown(),
    }),
  ),
}
export const SaleFindings = v.object(findings)
export const Findings = v.object({
  ...findings,
  all: v.array(
    v.object({
      finding: text,
      sale: maybeText,
      sale_name: maybeText,
      kind: text,
      product_id: maybeText,
      units: v.number(),
      seen: whole,
      reason: maybeText,
      ...needed,
      first_seen_at: text,
      closed_at: maybeText,
      outcome: maybeText,
    }) satisfies SchemaOf<SeenFinding>,
  ),
})

const channel = v.picklist(ALERT_CHANNELS)
export const Alerts = v.object({
  channels: v.array(
    v.object({
      channel,
      target: maybeText,
      level: v.picklist(['warn', 'page', 'off']),
      error: maybeText,
    }) satisfies SchemaOf<AlertChannelState>,
  ),
})
export const TestedAlerts = v.object({
  sent: v.array(v.object({ channel, error: maybeText }) satisfies SchemaOf<AlertTest>),
})

// -- Queues of jobs -------------------------------------------------------------------------------------------------

const state = {
  queue: text,
  waiting: whole,
  later: whole,
  active: whole,
  retrying: whole,
  oldest_seconds: maybe,
  dead: whole,
  open: v.object({ ...backlog, tries: whole }),
}
v.object(state) satisfies SchemaOf<QueueState>
export const Queues = v.object({
  queues: v.array(
    v.object({
      ...state,
      throughput: v.object({ done_per_minute: v.number(), failed_per_minute: v.number() }),
      history: v.array(v.object({ minute: text, done: whole, failed: whole, dead: whole })),
      level: v.picklist(['good', 'watch', 'bad']),
    }),
  ),
})
export const Failing = v.object({
  failing: v.array(
    v.object({
      kind: text,
      reason: text,
      dead: whole,
      retrying: whole,
      first_at: maybeText,
      last_at: maybeText,
    }) satisfies SchemaOf<AsJson<FailingJobs>>,
  ),
})
export const DeadJobs = v.object({
  jobs: v.array(
    v.object({ job: text, data: v.unknown(), died_at: text, error: v.unknown() }) satisfies SchemaOf<AsJson<DeadJob>>,
  ),
})
export const Retried = v.object({ queue: text, retried: whole, more: v.boolean() })
export const RetriedJob = v.object({ queue: text, job: text })

// -- Webhooks -------------------------------------------------------------------------------------------------------

export const Webhook = v.object({
  endpoint: text,
  url: text,
  events: v.array(v.picklist(['*', ...EVENT_TYPES])),
  state: v.picklist(['active', 'paused']),
  note: text,
  secret: text,
  secrets_live: whole,
  created_at: text,
  waiting: v.exactOptional(whole),
  oldest_seconds: v.exactOptional(maybe),
  dead: v.exactOptional(whole),
  failure: v.exactOptional(maybeText),
  reason: v.exactOptional(maybeText),
  fails_since: v.exactOptional(maybeText),
  next_attempt_at: v.exactOptional(maybeText),
  accepted_at: v.exactOptional(maybeText),
  sent_day: v.exactOptional(whole),
  median_ms: v.exactOptional(maybe),
}) satisfies SchemaOf<WebhookState>
export const Webhooks = v.object({ webhooks: v.array(Webhook) })

export const Deliveries = v.object({
  deliveries: v.array(
    v.object({
      delivery: text,
      message_id: text,
      type: text,
      state: v.picklist(['pending', 'delivered', 'dead']),
      attempts: whole,
      status: maybe,
      error: maybeText,
      tries: v.array(v.object({ at: text, ms: v.number(), status: maybe, error: maybeText })),
      created_at: text,
      next_attempt_at: maybeText,
      delivered_at: maybeText,
      body: v.unknown(),
    }) satisfies SchemaOf<DeliveryState>,
  ),
  next: maybeText,
})
export const WebhookHistory = v.object({
  step_seconds: v.number(),
  steps: v.array(v.object({ at: text, sent: whole, failed: whole, waiting: whole })),
}) satisfies SchemaOf<History>
export const Replayed = v.object({ replayed: whole })
export const TriedNow = v.object({ tried: whole })
