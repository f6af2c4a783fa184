/** Alerts as operators read and change them: whom findings reach, by severity. */
import * as v from 'valibot'
import { exactly } from '../fields.ts'
import type { Level as HealthLevel, Place } from './live.ts'

/** `page` wakes somebody, `warn` can wait until the morning, and `info` needs nobody. */
export type Severity = 'page' | 'warn' | 'info'

export interface Alert {
  /** Alerts with the same key are about the same fault, so that a receiver shows them as one. */
  readonly key: string
  readonly severity: Severity
  readonly title: string
  /** What buyers notice, and what to do. */
  readonly text: string
  readonly facts: readonly (readonly [name: string, value: string])[]
  /** The page of the console that shows it; null if the console's address is not known. */
  readonly link: string | null
  /** The time in ISO 8601. */
  readonly at: string
}

export const ALERT_CHANNELS = ['mail', 'slack', 'pagerduty'] as const
export type AlertChannel = (typeof ALERT_CHANNELS)[number]

/** A channel hears of all that needs somebody (`warn`), only of what is urgent (`page`), or of nothing. */
const Level = v.picklist(['warn', 'page', 'off'], 'warn, page or off is required')
export type AlertLevel = v.InferOutput<typeof Level>

/** The body of `PUT /admin/alerts`. What is left out stays. */
export const AlertLevels = exactly({
  mail: v.exactOptional(Level),
  slack: v.exactOptional(Level),
  pagerduty: v.exactOptional(Level),
})

/** An entry of `GET /admin/alerts`, whose response is `{ channels }`. */
export interface AlertChannelState {
  readonly channel: AlertChannel
  /** Where it leads, without secrets; null if it is not configured. */
  readonly target: string | null
  readonly level: AlertLevel
  /** The last error of an alert that waits or was given up. */
  readonly error: string | null
}

/** An entry of `POST /admin/alerts/test`, whose response is `{ sent }`. */
export interface AlertTest {
  readonly channel: AlertChannel
  /** Null if the channel has taken the test. */
  readonly error: string | null
}

/** A finding of any sale, open or closed lately: an entry of `all` of `GET /admin/findings`. */
export interface SeenFinding {
  readonly finding: string
  readonly sale: string | null
  readonly sale_name: string | null
  readonly kind: string
  readonly product_id: string | null
  readonly units: number
  readonly seen: number
  /** Why it is so, in words; null if its kind says all. */
  readonly reason: string | null
  readonly level: Exclude<HealthLevel, 'good'>
  readonly advice: string
  readonly place: Place
  readonly first_seen_at: string
  readonly closed_at: string | null
  readonly outcome: string | null
}
