/**
 * The pages: pure functions from a view to a whole HTML document. They work without a script (forms, and pages that reload
 * themselves); with it they are live. A brand changes names and colours, a catalogue changes the words, and neither
 * touches anything here.
 */
import { PHASES } from '../../shared/api/public.ts'
import { count, exactly, fill, moment, money } from '../../shared/format.ts'
import type { Problem } from '../../shared/problem.ts'
import { isFinal } from '../../shared/schedule.ts'
import { proofScript, proofStyle, script, style, turnstileScript } from './assets.ts'
import type { Brand } from './brand.ts'
import { buttonTo, type Html, heading, html, postForm, texts } from './html.ts'
import { orderPage } from './order-page.ts'
import { ordersPage, receiptPage } from './orders-page.ts'
import { announcementBox, earlierAnnouncements } from './parts/announcement.ts'
import { drawCard } from './parts/draw-card.ts'
import { wordsFor } from './parts/fault.ts'
import { isIndexed, sharingHead } from './parts/sharing.ts'
import { paymentHead, paymentPage } from './payment-page.ts'
import { BEFORE, during, finalPage, landingPage, linePage } from './queue-page.ts'
import { turnPage } from './turn-page.ts'
import { type Content, homeOf, type PageContext, type SaleView, type Shows } from './view.ts'
import { directionOf, type Words } from './words/words.ts'

/** The page for a visitor to a sale. */
export function renderSale(view: SaleView): string {
  const { lang, words } = view
  const context: PageContext = { view, words, lang }
  return String(documentOf(context, contentOf(context)))
}

function contentOf(context: PageContext): Content {
  const { view, words } = context
  const { shows } = view
  const aside = () => html`${about(context)}${drawCard(context)}`
  switch (shows.kind) {
    case 'landing':
      return { ...landingPage(context), aside: aside() }
    case 'line':
      return { ...linePage(context, shows.place, shows.number), aside: aside() }
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
    case 'problem':
      return problemContent(shows.problem, words, homeOf(view), shows)
    case 'final':
      return { ...finalPage(context, shows.phase), aside: aside() }
  }
}

// -- About the sale ------------------------------------------------------------------------------------------------------

const AFTER = PHASES.filter((phase) => !BEFORE.includes(phase))
const LIVE = PHASES.filter((phase) => !isFinal(phase))

/** What is sold, and when. */
function about({ view, words, lang }: PageContext): Html {
  const { state, schedule } = view
  const phaseNames = [during(schedule, BEFORE, words.opensAt, 'span'), during(schedule, AFTER, words.openedAt, 'span')]
  // The script keeps it up to date by the schedule; in the end there is a page of its own.
  const left = ({ product_id, available }: (typeof state.products)[number]) => {
    const n = schedule.products.find((one) => one.product_id === product_id)?.available ?? available
    const text = n === 0 ? words.noneLeft : fill(words.left, { n: count(lang, n) })
    return during(schedule, LIVE, html`<span data-product="${product_id}">${text}</span>`, 'small')
  }
  const products = state.products.map(
    (product) => html`<li><span><bdi>${product.name}</bdi></span>
        <b>${money(lang, product.unit_price_minor, product.currency)}</b>
        ${view.shows.kind !== 'final' && left(product)}</li>`,
  )
  // In UTC as the page is made; the script changes it to the visitor's own time.
  const term = (name: string | Html[], at: 'opens_at' | 'ends_at', date: Date) =>
    html`<div><dt>${name}</dt><dd><time datetime="${date.toISOString()}" data-moment data-at="${at}">${moment(lang, date.getTime(), 'UTC')}&nbsp;UTC</time></dd></div>`
  return html`<section class="side" aria-labelledby="about">
    <h2 id="about">${words.about}</h2>
    <ul class="products" id="products" data-left="${words.left}" data-none-left="${words.noneLeft}">${products}</ul>
    <dl>
      ${term(phaseNames, 'opens_at', new Date(schedule.opens_at))}
      ${schedule.ends_at !== null && term(words.endsAt, 'ends_at', new Date(schedule.ends_at))}
    </dl>
    <p class="quiet">${fill(words.perVisitor, { n: count(lang, state.limit_per_visitor) })}</p>
    ${!view.protects && html`<p class="quiet"><a href="/sales/${view.sale}/orders">${words.ownOrders}</a></p>`}
    ${earlierAnnouncements({ view, words, lang })}
  </section>`
}

// -- Problems ------------------------------------------------------------------------------------------------------------

interface ProblemView extends Pick<SaleView, 'lang' | 'words' | 'brand'> {
  readonly home: string | null
  readonly mayReload: boolean
}

/** A page for a problem without a sale, or whose sale cannot be read now. */
export function renderProblem(problem: Problem, view: ProblemView): string {
  const { lang, words, brand, home, mayReload } = view
  const { title, main } = problemContent(problem, words, home)
  const reloads = problem.status === 503 && (home !== null || mayReload)
  const head = reloads && html`<meta http-equiv="refresh" content="${retrySeconds(problem)}${home && `;url=${home}`}">`
  const body = html`<main id="main">${main}</main>`
  return String(shell({ lang, words, brand, hasMark: true, home, title, head }, body))
}

/** Spread, so that visitors refused together do not come back together. */
const retrySeconds = ({ retry_after_seconds = 3 }: Problem) => Math.ceil(retry_after_seconds * (1 + Math.random()) + 2)

/** What may help, as far as it is known. */
type Remedies = Pick<Extract<Shows, { kind: 'problem' }>, 'again' | 'path'>

function problemContent(problem: Problem, words: Words, home: string | null, { again, path }: Remedies = {}): Content {
  const type = problem.type.slice('/problems/'.length)
  const isForGood = type === 'too-many-orders' && problem.retry_after_seconds === undefined
  const [title, text] = wordsFor(problem, words)
  const fields = Object.entries(again?.fields ?? {}).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  // What the visitor can give, and is no fault of theirs.
  const isAsked = /^((sign-in|invitation|proof)-required|signed-out)$/.test(type)
  const signIn = typeof problem.sign_in_url === 'string' ? problem.sign_in_url : null
  const mayPass = !isForGood && [503, 429, 409].includes(problem.status)
  const main = html`<section class="card notice" ${path && html`id="away"`} data-tone="${isAsked ? 'calm' : mayPass ? 'hold' : 'bad'}">
    ${heading(title, text)}
    <div class="actions">
      ${signIn !== null && buttonTo(signIn, words.signIn)}
      ${again && postForm(again.action, html`${fields}<button class="button">${words.tryAgain}</button>`)}
      ${path && buttonTo(path, words.tryAgain)}
      ${home !== null && html`<a class="button ${(again || path || signIn) && 'second'}" href="${home}">${words.backToSale}</a>`}
    </div>
    <p class="quiet"><code>${problem.status} ${type}</code></p>
  </section>`
  return { title, main, reloadSeconds: path ? retrySeconds(problem) : null }
}

// -- The document --------------------------------------------------------------------------------------------------------

function documentOf(context: PageContext, content: Content): Html {
  const { view, lang, words } = context
  const { title, main, aside, reloadSeconds, named, steps, full } = content
  const { brand, sale, state, schedule } = view
  const again = reloadSeconds === null ? null : exactly(lang, reloadSeconds)
  const path = pagePath(view)
  const head = html`<script type="module" src="${script.path}"></script>
${proofHead(view)}
${view.shows.kind === 'payment' && paymentHead}
${view.shows.kind === 'landing' && sharingHead(context)}
${reloadSeconds !== null && html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>`}`
  const body = html`${state.test && html`<p class="note test" role="note">${words.testSale}</p>`}
<p class="note offline" id="offline" tabindex="-1" hidden>${words.offlineText}</p>
${again !== null && html`<p class="note stuck" id="stuck">${words.stuck} <a href="${path}">${words.loadAgain}</a></p>`}
${announcementBox(context)}
<div class="stage ${!aside && 'narrow'}" id="stage" data-sale="${sale}" data-name="${state.name}" ${path !== null && html`data-path="${path}"`} ${schedule.line !== undefined && html`data-line="${schedule.line}"`} ${view.order !== undefined && html`data-own`} data-now-ms="${Math.round(view.nowMs)}"
  ${view.number !== null && html`data-number="${view.number}"`} data-opens-at="${schedule.opens_at}" data-commitment="${schedule.draw_commitment}">
<main id="main" class="${full ? '' : 'page'}">
${!/^(order|orders|receipt|payment)$/.test(view.shows.kind) && ownOrder(context)}
${main}
${again !== null && html`<noscript><p class="quiet">${fill(words.noScript, { t: again })}</p></noscript>`}
</main>
${aside && html`<aside>${aside}</aside>`}
</div>
<p class="sr" role="status" id="announcement"></p>`
  const fullTitle = title === state.name ? title : `${title} · ${state.name}`
  // Without a named brand the header would repeat the sale's name.
  const hasMark = !named || brand.name !== state.name || Boolean(brand.logo)
  return shell(
    { lang, words, brand, hasMark, home: homeOf(view), title: fullTitle, head, steps, indexed: isIndexed(view) },
    body,
  )
}

/** On every page of a sale that asks for a proof: its content may be replaced by one with the form. */
const proofHead = ({
  challenge,
  turnstile,
  lang,
  words,
}: Pick<SaleView, 'challenge' | 'turnstile' | 'lang' | 'words'>) =>
  html`${challenge !== undefined && html`<link rel="stylesheet" href="${proofStyle.path}" id="proof-style"><script type="module" src="${proofScript.path}" id="proof" data-language="${lang}"${texts(words.proof)}></script>`}${turnstile !== undefined && html`<script type="module" src="${turnstileScript.path}"></script>`}`

/**
 * The way back to an order, which the script shows in the browser that made it. Where that order is all that one person can
 * have, it replaces their turn, or the notice that the turn has passed. Without a script there is a link, which does not
 * know the order's status.
 */
function ownOrder({ view, words }: PageContext): Html {
  const { sale, shows, state, order } = view
  const isTurn = shows.kind === 'turn' || (shows.kind === 'line' && shows.place.status === 'missed_turn')
  const latest =
    order &&
    html`<noscript><p class="note">${words.latestOrder}${words.fullStop}<a href="/sales/${sale}/order/${order}">${words.showOrder}</a></p></noscript>`
  if (!isTurn || state.limit_per_visitor > 1)
    return html`<p class="note" id="own-order" hidden>${words.yourOrder}${words.fullStop}<a href="/sales/${sale}">${words.showOrder}</a></p>${latest}`
  return html`<section class="card" id="own-order" data-tone="calm" hidden>
    <h1 tabindex="-1">${words.yourOrder}</h1>
    <div class="actions">${buttonTo(`/sales/${sale}`, words.showOrder)}</div>
  </section>${latest}`
}

/** Where the page can be loaded again; null for the response to a form that met a problem. */
function pagePath({ sale, shows, signedInAs }: SaleView): string | null {
  switch (shows.kind) {
    case 'problem':
      return shows.path ?? null
    case 'order':
      return `/sales/${sale}/order/${shows.order.order_id}`
    case 'receipt':
      return `/sales/${sale}/order/${shows.order.order_id}/receipt`
    case 'payment':
      return `/sales/${sale}/order/${shows.order.order_id}/pay`
    case 'orders':
      return `/sales/${sale}/orders`
    case 'line':
    case 'turn':
      return `/sales/${sale}/line`
    // It knows who is signed in, unlike the page of all.
    case 'landing':
      return `/sales/${sale}${signedInAs === undefined ? '' : '/line'}`
    default:
      return `/sales/${sale}`
  }
}

interface Shell extends Pick<SaleView, 'lang' | 'words' | 'brand'> {
  /** Whether the header shows the brand. */
  readonly hasMark: boolean
  readonly home: string | null
  readonly title: string
  readonly head: Html | false
  readonly steps?: Html | undefined
  /** Whether search engines may show it. */
  readonly indexed?: boolean
}

function shell({ lang, words, brand, hasMark, home, title, head, steps, indexed = false }: Shell, body: Html): Html {
  return html`<!doctype html>
<html lang="${lang}" dir="${directionOf(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${!indexed && html`<meta name="robots" content="noindex">`}
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style.path}">
${brand.sheet && html`<link rel="stylesheet" href="${brand.sheet}">`}
${head}
</head>
<body>
<a class="skip" href="#main">${words.skip}</a>
<header class="page row top">
  ${hasMark && brandMark(brand, home)}
  ${steps}
  <p class="connection" id="connection" data-online="${words.online}" data-reconnecting="${words.reconnecting}" data-offline="${words.offline}" hidden></p>
</header>
${body}
</body>
</html>
`
}

function brandMark({ name, logo }: Brand, home: string | null): Html {
  const mark = logo ? html`<img src="${logo}" alt="${name}">` : html`<bdi>${name}</bdi>`
  return home === null ? html`<p class="brand">${mark}</p>` : html`<a class="brand" href="${home}">${mark}</a>`
}
