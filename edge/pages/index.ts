/**
 * The pages: pure functions from what is known to a whole HTML document. They work without a script (forms, and a
 * refresh by itself); with it they are live. One look for all; a brand replaces style.css and nothing else.
 */
import type { Order, PublicSale } from '../../shared/api.ts'
import type { Problem } from '../../shared/problem.ts'
import type { Place, Schedule } from '../../shared/schedule.ts'
import { proofScript, proofStyle, script, style } from '../assets.ts'
import { type Html, html } from './html.ts'
import { lineSections, saleSection, turnSection } from './line.ts'
import { orderSection } from './order.ts'
import { type Words, wordsFor } from './words.ts'

export interface Brand {
  readonly name: string
}

export interface SaleView {
  readonly sale: string
  readonly state: PublicSale
  readonly schedule: Schedule
  /** Where the visitor stands, and their ticket number; null for someone who has not joined. */
  readonly place: Place | null
  readonly number: number | null
  /** The edge's clock, milliseconds since the epoch. */
  readonly nowMs: number
  readonly order?: Order
  readonly problem?: Problem
  /** Where the challenge is, if joining asks for a proof of work. */
  readonly challenge?: string
  readonly lang: string
  readonly brand: Brand
}

/** What every part of a page is made from. */
export interface Shown {
  readonly view: SaleView
  readonly words: Words
  readonly lang: string
}

/** The page; `refreshSeconds` is for a client that reads neither the page's script nor its markup: none is needed. */
export function renderSale(view: SaleView): { html: string; refreshSeconds: number | null } {
  const { lang, words } = wordsFor(view.lang)
  const shown: Shown = { view, words, lang }
  return { html: documentOf(shown, content(shown)).text, refreshSeconds: null }
}

/** A page for a problem that belongs to no sale, or to one that cannot be told of now. */
export function renderProblem(
  problem: Problem,
  { lang: wanted, brand, sale }: { lang: string; brand: string; sale: string | null },
): string {
  const { lang, words } = wordsFor(wanted)
  const body = problemSection(problem, words, sale)
  const head = html`<header><p>${brand}</p></header>`
  return shell(lang, words.problem, null, html`${head}<main id="main">${body}</main>`).text
}

interface Content {
  readonly title: string
  readonly body: Html
  /** Without a script the page loads itself again after so long; null for one that will not change. */
  readonly reloadSeconds: number | null
}

function content(shown: Shown): Content {
  const { view, words } = shown
  if (view.problem) {
    const body = problemSection(view.problem, words, view.sale)
    return { title: words.problem, body, reloadSeconds: null }
  }
  if (view.order) return orderSection(shown, view.order)
  const { phase } = view.schedule
  if (phase === 'sold_out' || phase === 'ended') {
    const title = phase === 'sold_out' ? words.soldOut : words.ended
    const explained = phase === 'sold_out' ? words.soldOutExplained : words.endedExplained
    const body = html`<section class="card final"><h1>${title}</h1><p class="lead">${explained}</p></section>`
    return { title, body, reloadSeconds: 60 }
  }
  if (view.place === null || view.number === null) return saleSection(shown)
  if (view.place.status === 'ready') return turnSection(shown)
  return lineSections(shown, view.place, view.number)
}

function problemSection(problem: Problem, words: Words, sale: string | null): Html {
  return html`<section class="card">
      <h1>${words.problem}</h1>
      <p class="lead">${problem.title}</p>
      <p>${problem.detail}</p>
      ${sale !== null && html`<p><a class="button quiet" href="/sales/${sale}">${words.backToSale}</a></p>`}
    </section>`
}

function documentOf({ view, lang, words }: Shown, { title, body, reloadSeconds }: Content): Html {
  const head = html`<script type="module" src="${script.path}"></script>
${view.challenge && html`<link rel="stylesheet" href="${proofStyle.path}"><script type="module" src="${proofScript.path}"></script>`}
${reloadSeconds !== null && html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>`}`
  const page = html`<a class="skip" href="#main">${title}</a>
<header><a href="/sales/${view.sale}">${view.brand.name}</a>${view.brand.name !== view.state.name && html`<p>${view.state.name}</p>`}</header>
<main id="main" data-sale="${view.sale}" data-now-ms="${Math.round(view.nowMs)}" data-phase="${view.schedule.phase}"
  ${view.number !== null && html`data-number="${view.number}"`} data-opens-at="${view.schedule.opens_at}"
  data-lobby-opens-at="${view.schedule.pre_queue_opens_at}" data-commitment="${view.schedule.draw_commitment}"
  data-words="${JSON.stringify({
    waitAbout: words.waitAbout,
    waitSoon: words.waitSoon,
    waitUnknown: words.waitUnknown,
    online: words.online,
    offline: words.offline,
    announceAhead: words.announceAhead,
  })}">
${body}
</main>`
  return shell(lang, `${title} · ${view.state.name}`, head, page)
}

function shell(lang: string, title: string, head: Html | null, body: Html): Html {
  return html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style.path}">
${head}
</head>
<body>
${body}
</body>
</html>
`
}
