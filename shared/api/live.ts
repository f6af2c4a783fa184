/** A running sale as the origin streams it to the console, and what the minutes of a sale are. Only types: the origin writes it. */
import type { Rule } from './operator.ts'

export type Figures = Readonly<Record<string, number>>

/** What happened in one minute: counts add up over all processes, of a gauge the last value stays. */
export interface Minute {
  /** ISO 8601; the minute's beginning. */
  readonly minute: string
  readonly counts: Figures
  readonly gauges: Figures
}

export interface Backlog {
  /** Counted up to a hundred thousand. */
  readonly waiting: number
  /** Since the oldest was added; null if none waits. */
  readonly oldest_seconds: number | null
}

/** What waits for the workers. */
export type Backlogs = Readonly<Record<'charges' | 'captures' | 'refunds' | 'webhooks' | 'mails', Backlog>>

/** What a live sale depends on. */
export interface Health {
  readonly ledger: boolean
  readonly redis: boolean
  /** Seconds since the edge asked for the state last; null if it never did, and while Postgres does not answer. */
  readonly edge_seconds: number | null
  /** Workers that reported lately; null while Redis, where they do, does not answer. */
  readonly workers: number | null
  /** Whether the provider of payments answers the workers; null while none of them can say. */
  readonly provider: 'answers' | 'fails' | 'unused' | null
}

export type Level = 'good' | 'watch' | 'bad'

/** A page of the console, or a part of the sale's own; of buyers, an address. */
export interface Place {
  readonly text: string
  readonly href: string
}

/** Something that an operator should see to. */
export interface Need {
  readonly part: string
  readonly level: 'watch' | 'bad'
  readonly what: string
  /** ISO 8601. */
  readonly since: string
  /** What buyers notice, and what to do. */
  readonly advice: string
  readonly place: Place
}

/** Something that the sale depends on, or that waits. */
export interface Part {
  readonly name: string
  readonly level: Level | 'unknown'
  readonly text: string
}

/** How the sale does. Its level is that of the worst part. */
export interface HealthSummary {
  readonly level: Level
  /** A state and a demand. */
  readonly text: string
  /** The worst first. */
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

/** From joining to paying, since the sale was created. Null: nobody knows. `called` = `arrived` + `may_come` + `did_not_come`. */
export interface Funnel {
  readonly joined: number
  readonly waiting: number | null
  readonly called: number | null
  readonly arrived: number | null
  /** Called, and their turn has not passed. */
  readonly may_come: number | null
  readonly did_not_come: number | null
  readonly reserved: number
  readonly paid: number
}

/** What `GET /admin/sales/{sale}/live` says beside the sale's state. */
export interface LiveReading {
  readonly environment: { readonly name: string; readonly payments: string; readonly test: boolean }
  readonly summary: HealthSummary
  readonly forecast: { readonly sold_out_at: string | null }
  readonly health: Health
  /** Intents are the sale's own; null while Redis does not answer. */
  readonly backlogs: Backlogs & { readonly intents: Backlog | null }
  readonly findings: readonly OpenFinding[]
  readonly rules: readonly Rule[]
  readonly funnel: Funnel
  readonly minutes: readonly Minute[]
  /** Counts of the minutes before those. */
  readonly before: Figures
  readonly read_at: string
}
