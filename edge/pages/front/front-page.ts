/**
 * The shop front with the next sale in large, followed by running, future and past sales. It is the same for all
 * visitors.
 */
import type { ListedSale } from '../../../shared/api/front.ts'
import { clock, fill, listed, moment, roughly, shortly } from '../../../shared/format.ts'
import { titleIn } from '../../../shared/search/entries.ts'
import { frontScript, searchScript, shareImage } from '../assets.ts'
import type { Brand } from '../brand.ts'
import { buttonTo, type Html, heading, html, icon, texts } from '../html.ts'
import { picture } from '../parts/picture.ts'
import { shell } from '../shell.ts'
import type { Language, Words } from '../words/words.ts'
import { isBefore, priceText, stateText, type Told, toldTexts } from './told.ts'

/** The data of the front and its search. */
export interface FrontView {
  readonly lang: Language
  readonly choseLanguage: boolean
  readonly words: Words
  /** The edge's clock in milliseconds since the epoch. */
  readonly nowMs: number
  readonly host: string
  readonly brand: Brand
  /** The path of the list that the script searches; null if the edge searches. */
  readonly indexPath: string | null
  /** True if visitors can be signed in at the shop. */
  readonly hasAccounts: boolean
}

type Front = FrontView & Arranged

const DAY_SECONDS = 86_400
/** The page reloads itself this often without a script. */
const RELOAD_SECONDS = 60

export function frontPage(front: Front): Html {
  const { now, soon, over, words, nowMs, host, brand } = front
  const [next = now[0], ...others] = soon
  const running = next === now[0] ? now.slice(1) : now
  const description = fill(words.front.description, { shop: brand.name })
  const head = html`<link rel="canonical" href="${host}/">
<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:url" content="${host}/">
<meta property="og:title" content="${brand.name}">
<meta property="og:description" content="${description}">
<meta property="og:image" content="${host}${shareImage.path}">
<meta property="og:image:alt" content="${brand.name}">
<noscript><meta http-equiv="refresh" content="${RELOAD_SECONDS}"></noscript>`
  const main = html`<main id="main" class="page front" data-now-ms="${Math.round(nowMs)}" data-clock="${
    next && `/sales/${next.sale}/schedule`
  }">
  ${
    next
      ? feature(front, next)
      : html`<section class="stack says">${heading(words.front.none, words.front.noneText)}</section>`
  }
  ${group('now', words.front.now, running, html`goods large`, (sale) => card(front, sale, LARGE))}
  ${group('soon', words.front.soon, others, html`goods`, (sale) => card(front, sale, SMALL))}
  ${group('over', words.front.over, over, html`rows over`, (sale) => row(front, sale))}
</main>`
  return frontShell(front, { title: brand.name, head, indexed: true, path: '/' }, main)
}

interface Framed {
  readonly title: string
  readonly head?: Html
  readonly indexed: boolean
  /** The path of this page, for its links to other languages. */
  readonly path: string
  /** The query of the search. */
  readonly query?: string
}

/** The frame of the front's pages, with the search in the header. */
export function frontShell(view: FrontView, { title, head, indexed, path, query = '' }: Framed, main: Html): Html {
  const { lang, words, brand } = view
  const languages = `${path}${path.includes('?') ? '&' : '?'}lang=`
  const scripts = html`<script type="module" src="${frontScript.path}"></script>${head}`
  const corner = html`${searchForm(view, query)}<nav class="row nav" aria-label="${words.yours}"><a
    href="/me/orders${view.choseLanguage && `?lang=${lang}`}">${icon('bag')} ${words.ownOrders}</a></nav>`
  return shell(
    { lang, words, brand, hasMark: true, home: homeOf(view), title, head: scripts, indexed, corner, languages },
    main,
  )
}

/** The page that is the same for all visitors depends on no cookie, so its address contains the chosen language. */
export const homeOf = ({ lang, choseLanguage }: FrontView) => (choseLanguage ? `/?lang=${lang}` : '/')

/** With a script the form makes suggestions during typing; without one the results are a page. */
function searchForm({ words, lang, choseLanguage, indexPath, hasAccounts }: FrontView, query: string): Html {
  const { search, placeholder, ...front } = words.front
  const { recent, deleteAll, deleteOne, didYouMean, found, noResults } = front
  const said = { recent, deleteAll, deleteOne, didYouMean, found, noResults, ...toldTexts(words) }
  return html`<form class="search" role="search" action="/search" id="search" data-script="${searchScript.path}" ${
    indexPath !== null && html`data-index="${indexPath}"`
  } ${hasAccounts && html`data-accounts`}${texts(said)}>
    <label>${icon('search')}<span class="sr">${search}</span><input type="search" name="q" value="${query}"
      placeholder="${placeholder}" maxlength="200" autocomplete="off" enterkeyhint="search"></label>
    ${choseLanguage && html`<input type="hidden" name="lang" value="${lang}">`}
    <div class="suggest recent" hidden></div>
    <div class="suggest typed" hidden></div>
    <p class="sr" role="status"></p>
  </form>`
}

// -- Parts ----------------------------------------------------------------------------------------------------------

const LARGE = '(min-width: 60rem) 38rem, 92vw'
const SMALL = '(min-width: 60rem) 18rem, 46vw'

function group(id: string, title: string, sales: readonly FrontSale[], look: Html, show: (sale: FrontSale) => Html) {
  return (
    sales.length > 0 &&
    html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    <ul class="${look}">${sales.map(show)}</ul>
  </section>`
  )
}

const pathOf = ({ lang, choseLanguage }: FrontView, sale: string) =>
  `/sales/${sale}${choseLanguage ? `?lang=${lang}` : ''}`

function feature(front: Front, sale: FrontSale): Html {
  const { words, lang } = front
  const isNext = isBefore(sale)
  const path = pathOf(front, sale.sale)
  const about = aboutOf(front, sale)
  return html`<article class="feature split ${!sale.image && 'plain'}">
    ${sale.image && html`<div class="pic goods-pic">${picture(sale.image, { sizes: LARGE, eager: true })}</div>`}
    <div class="stack figure">
      <p class="quiet">${isNext ? words.front.next : words.front.now}</p>
      <h1><a href="${path}"><bdi>${titleIn(sale, lang)}</bdi></a></h1>
      <p class="lead">${about && html`<bdi>${about}</bdi>${words.fullStop}`}${priceAndRest(front, sale)}</p>
      ${isNext ? countdown(front, sale) : html`<p class="chip live">${lineOf(front, sale)}</p>`}
      <p>${buttonTo(path, sale.phase === 'pre_queue' ? words.joinLobby : words.front.see, 'wide')}</p>
    </div>
  </article>`
}

function countdown(front: Front, { opens_at }: FrontSale): Html {
  const { words, lang, nowMs } = front
  const left = Math.max(0, (Date.parse(opens_at) - nowMs) / 1000)
  return html`<div class="count">
      <p class="quiet label" data-over="${words.opening}">${words.opensIn}</p>
      <time class="num" role="timer" datetime="${opens_at}" ${
        left >= DAY_SECONDS && html`data-days`
      }>${clock(lang, left)}</time>
      <progress class="comb" max="60" value="${Math.ceil(left) % 60}" data-seconds aria-hidden="true"></progress>
      <p class="small quiet">${words.opensAt} <b>${dateOf(front, opens_at)}</b></p>
    </div>`
}

function card(front: Front, sale: FrontSale, sizes: string): Html {
  const { words, lang, nowMs } = front
  const isNext = isBefore(sale)
  const isSoon = (Date.parse(sale.opens_at) - nowMs) / 1000 < DAY_SECONDS
  const about = aboutOf(front, sale)
  const when = shortDate(front, sale.opens_at, isSoon && html`data-in="${words.front.inTime}"`)
  return html`<li class="good">
      ${cardPicture(sale, sizes)}
      <span class="chip ${!isNext && 'live'}">${isNext ? when : lineOf(front, sale)}</span>
      <h3><a href="${pathOf(front, sale.sale)}"><bdi>${titleIn(sale, lang)}</bdi></a></h3>
      ${about && html`<p class="small quiet"><bdi>${about}</bdi></p>`}
      <p class="small">${priceAndRest(front, sale)}</p>
    </li>`
}

/** The picture of a sale in a list, or a drawing in its place, so that the list has no hole. */
export const cardPicture = ({ image }: Pick<ListedSale, 'image'>, sizes: string, look?: 'thumb') =>
  image
    ? html`<div class="pic ${look}">${picture({ ...image, alt: '' }, { sizes })}</div>`
    : html`<div class="pic none ${look}" aria-hidden="true"></div>`

function row(front: Front, sale: FrontSale): Html {
  const { words, lang } = front
  const path = pathOf(front, sale.sale)
  const [before, after = ''] = words.front.endedOn.split('{d}')
  const tells = sale.phase === 'sold_out' && sale.tells_restock
  const [short, named] = tells ? words.front.tellMe : words.front.lookBack
  const ended = sale.ends_at && html`${before}${shortDate(front, sale.ends_at)}${after}`
  return html`<li>${cardPicture(sale, '56px', 'thumb')}
      <div><h3><a href="${path}"><bdi>${titleIn(sale, lang)}</bdi></a></h3><small>${
        sale.phase === 'sold_out' ? words.soldOut : ended
      }</small></div>
      <a class="button second" href="${path}${
        tells && '#restock'
      }" aria-label="${fill(named, { name: titleIn(sale, lang) })}">${short}</a></li>`
}

/** Describes the state of any sale in a few words: when it opens, that it runs, or that it is over. */
export const phaseOf = (front: FrontView, sale: FrontSale): Html | string =>
  isBefore(sale) ? shortDate(front, sale.opens_at) : stateOf(front, sale)

const stateOf = ({ words, lang, nowMs }: FrontView, sale: FrontSale) => stateText(toldTexts(words), lang, sale, nowMs)

/** Describes how long the line of a running sale is, or its state if that is not known, or no line moves. */
function lineOf(front: FrontView, sale: FrontSale): string {
  const { words, lang } = front
  const { phase, waiting, wait_seconds } = sale
  if (phase !== 'open') return stateOf(front, sale)
  if (waiting === 0) return words.front.noLine
  return wait_seconds === undefined
    ? stateOf(front, sale)
    : fill(words.front.inLine, { t: roughly(lang, wait_seconds) })
}

/** The price of a running sale, with what is left if that is little and the chip tells of the line instead. */
function priceAndRest(front: FrontView, sale: FrontSale): Html {
  const state = stateOf(front, sale)
  const isTold = sale.phase !== 'open' || state === front.words.front.onSale || state === lineOf(front, sale)
  return html`<b>${priceOf(front, sale)}</b>${!isTold && html` <span class="quiet">${state}</span>`}`
}

/** Describes the place or the goods, unless the sale's name contains them. */
function aboutOf({ lang }: Front, sale: FrontSale): string {
  const { venue, products } = sale
  const named = products.map((product) => titleIn(product, lang)).filter((one) => one !== titleIn(sale, lang))
  return venue ?? listed(lang, named.slice(0, 3))
}

export const priceOf = ({ words, lang }: FrontView, sale: FrontSale) => priceText(toldTexts(words), lang, sale)

/** The server writes the time in UTC, and the script changes it to the visitor's time zone. */
const dateOf = ({ lang }: FrontView, at: string) =>
  html`<time datetime="${at}" data-moment>${moment(lang, Date.parse(at), 'UTC')}</time>`

/** The date in short form. */
const shortDate = ({ lang, nowMs }: FrontView, at: string, more?: Html | false): Html =>
  html`<time datetime="${at}" ${more} data-short>${shortly(lang, Date.parse(at), nowMs, 'UTC')}</time>`

export interface FrontSale extends ListedSale, Told {
  /** The people in line, and the seconds until the last of them is called, as far as known. */
  readonly waiting?: number | undefined
  readonly wait_seconds?: number | undefined
  /** True if the sale's page takes addresses for a mail about a restock. */
  readonly tells_restock: boolean
}

/** The sales of a front: running ones, future ones (the next first), and past ones (the last first). */
export interface Arranged {
  readonly now: readonly FrontSale[]
  readonly soon: readonly FrontSale[]
  readonly over: readonly FrontSale[]
}
