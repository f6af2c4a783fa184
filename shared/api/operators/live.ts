/** The types of a running sale as the origin streams it to the console, and of the minutes of a sale. */

import type { Rule } from './answers.ts'
import type { Backlog, Figures, Minute } from './report.ts'

/** The backlogs of the workers. */
export type Backlogs = Readonly<Record<'charges' | 'captures' | 'refunds' | 'webhooks' | 'mails', Backlog>>

/** The systems on which a live sale depends. */
export interface Health {
  readonly ledger: boolean
  readonly redis: boolean
  /**
   * The seconds since the edge's last request for the state; null if there was none, and while Postgres does not
   * respond.
   */
  readonly edge_seconds: number | null
  /** The number of workers that reported recently; null while Redis, which has the reports, does not respond. */
  readonly workers: number | null
  /** The state of the provider of payments as the workers see it; null while none of them knows. */
  readonly provider: 'answers' | 'fails' | 'unused' | null
  /** How quickly the provider answered the charges of the last minute; null without any. */
  readonly provider_ms: ProviderTimes | null
}

/** Half of the calls, and 95 of 100, were answered within so many milliseconds, about. */
export interface ProviderTimes {
  readonly calls: number
  readonly half: number
  readonly most: number
}

export type Level = 'good' | 'watch' | 'bad'

/** A page of the console, or a part of the sale's own page; for buyers, an address. */
export interface Place {
  readonly text: string
  readonly href: string
}

/** A problem that an operator should handle. */
export interface Need {
  readonly part: string
  readonly level: 'watch' | 'bad'
  readonly what: string
  /** The time in ISO 8601. */
  readonly since: string
  /** What buyers notice, and what the operator should do. */
  readonly advice: string
  readonly place: Place
}

/** A system on which the sale depends, or a backlog. */
export interface Part {
  readonly name: string
  readonly level: Level | 'unknown'
  readonly text: string
}

/** The health of the sale. Its level is that of the worst part. */
export interface HealthSummary {
  readonly level: Level
  /** A state and an instruction. */
  readonly text: string
  /** The problems, the worst first. */
  readonly needs: readonly Need[]
  readonly parts: readonly Part[]
}

/** An open finding. */
export interface OpenFinding {
  readonly kind: string
  readonly product_id: string
  readonly subject: string
  readonly units: number
  readonly detail: unknown
  readonly first_seen_at: Date
}

/**
 * The visitors from joining to paying, since the sale was created. Null means unknown. `called` = `arrived` +
 * `may_come` + `did_not_come`.
 */
export interface Funnel {
  readonly joined: number
  readonly waiting: number | null
  readonly called: number | null
  readonly arrived: number | null
  /** The called visitors whose turn has not passed. */
  readonly may_come: number | null
  readonly did_not_come: number | null
  readonly reserved: number
  readonly paid: number
  /** The price of all paid orders, before refunds. */
  readonly revenue_minor: number
}

/** The fields of `GET /admin/sales/{sale}/live` in addition to the sale's state. */
export interface LiveReading {
  readonly environment: { readonly name: string; readonly payments: string; readonly test: boolean }
  readonly summary: HealthSummary
  readonly forecast: { readonly sold_out_at: string | null }
  readonly health: Health
  /** The intents are those of this sale; null while Redis does not respond. */
  readonly backlogs: Backlogs & { readonly intents: Backlog | null }
  readonly findings: readonly OpenFinding[]
  readonly rules: readonly Rule[]
  readonly funnel: Funnel
  readonly minutes: readonly Minute[]
  /** The counts of the earlier minutes. */
  readonly before: Figures
  readonly read_at: string
}
