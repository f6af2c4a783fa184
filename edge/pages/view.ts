/** The input of the pages, and the result of each part of a page. */
import type { Policy } from '../../shared/api/access.ts'
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { Quote } from '../../shared/api/internal.ts'
import type { Order, PublicSale, SeatKind } from '../../shared/api/public.ts'
import type { Fields } from '../../shared/parse.ts'
import type { Problem } from '../../shared/problem.ts'
import type { Place, Schedule } from '../../shared/schedule.ts'
import type { Brand } from './brand.ts'
import type { Html } from './html.ts'
import type { Language, Words } from './words/words.ts'

/** The input of every page of a sale. */
export interface SaleView {
  readonly sale: string
  readonly state: Omit<PublicSale, 'server_time_ms'>
  readonly schedule: Schedule
  /** The visitor's ticket number; null for a visitor who has not joined. */
  readonly number: number | null
  /** The line of the schedule, if the sale has several; the following fields describe the other lines. */
  readonly line?: Pick<Policy['lines'][number], 'line' | 'name'>
  readonly othersInvite?: boolean
  readonly othersOpenEarlier?: boolean
  /** The address to sign in for another line; null if the shop has not configured one. */
  readonly othersSignIn?: string | null
  /** The latest order in the visitor's cookies; absent on pages that are the same for all. */
  readonly order?: string | null
  /** The edge's clock in milliseconds since the epoch. */
  readonly nowMs: number
  /** The time for which a turn may be claimed. */
  readonly claimSeconds: number
  /** The path of the challenge, if joining requires a proof of work. */
  readonly challenge?: string
  /** Turnstile's site key, if joining requires its check. */
  readonly turnstile?: string | undefined
  /** The address to sign in before joining, if that is required; null if the shop has not configured one. */
  readonly signIn?: string | null
  /**
   * The name under which the visitor is signed in at the shop; empty if the session has none. Absent if the page does
   * not know it.
   */
  readonly signedInAs?: string
  /** The path at which who is signed in signs out; absent if the shop's own site does that. */
  readonly signOut?: string
  /** The reason why a join failed, which its form shows. */
  readonly refusal?: Problem
  /** True if joining requires an invitation. */
  readonly invites?: boolean
  /** The visitor's invitation from a link or a form, and what is wrong with it. */
  readonly invitation?: { readonly code: string; readonly fault: InvitationFault | null }
  /** True if the sale is before another site, which is open to all after the sale has ended. */
  readonly protects: boolean
  /**
   * The path of the shop's own payment page, with `{order}` in it, or of the edge's. Null means that the page offers
   * the sandbox's payment methods.
   */
  readonly paymentPage: string | null
  /** The host from which the page's script reads the schedule; undefined means the edge. */
  readonly scheduleUrl?: string | undefined
  /** The schemes and hosts of the sites to which admitted visitors go on. */
  readonly onwards?: readonly string[]
  readonly lang: Language
  /** True if the visitor chose the language instead of the browser. */
  readonly choseLanguage?: boolean
  /** The texts in that language, with the shop's own on top. */
  readonly words: Words
  readonly brand: Brand
  /** The sale's goods; null if it has none, or while they cannot be read. */
  readonly goods: GoodsDocument | null
  /** The scheme and host under which visitors reach the edge. */
  readonly host: string
  /** The hall of a turn; null while its chart cannot be read. */
  readonly hall?: HallFacts | null
  /** True if the visitor has just requested a mail about their turn. */
  readonly mailed?: boolean
  /** The mail address of the account with which the visitor is signed in. */
  readonly accountEmail?: string
  /** What features add to this page. */
  readonly sections?: readonly Section[]
  readonly shows: Shows
}

/** The facts of a hall that a page shows without its map. */
export interface HallFacts {
  readonly categories: readonly {
    readonly category: string
    readonly price_minor: number
    /** The highest price in the section. */
    readonly price_to_minor: number
  }[]
  readonly kinds: ReadonlySet<SeatKind>
  /** Returns a seat by the names of its section and its own; undefined if the hall has no such seat. */
  readonly seat: (section: string, seat: string) => SeatFacts | undefined
}

export interface SeatFacts {
  readonly row: string
  readonly number: string
  readonly price_minor: number
}

/**
 * The path of the sale's page for this visitor. A visitor with a place has their own page. The page that is the same
 * for all depends on no cookie, so its address contains the chosen language.
 */
export const homeOf = ({ sale, number, lang, choseLanguage }: SaleView) =>
  number === null ? `/sales/${sale}${choseLanguage ? `?lang=${lang}` : ''}` : `/sales/${sale}/line`

/**
 * The parameter in the address of a visitor's own place. Without the place, the page at this address explains that
 * its cookie is missing. It is also the name of the cookie by which a page's script sees that the browser stores
 * cookies.
 */
export const JOINED = 'joined'

/** The path of the shop front; null in front of another site, which has none. */
export const frontOf = ({ protects, choseLanguage, lang }: SaleView) =>
  protects ? null : choseLanguage ? `/?lang=${lang}` : '/'

/** The address of the page's schedule. */
export const scheduleOf = ({ sale, schedule: { line } }: Pick<SaleView, 'sale' | 'schedule'>) =>
  `/sales/${sale}/schedule${line === undefined ? '' : `?line=${line}`}`

export type Shows =
  /** The page is the same for all visitors who have not joined. */
  | { readonly kind: 'landing' }
  | { readonly kind: 'line'; readonly place: Place; readonly number: number }
  /** The time until which the admission is valid, on the edge's clock. */
  | { readonly kind: 'turn'; readonly untilMs: number; readonly entered?: Entered }
  /**
   * `alreadyHas` is true for an existing order that is returned because a new one would exceed the visitor's limit.
   */
  | { readonly kind: 'order'; readonly order: Order; readonly alreadyHas: boolean }
  | { readonly kind: 'orders'; readonly orders: readonly Order[] }
  | { readonly kind: 'receipt'; readonly order: Order }
  | { readonly kind: 'payment'; readonly order: Order; readonly stripe: StripePage }
  /**
   * The remedies, if a retry may help: the previous choice, the form to send again, or the path of the page that
   * could not be shown.
   */
  | {
      readonly kind: 'problem'
      readonly problem: Problem
      readonly chosen?: Fields
      readonly again?: Again | undefined
      readonly path?: string | undefined
    }
  | { readonly kind: 'mailed' }
  /** A page that a feature adds. Search engines may index it if it has a head of its own. */
  | {
      readonly kind: 'added'
      readonly path: string
      readonly content: (context: PageContext) => Content
      readonly head?: (context: PageContext) => Html
    }
  | { readonly kind: 'final'; readonly phase: 'sold_out' | 'ended' }

/** The contents of a page that has its own address or is the response to a form. `quote` is a choice with
 * its price, unless nothing is chosen. */
export type RequestedPage =
  | Extract<Shows, { kind: 'order' | 'orders' | 'receipt' | 'payment' | 'problem' }>
  | { readonly kind: 'quote'; readonly chosen: Fields; readonly totals?: Quote }

/** The form of a turn as it was sent: the choice, the reason of a refusal, and the price. */
export interface Entered {
  readonly chosen: Fields
  readonly problem?: Problem
  readonly totals?: Quote
}
/** A purchase that met a problem. */
export type Refused = Entered & { readonly problem: Problem }

/** A form that can be sent again unchanged. */
interface Again {
  readonly action: string
  readonly fields: Fields
}

/** The input of every part of a page. */
export interface PageContext {
  readonly view: SaleView
  readonly words: Words
  readonly lang: Language
}

/** A section that a feature adds to pages of a sale: the same function as long as it shows the same. */
export type Section = (context: PageContext) => Html

export const addedSections = (context: PageContext): readonly Html[] =>
  (context.view.sections ?? []).map((section) => section(context))

/** The body of a page, between header and footer. */
export interface Content {
  readonly title: string
  /** The content of the main part. */
  readonly main: Html
  /** The classes of the main part: `page` by default; `full` if its parts are as wide as the window. */
  readonly look?: string
  /** The steps from a choice to an order, which the header shows in place of the link to the visitor's orders. */
  readonly steps?: Html
  /** The page reloads itself after this time if it has no script; null for a page that will not change. */
  readonly reloadSeconds: number | null
  /** The id of the form that keeps what was entered when the language is changed, also without a script. */
  readonly form?: string
  /** True if the content already shows the sale's name. */
  readonly named?: boolean
}

/** What the payment page needs of Stripe: the shop's publishable key, and the address of its script. */
export interface StripePage {
  readonly key: string
  readonly script: string
}

/** The reason why the invitation of a join is not valid. */
export type InvitationFault = 'none' | 'unknown' | 'void' | 'used_up'
