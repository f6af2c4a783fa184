/** The report of a sale, which `GET /admin/sales/{sale}/report` returns and the console shows. */

import type { Texts } from '../fields.ts'

/** The units sold outside the networks whose joins look like those of scripts: without pages, or without proofs. */
export interface HonestShare {
  /** The units that were sold to buyers whose network is known, and those of them outside. */
  readonly units: number
  readonly outside: number
  readonly scripted: readonly {
    readonly network: string
    readonly joined: number
    readonly unproved: number
    readonly views: number
    readonly units: number
  }[]
}

export interface SaleReport {
  readonly sale: string
  readonly name: string
  readonly test: boolean
  readonly phase: string
  readonly made_at: string
  readonly figures: {
    readonly joined: number | null
    readonly called: number | null
    /** The sum is `called` = `arrived` + `may_come` + `did_not_come`. */
    readonly arrived: number | null
    readonly may_come: number | null
    readonly did_not_come: number | null
    readonly reserved: number
    readonly paid: number
    readonly refunded: number
    readonly by_status: Readonly<Record<string, number>>
    readonly most_waiting: number | null
    readonly revenue: readonly {
      readonly currency: string
      readonly paid_minor: number
      readonly refunded_minor: number
      readonly left_minor: number
    }[]
    /** The sum is `sold` + `held` + `free` + `withheld` = `total`. */
    readonly units: Readonly<Record<'sold' | 'held' | 'free' | 'withheld' | 'total', number>>
    /** The units of each product and section, with the price of its sold units. */
    readonly products: readonly (Readonly<
      Record<'sold' | 'held' | 'free' | 'withheld' | 'total' | 'sold_minor', number>
    > & {
      readonly product_id: string
      readonly name: string
      readonly currency: string
    })[]
    readonly conversion: Readonly<
      Record<'joined_to_arrived' | 'arrived_to_reserved' | 'reserved_to_paid' | 'joined_to_paid', number | null>
    >
    readonly opened_at: string
    readonly ended_at: string | null
    readonly all_in_carts_at: string | null
    readonly sold_out_at: string | null
    readonly duration_seconds: number
  }
  readonly curves: { readonly minutes_per_point: number; readonly minutes: readonly Minute[] }
  /** The fairness of each line. */
  readonly fairness: readonly {
    readonly line: string
    readonly draw: {
      readonly commitment: string
      readonly seed: string | null
      readonly beacon: string | null
      readonly beacon_announced: boolean
      readonly drawn: number
      readonly holds: boolean | null
      readonly schedule_url: string | null
      readonly verify: string
    } | null
    readonly compared: number
    readonly one_in: number
    readonly rank_correlation: number | null
    readonly overtaking: {
      readonly overtaken: number
      readonly worst_seconds: number
      readonly worst_positions: number
    } | null
    readonly before_turn: number | null
    readonly note: string | null
  }[]
  readonly attacks: {
    readonly refused: readonly { readonly at: string; readonly reason: string; readonly count: number }[]
    readonly rules: readonly { readonly note: string; readonly action: string; readonly met: number }[]
    readonly blocks: { readonly in_force: number; readonly made_meanwhile: number }
  }
  /** Null if no network is known by its number, or nothing was sold. */
  readonly honest: HonestShare | null
  readonly incidents: readonly Incident[]
  readonly announcements: readonly {
    readonly level: string
    readonly text: Texts
    readonly since: Date
    readonly until: Date | null
    readonly operator: string
  }[]
  /** The funnel by source, with the share of each step that did not take the next one. */
  readonly sources: readonly (FunnelRow & { readonly losses: FunnelLosses })[]
  readonly holds: {
    /** Orders that were reserved and never paid, and their share of all that are over. */
    readonly abandoned: number
    readonly abandonment: number | null
    /** How long an order was held until it was paid or ended. */
    readonly mean_seconds: number | null
    /** The rows are for each length of a hold, which an operator may have changed during the sale. */
    readonly by_length: readonly {
      readonly hold_seconds: number
      readonly reserved: number
      readonly paid: number
      readonly abandoned: number
      readonly conversion: number | null
      readonly median_seconds_to_pay: number | null
    }[]
  }
  /** How far the forecasts of joins were from what came; errors are shares. */
  readonly forecast: {
    readonly compared: number
    readonly median_error: number | null
    readonly worst_error: number | null
  }
  /** The visitors that the operator expected; null if none were set. */
  readonly expected_visitors: number | null
  /** Figures as they were counted while the sale ran, and as the ledger has them now. */
  readonly recounted: readonly {
    readonly what: 'joined' | 'reserved' | 'paid' | 'sold'
    readonly live: number | null
    readonly now: number | null
  }[]
  readonly waits: {
    readonly compared: number
    readonly median_error_seconds: number | null
    readonly worst_error_seconds: number | null
    readonly minutes: readonly ShownWait[]
  }
}

/** What became of the visitors from one source, which `GET /admin/sales/{sale}/funnel?by=source` lists. */
export interface FunnelRow {
  /** The label of the source, `typed` without one, or `other`. */
  readonly key: string
  readonly views: number
  readonly joined: number
  readonly turns: number
  readonly reserved: number
  readonly paid: number
  readonly paid_minor: number
}

/** The share of each step of the funnel that did not take the next one; null where the step was not counted. */
type FunnelLosses = Readonly<
  Record<'viewed_to_joined' | 'joined_to_turn' | 'turn_to_reserved' | 'reserved_to_paid', number | null>
>

export function lossesOf({
  views,
  joined,
  turns,
  reserved,
  paid,
}: Omit<FunnelRow, 'key' | 'paid_minor'>): FunnelLosses {
  // Views are counted by rules of their own, so that a source may have more joins than views.
  const lost = (of: number, next: number) => (of === 0 ? null : Math.max(0, 1 - next / of))
  return {
    viewed_to_joined: lost(views, joined),
    joined_to_turn: lost(joined, turns),
    turn_to_reserved: lost(turns, reserved),
    reserved_to_paid: lost(reserved, paid),
  }
}

/**
 * The wait in a minute that was furthest off among those of the last visitors in the queue, or the latest one while
 * all of them still wait.
 */
export interface ShownWait {
  readonly minute: string
  readonly shown_seconds: number
  readonly real_seconds: number | null
}

/** An action of an operator or the reconciler on a sale (except on orders), or a finding. */
export interface Incident {
  readonly at: Date
  readonly kind: 'action' | 'finding'
  readonly what: string
  /** The name of the actor; null for a finding. */
  readonly by: string | null
  /** The time at which a finding was closed. */
  readonly until: Date | null
  readonly detail: Readonly<Record<string, unknown>>
}

export type Figures = Readonly<Record<string, number>>

/** The figures of one minute. Counts add up over all processes; a gauge keeps its last value. */
export interface Minute {
  /** The minute's beginning in ISO 8601. */
  readonly minute: string
  readonly counts: Figures
  readonly gauges: Figures
}

export interface Backlog {
  /** The number of waiting items, counted up to a hundred thousand. */
  readonly waiting: number
  /** The age of the oldest in seconds; null if none waits. */
  readonly oldest_seconds: number | null
}

/** The sales that `npm run rehearse` plays have an id with this beginning. */
export const REHEARSAL_PREFIX = 'rehearsal-'

/** A rehearsal on this installation, which `GET /admin/rehearsals` lists. */
export interface Rehearsal {
  readonly sale: string
  /** The opening in ISO 8601. */
  readonly at: string
  /** The visitors who joined. */
  readonly visitors: number
  /** The fastest arrivals at the checkout, as a mean of five seconds; 0 if they were not measured. */
  readonly arrived_per_second: number
  readonly sold: number
}
