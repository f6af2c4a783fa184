/**
 * The pages: pure functions from a view to a complete HTML document. They work without a script, with forms and
 * automatic reloads; a script makes them live. A brand changes names and colours, a catalogue changes the words, and
 * neither changes anything here.
 */
import type { Problem } from '../../shared/problem.ts'
import { inLanguage } from './chosen-language.ts'
import type { Arranged } from './front/front-page.ts'
import { type FrontView, frontPage } from './front/front-page.ts'
import { type OwnOrdersView, ownOrdersPage } from './front/own-orders-page.ts'
import { type SearchView, searchPage } from './front/search-page.ts'
import { html } from './html.ts'
import { linePage } from './line/line-page.ts'
import { mailedPage, stopContent } from './mail-pages.ts'
import { orderPage } from './order/order-page.ts'
import { ordersPage, receiptPage } from './order/orders-page.ts'
import { paymentPage } from './order/payment-page.ts'
import { problemContent, problemTypeContent, retrySeconds } from './problem-page.ts'
import { finalPage } from './sale/final-page.ts'
import { landingPage } from './sale/landing-page.ts'
import { documentOf, shell } from './shell.ts'
import { signedOutContent } from './signed-out-page.ts'
import { turnPage } from './turn/turn-page.ts'
import { type Content, frontOf, homeOf, type PageContext, type SaleView } from './view.ts'

/** The page for a visitor to a sale. */
export function renderSale(view: SaleView): string {
  const { lang, words } = view
  const context: PageContext = { view, words, lang }
  const page = String(documentOf(context, contentOf(context)))
  return view.choseLanguage ? inLanguage(page, lang) : page
}

function contentOf(context: PageContext): Content {
  const { view, words } = context
  const { shows } = view
  switch (shows.kind) {
    case 'landing':
      return landingPage(context)
    case 'line':
      return linePage(context, shows.place, shows.number)
    case 'turn':
      return turnPage(context, shows.untilMs, shows.entered)
    case 'order':
      return orderPage(context, shows.order, shows.alreadyHas)
    case 'orders':
      return ordersPage(context, shows.orders)
    case 'receipt':
      return receiptPage(context, shows.order)
    case 'payment':
      return paymentPage(context, shows.order, shows.stripe)
    case 'mailed':
      return mailedPage(context)
    case 'added':
      return shows.content(context)
    case 'problem':
      return problemContent(shows.problem, words, homeOf(view), { ...shows, front: frontOf(view) })
    case 'final':
      return finalPage(context, shows.phase)
  }
}

/** The shop front. */
export const renderFront = (front: FrontView & Arranged): string => String(frontPage(front))

/** A visitor's orders of all sales. */
export const renderOwnOrders = (view: OwnOrdersView): string => String(ownOrdersPage(view))

export const renderSearch = (view: SearchView): string => String(searchPage(view))

interface ProblemView extends Pick<SaleView, 'lang' | 'words' | 'brand'> {
  readonly home: string | null
  /** The path of the shop front; null in front of another site. */
  readonly front: string | null
  readonly mayReload: boolean
  readonly choseLanguage: boolean
}

/** A page for a problem without a sale, or with a sale that cannot be read now. */
export function renderProblem(problem: Problem, view: ProblemView): string {
  const { lang, words, brand, home, front, mayReload, choseLanguage } = view
  const { title, main } = problemContent(problem, words, home, { front })
  // A visitor who came too often reads the same page again. One who met a failure goes back to the sale, also from a
  // form.
  const isLimited = problem.type === '/problems/too-many-requests' && mayReload
  const target = isLimited ? null : home
  const reloads = isLimited || (problem.status === 503 && (home !== null || mayReload))
  const head =
    reloads && html`<meta http-equiv="refresh" content="${retrySeconds(problem)}${target && `;url=${target}`}">`
  const body = html`<main id="main" class="page">${main}</main>`
  const page = String(shell({ lang, words, brand, hasMark: true, home: home ?? front, title, head }, body))
  return choseLanguage ? inLanguage(page, lang) : page
}

/** The page that explains a type of problems to whoever writes a client. It is in English, as problems are. */
export function renderProblemType(problem: Problem, view: Pick<SaleView, 'lang' | 'words' | 'brand'>): string {
  const { title, main } = problemTypeContent(problem)
  const body = html`<main id="main" class="page">${main}</main>`
  return String(shell({ ...view, hasMark: true, home: '/', title, head: false }, body))
}

/** The page of a visitor who has signed out. */
export function renderSignedOut(view: Pick<SaleView, 'lang' | 'words' | 'brand'>, signInUrl: string): string {
  const { title, main } = signedOutContent(view.words, signInUrl)
  const body = html`<main id="main" class="page">${main}</main>`
  return String(shell({ ...view, hasMark: true, home: null, title, head: false }, body))
}

/** The page at the link with which a mail's reader ends such mails. */
export function renderStop({
  isDone,
  ...view
}: Pick<SaleView, 'lang' | 'words' | 'brand'> & { readonly isDone: boolean }): string {
  const { words } = view
  const [title] = isDone ? words.mailStopped : words.stopMail
  const body = html`<main id="main" class="page">${stopContent(words, isDone)}</main>`
  return String(shell({ ...view, hasMark: true, home: null, title, head: false }, body))
}
