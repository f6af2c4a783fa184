/** What the pages are made from, and what each part of one gives back. */
import type { Order, PublicSale } from '../../shared/api/public.ts'
import type { Problem } from '../../shared/problem.ts'
import type { Place, Schedule } from '../../shared/schedule.ts'
import type { Html } from './html.ts'
import type { Language, Words } from './words.ts'

/** Whose shop it is; see brand.ts for the colours. */
export interface Brand {
  readonly name: string
  /** The address of a picture to show instead of the name: a path of this host, or a `data:` URI. */
  readonly logo?: string | undefined
  /** The path of the brand's own style sheet, which sets custom properties and nothing else. */
  readonly sheet?: string | undefined
}

/** What every page of a sale is made from, whatever it shows. */
export interface SaleView {
  readonly sale: string
  readonly state: PublicSale
  readonly schedule: Schedule
  /** The visitor's ticket number; null for someone who has not joined. */
  readonly number: number | null
  /** The latest order that the visitor's browser has in its cookies; none on what is the same for all. */
  readonly order?: string | null
  /** The edge's clock, milliseconds since the epoch. */
  readonly nowMs: number
  /** How long a turn waits for whoever it is. */
  readonly claimSeconds: number
  /** Where the challenge is, if joining asks for a proof of work. */
  readonly challenge?: string
  /** Whether the sale stands before a site of somebody else's, which is open to all once the sale has ended. */
  readonly protects: boolean
  /** The path of the shop's own page for paying, with `{order}` in it; null: the sandbox's ways to pay are offered here. */
  readonly paymentPage: string | null
  readonly lang: Language
  readonly brand: Brand
  readonly shows: Shows
}

/** What a page shows: one of these, and never something of another. */
export type Shows =
  | { readonly kind: 'door' }
  | { readonly kind: 'line'; readonly place: Place; readonly number: number }
  /** Until when the admission is good, on the edge's clock. */
  | { readonly kind: 'turn'; readonly untilMs: number }
  /** The order may be one they have already: a new one would be more than one person can have. */
  | { readonly kind: 'order'; readonly order: Order; readonly alreadyHas: boolean }
  /**
   * With what met the problem, where it may help to do that once more: the form, to be sent just as it was, or the path of
   * the page that could not be shown.
   */
  | {
      readonly kind: 'problem'
      readonly problem: Problem
      readonly again?: Again | undefined
      readonly path?: string | undefined
    }
  | { readonly kind: 'final'; readonly phase: 'sold_out' | 'ended' }

export interface Again {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

/** What every part of a page is made from. */
export interface Shown {
  readonly view: SaleView
  readonly words: Words
  readonly lang: Language
}

/** What stands between header and end of a page. */
export interface Content {
  readonly title: string
  readonly main: Html
  readonly aside?: Html
  /** Without a script the page loads itself again after so long; null for one that will not change. */
  readonly reloadSeconds: number | null
  /** The sale's name stands in it already. */
  readonly named?: boolean
}
