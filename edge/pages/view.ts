/** What the pages are made from, and what each part of a page returns. */
import type { Policy } from '../../shared/api/access.ts'
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { Order, Post, PublicSale } from '../../shared/api/public.ts'
import type { Problem } from '../../shared/problem.ts'
import type { Place, Schedule } from '../../shared/schedule.ts'
import type { InvitationFault } from '../admission/proofs/invitation.ts'
import type { Fields } from '../call.ts'
import type { Quote } from '../checkout/quote.ts'
import type { StripePage } from '../config.ts'
import type { Brand } from './brand.ts'
import type { Html } from './html.ts'
import type { Language, Words } from './words/words.ts'

/** What every page of a sale is made from. */
export interface SaleView {
  readonly sale: string
  readonly state: Omit<PublicSale, 'server_time_ms'>
  readonly schedule: Schedule
  /** The visitor's ticket number; null for someone who has not joined. */
  readonly number: number | null
  /** The line of the schedule, where the sale has several; and what one of the others asks for or has. */
  readonly line?: Pick<Policy['lines'][number], 'line' | 'name'>
  readonly othersInvite?: boolean
  readonly othersOpenEarlier?: boolean
  /** Where to sign in for another line; null where the shop has not said. */
  readonly othersSignIn?: string | null
  /** The latest order in the visitor's cookies; absent on pages that are the same for all. */
  readonly order?: string | null
  /** The edge's clock, milliseconds since the epoch. */
  readonly nowMs: number
  /** How long a turn may be claimed. */
  readonly claimSeconds: number
  /** The path of the challenge, if joining requires a proof of work. */
  readonly challenge?: string
  /** Turnstile's site key, if joining requires its check. */
  readonly turnstile?: string | undefined
  /** Where to sign in before joining, if that is required; null where the shop has not said. */
  readonly signIn?: string | null
  /** The visitor is signed in at the shop, under this name (empty: it gave none). Absent where the page does not know it. */
  readonly signedInAs?: string
  /** Why a join did not succeed, for its form to say. */
  readonly refusal?: Problem
  /** True if joining requires an invitation. */
  readonly invites?: boolean
  /** What the visitor has brought along, by a link or a form, and what is wrong with it. */
  readonly invitation?: { readonly code: string; readonly fault: InvitationFault | null }
  /** True if the sale protects another site, which is open to all once the sale has ended. */
  readonly protects: boolean
  /** The path of the shop's own payment page, with `{order}` in it, or of ours; null: the page offers the sandbox's methods. */
  readonly paymentPage: string | null
  /** The host from which the page's script reads the schedule; undefined: the edge's. */
  readonly scheduleUrl?: string | undefined
  readonly lang: Language
  /** The visitor chose the language, whatever their browser asks for. */
  readonly choseLanguage?: boolean
  /** The texts in that language, with the shop's own over them. */
  readonly words: Words
  readonly brand: Brand
  /** What the sale's pages show of its goods; null where it has none, or while they cannot be read. */
  readonly goods: GoodsDocument | null
  /** What visitors reach the edge by: scheme and host. */
  readonly host: string
  /** Of a turn in a sale with a hall; null while its chart cannot be read. */
  readonly hall?: HallFacts | null
  /** The visitor has just asked for a mail about their turn. */
  readonly mailed?: boolean
  /** The address of the account that the visitor is signed in with. */
  readonly accountEmail?: string
  /** The newest posts of the shop, on pages that show them. */
  readonly posts?: readonly Post[]
  readonly shows: Shows
}

/** What a page says of a hall without its map. */
export interface HallFacts {
  readonly categories: readonly {
    readonly category: string
    readonly price_minor: number
    /** The highest price in it. */
    readonly price_to_minor: number
  }[]
  /** A seat by the names of its section and its own; undefined where the hall has no such seat. */
  readonly seat: (section: string, seat: string) => SeatFacts | undefined
}

export interface SeatFacts {
  readonly row: string
  readonly number: string
  readonly price_minor: number
}

/**
 * The path of the sale's page for this visitor: a visitor with a place has their own page. The one that is the same for all
 * knows no cookie, so its address says the language that was chosen.
 */
export const homeOf = ({ sale, number, lang, choseLanguage }: SaleView) =>
  number === null ? `/sales/${sale}${choseLanguage ? `?lang=${lang}` : ''}` : `/sales/${sale}/line`

/** Where the schedule of the page is. */
export const scheduleOf = ({ sale, schedule: { line } }: Pick<SaleView, 'sale' | 'schedule'>) =>
  `/sales/${sale}/schedule${line === undefined ? '' : `?line=${line}`}`

export type Shows =
  /** The same for all visitors who have not joined. */
  | { readonly kind: 'landing' }
  | { readonly kind: 'line'; readonly place: Place; readonly number: number }
  /** Until when the admission is good, on the edge's clock. */
  | { readonly kind: 'turn'; readonly untilMs: number; readonly entered?: Entered }
  /** `alreadyHas`: the existing order, returned since a new one would exceed the visitor's limit. */
  | { readonly kind: 'order'; readonly order: Order; readonly alreadyHas: boolean }
  | { readonly kind: 'orders'; readonly orders: readonly Order[] }
  | { readonly kind: 'receipt'; readonly order: Order }
  | { readonly kind: 'payment'; readonly order: Order; readonly stripe: StripePage }
  /** Where a retry may help: what was chosen, the form to send again, or the path of the page that could not be shown. */
  | {
      readonly kind: 'problem'
      readonly problem: Problem
      readonly chosen?: Fields
      readonly again?: Again | undefined
      readonly path?: string | undefined
    }
  | { readonly kind: 'mailed' }
  /** `page`: null for the newest posts; `older`: the page before, 0 for none. */
  | { readonly kind: 'posts'; readonly posts: readonly Post[]; readonly page: number | null; readonly older: number }
  | { readonly kind: 'final'; readonly phase: 'sold_out' | 'ended' }

/** What a page shows that has an address of its own, or that a form asks for: `quote`, what a choice would cost. */
export type RequestedPage =
  | Extract<Shows, { kind: 'order' | 'orders' | 'receipt' | 'payment' | 'problem' }>
  | { readonly kind: 'quote'; readonly chosen: Fields; readonly totals: Quote }

/** The form of a turn as it was sent: what was chosen, why it was refused, and what it would cost. */
export interface Entered {
  readonly chosen: Fields
  readonly problem?: Problem
  readonly totals?: Quote
}
/** A purchase that met a problem. */
export type Refused = Entered & { readonly problem: Problem }

/** A form to send again as it was. */
export interface Again {
  readonly action: string
  readonly fields: Fields
}

/** What every part of a page is made from. */
export interface PageContext {
  readonly view: SaleView
  readonly words: Words
  readonly lang: Language
}

/** The body of a page, between header and footer. */
export interface Content {
  readonly title: string
  /** What is in the main part. */
  readonly main: Html
  /** The classes of the main part: `page` alone unless said; `full` where its parts are as wide as the window. */
  readonly look?: string
  /** Where the page is on the way from a choice to an order; in the header, in place of the link to one's orders. */
  readonly steps?: Html
  /** Without a script the page reloads itself after so long; null for one that will not change. */
  readonly reloadSeconds: number | null
  /** True if it shows the sale's name already. */
  readonly named?: boolean
}
