/**
 * The frame of every page: its head, the header with the shop, the notices, and the footer with the other languages.
 */
import { textIn } from '../../shared/api/front.ts'
import { exactly, fill, listed } from '../../shared/format.ts'
import { pollMaxMs } from '../../shared/schedule.ts'
import { favicon, proofScript, proofStyle, script, style, turnstileScript, views } from './assets.ts'
import type { Brand } from './brand.ts'
import { buttonTo, type Html, html, icon, texts } from './html.ts'
import { paymentHead } from './order/payment-page.ts'
import { announcementBox } from './parts/announcement.ts'
import { isIndexed, sharingHead } from './sale/sharing.ts'
import { type Content, frontOf, homeOf, JOINED, type PageContext, type SaleView } from './view.ts'
import { directionOf, LANGUAGE_NAMES, LANGUAGES, type Language, type Words } from './words/words.ts'

/** The time of day in UTC, because the server does not know the visitor's zone. */
const timeOfDay = (atMs: number) => `${new Date(atMs).toISOString().slice(11, 19)} UTC`

/** A page of a sale. */
export function documentOf(context: PageContext, content: Content): Html {
  const { view, lang, words } = context
  const { title, main, look = 'page', steps, reloadSeconds, named, form } = content
  const { brand, sale, state, schedule, shows } = view
  const again = reloadSeconds === null ? null : exactly(lang, reloadSeconds)
  const path = pagePath(view)
  const head = html`<script type="module" src="${script.path}" lang="${lang}"></script>
${proofHead(view)}
${shows.kind === 'payment' && paymentHead}
${shows.kind === 'landing' && sharingHead(context)}
${shows.kind === 'added' && shows.head?.(context)}
${reloadSeconds !== null && html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>`}`
  const body = html`<div class="page notices">
${state.test && html`<p class="notice" role="note">${words.testSale}</p>`}
<p class="notice urgent" id="offline" tabindex="-1" hidden>${words.offlineText}</p>
${
  again !== null && html`<p class="notice stuck" id="stuck">${words.stuck} <a href="${path}">${words.loadAgain}</a></p>`
}
${shows.kind !== 'receipt' && announcementBox(context)}
</div>
<div class="stage" id="stage" data-sale="${sale}" data-name="${state.name}" ${
    path !== null && html`data-path="${path}"`
  } data-home="${homeOf({ ...view, number: null })}" data-poll="${pollMaxMs(view.claimSeconds)}" ${
    schedule.line !== undefined && html`data-line="${schedule.line}"`
  } ${
    view.scheduleUrl !== undefined && html`data-host="${view.scheduleUrl}"`
  } ${view.order !== undefined && html`data-own`} data-now-ms="${Math.round(view.nowMs)}"
  ${
    view.number !== null && html`data-number="${view.number}"`
  } data-opens-at="${schedule.opens_at}" data-commitment="${schedule.draw_commitment}">
${ownOrder(context)}
<main id="main" class="${look}">
${main}
</main>
${again !== null && html`<noscript><p class="page small quiet">${fill(words.noScript, { t: again })} ${fill(words.asOf, { t: timeOfDay(view.nowMs) })}</p></noscript>`}
</div>
<p class="sr" role="status" id="announcement"></p>`
  // If the brand has no name, the header would repeat the sale's name.
  const hasMark = !named || brand.name !== state.name || Boolean(brand.logo)
  return shell(
    {
      lang,
      words,
      brand,
      hasMark,
      home: frontOf(view) ?? homeOf(view),
      title: title === state.name ? title : `${title} · ${state.name}`,
      head,
      indexed: isIndexed(view),
      corner: steps ?? (!view.protects && ordersLink(context)),
      seller: sellerLine(view),
      languages: form === undefined ? languagePath(view, path) : `/sales/${sale}/buy?lang=`,
      form,
    },
    body,
  )
}

/**
 * Every page of a sale that requires a proof needs the widget's script, because its content may be replaced by one
 * with the form.
 */
const proofHead = ({
  challenge,
  turnstile,
  lang,
  words,
}: Pick<SaleView, 'challenge' | 'turnstile' | 'lang' | 'words'>) =>
  html`${
    challenge !== undefined &&
    html`<link rel="stylesheet" href="${proofStyle.path}" id="proof-style"><script
    type="module" src="${proofScript.path}" id="proof" data-language="${lang}"${texts(words.proof)}></script>`
  }${turnstile !== undefined && html`<script type="module" src="${turnstileScript.path}"></script>`}`

const ordersLink = ({ view, words }: PageContext) =>
  html`<nav class="row nav" aria-label="${words.yours}"><a
    href="/sales/${view.sale}/orders">${icon('bag')} ${words.ownOrders}</a></nav>`

/**
 * The link to an order, which the script shows in the browser that made it. If that order reaches the limit per
 * person, it replaces the turn, or the notice that the turn has passed. Without a script there is a link, which does
 * not know the order's status.
 */
function ownOrder({ view, words }: PageContext): Html | false {
  const { sale, shows, state, order } = view
  if (/^(order|orders|receipt|payment|posts|mailed)$/.test(shows.kind)) return false
  const isTurn = shows.kind === 'turn' || (shows.kind === 'line' && shows.place.status === 'missed_turn')
  const note = (text: string, path: string, more?: Html | false) =>
    html`<p class="notice row" ${more}>${text}${words.fullStop}<a href="${path}">${words.showOrder}</a></p>`
  const latest = order && html`<noscript>${note(words.latestOrder, `/sales/${sale}/order/${order}`)}</noscript>`
  const own =
    isTurn && state.limit_per_visitor === 1
      ? html`<section class="stack" id="own-order" hidden>
    <h1 tabindex="-1">${words.yourOrder}</h1>
    <div class="row actions">${buttonTo(`/sales/${sale}`, words.showOrder)}</div>
  </section>`
      : note(words.yourOrder, `/sales/${sale}`, html`id="own-order" hidden`)
  return html`<div class="page">${own}${latest}</div>`
}

/** The path from which the page can be loaded again; null for the response to a form that met a problem. */
function pagePath(view: SaleView): string | null {
  const { sale, shows, signedInAs } = view
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
    case 'mailed':
      return `/sales/${sale}/mail`
    case 'added':
      return shows.path
    case 'line':
    case 'turn':
      return `/sales/${sale}/line?${JOINED}`
    // This page shows who is signed in, unlike the page that is the same for all.
    case 'landing':
      return signedInAs === undefined ? homeOf({ ...view, number: null }) : `/sales/${sale}/line`
    default:
      return homeOf({ ...view, number: null })
  }
}

/** The path of the page in another language, with the invitation if there is one. */
function languagePath(view: SaleView, path: string | null): string {
  const [plain = ''] = (path ?? homeOf(view)).split('?')
  const code = view.shows.kind === 'landing' && view.invitation?.code
  return `${plain}?${code ? `invitation=${encodeURIComponent(code)}&` : ''}lang=`
}

/** The seller on one line. */
function sellerLine({ state: { seller }, lang }: SaleView): string | null {
  if (!seller) return null
  return listed(
    lang,
    [seller.name, ...(seller.address ?? '').split('\n')].filter((part) => part !== ''),
  )
}

// -- The document ---------------------------------------------------------------------------------------------------

interface Shell extends Pick<SaleView, 'lang' | 'words' | 'brand'> {
  /** True if the header shows the brand. */
  readonly hasMark: boolean
  readonly home: string | null
  readonly title: string
  readonly head: Html | false
  /** True if search engines may index the page. */
  readonly indexed?: boolean
  /** The part of the header next to the brand. */
  readonly corner?: Html | false
  readonly seller?: string | null
  /** The address of this page without a language, to which the language is added; omitted if there is none. */
  readonly languages?: string
  /** The form that the switch to another language sends, if the page has one. */
  readonly form?: string | undefined
}

export function shell(
  { lang, words, brand, hasMark, home, title, head, indexed = false, corner, seller, languages, form }: Shell,
  body: Html,
): Html {
  return html`<!doctype html>
<html lang="${lang}" dir="${directionOf(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0a0d0c">
${!indexed && html`<meta name="robots" content="noindex">`}
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${favicon.path}">
<link rel="stylesheet" href="${style.path}">
${brand.sheet && html`<link rel="stylesheet" href="${brand.sheet}">`}
${head}
<script type="module" src="${views.path}" fetchpriority="low"></script>
</head>
<body>
<a class="skip" href="#main">${words.skip}</a>
<header class="page row top" id="top">
  ${hasMark && brandMark(brand, home)}
  ${corner}
</header>
<p class="chip" id="connection" data-online="${words.online}" data-reconnecting="${words.reconnecting}"
  data-offline="${words.offline}" hidden></p>
${body}
<footer class="page row foot small quiet" id="foot">
  <span><bdi>${seller ?? (hasMark && brand.name)}</bdi></span>
  ${legalLinks(brand, lang, words)}
  ${languages !== undefined && languageLinks(languages, lang, words, form)}
</footer>
</body>
</html>
`
}

function legalLinks({ legal = [] }: Brand, lang: Language, words: Words): Html | false {
  const links = legal.map(({ name, url }) => html`<a href="${url}"><bdi>${textIn(name, lang)}</bdi></a>`)
  return links.length > 0 && html`<nav class="row" aria-label="${words.legal}">${links}</nav>`
}

function languageLinks(path: string, lang: Language, words: Words, form?: string): Html {
  const links = LANGUAGES.filter((one) => one !== lang).map((one) =>
    form === undefined
      ? html`<a href="${path}${one}" lang="${one}" hreflang="${one}" rel="nofollow">${LANGUAGE_NAMES[one]}</a>`
      : html`<button class="link" form="${form}" formaction="${path}${one}" name="again" value="language"
        formnovalidate lang="${one}">${LANGUAGE_NAMES[one]}</button>`,
  )
  return html`<nav class="row" aria-label="${words.language}">${links}</nav>`
}

function brandMark({ name, logo }: Brand, home: string | null): Html {
  const mark = logo ? html`<img src="${logo}" alt="${name}">` : html`<bdi>${name}</bdi>`
  return home === null ? html`<p class="brand">${mark}</p>` : html`<a class="brand" href="${home}">${mark}</a>`
}
