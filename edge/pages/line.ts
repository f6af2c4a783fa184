/** The sale before one has joined, the lobby, the line in all its states, and the turn. */
import { isDrawn, type Place } from '../../shared/schedule.ts'
import { clock, count, fill, money, roughly } from '../../shared/speak.ts'
import { type Html, html } from './html.ts'
import type { Shown } from './index.ts'

interface Content {
  readonly title: string
  readonly body: Html
  readonly reloadSeconds: number | null
}

/** For someone who has not joined: what is sold, when, and the way in. */
export function saleSection(shown: Shown): Content {
  const { view, words } = shown
  const { phase } = view.schedule
  const upcoming = phase === 'upcoming'
  const before = upcoming || phase === 'pre_queue'
  const until = Date.parse(upcoming ? view.schedule.pre_queue_opens_at : view.schedule.opens_at)
  const body = html`<section class="card">
    <h1>${view.state.name}</h1>
    ${before ? countdown(shown, until, upcoming ? words.lobbyOpensIn : words.opensIn) : html`<p class="lead">${words.open}</p>`}
    ${products(shown)}
    ${joinForm(shown, before ? words.joinLobby : words.joinLine, html`id="join" ${upcoming && html`hidden`}`)}
    <p class="quiet">${before ? words.lobbyExplained : words.lineExplained}</p>
  </section>
  ${draw(shown)}`
  return { title: view.state.name, body, reloadSeconds: before ? reload((until - view.nowMs) / 1000) : 15 }
}

/** The way in. Where a proof of work is asked for, ALTCHA's widget does it when the form is sent. */
function joinForm({ view, words, lang }: Shown, label: string, attributes: Html | null): Html {
  const proof = html`<altcha-widget name="altcha" auto="onsubmit" challenge="${view.challenge}" language="${lang}"></altcha-widget>
    <noscript><p>${words.proofNeedsScript}</p></noscript>`
  return html`<form method="post" action="/sales/${view.sale}/queue" ${attributes}>
      ${view.challenge && proof}
      <button class="button">${label}</button>
    </form>`
}

function products({ view, words, lang }: Shown): Html {
  const { products, limit_per_visitor } = view.state
  return html`<ul class="products">
    ${products.map((p) => {
      const stock =
        p.available === p.total
          ? fill(words.available, { n: count(lang, p.total) })
          : fill(words.left, { n: count(lang, p.available) })
      return html`<li><span>${p.name}</span><span class="quiet">${stock}</span><b>${money(lang, p.unit_price_minor, p.currency)}</b></li>`
    })}
  </ul>
  <p class="quiet">${fill(words.perVisitor, { n: count(lang, limit_per_visitor) })}</p>`
}

function countdown({ view, lang }: Shown, untilMs: number, label: string): Html {
  return html`<p class="countdown"><span class="quiet">${label}</span>
    <time datetime="${new Date(untilMs).toISOString()}" data-until-ms="${untilMs}">${clock(lang, (untilMs - view.nowMs) / 1000)}</time></p>`
}

/** The states a visitor can be in while waiting. All are in the page, and its script shows the one that holds. */
export function lineSections(shown: Shown, place: Place, number: number): Content {
  const { view, words, lang } = shown
  const state = (status: Place['status'], title: string, explained: string, more?: Html) =>
    html`<div data-status="${status}" ${status !== place.status && html`hidden`}>
      <h1>${title}</h1>
      <p class="lead">${explained}</p>
      ${more}
    </div>`
  const position = place.position_in_queue ?? 0
  const title = {
    pre_queue: words.inLobby,
    waiting: words.waiting,
    paused: words.paused,
    all_in_carts: words.allInCarts,
    missed_turn: words.missed,
    ready: words.yourTurn,
    sold_out: words.soldOut,
    ended: words.ended,
  }[place.status]
  const opensAt = Date.parse(view.schedule.opens_at)
  const body = html`<section class="card">
    ${state('pre_queue', words.inLobby, fill(words.inLobbyExplained, { n: count(lang, number) }), countdown(shown, opensAt, words.opensIn))}
    ${state('waiting', words.waiting, words.keepPlace)}
    ${state('paused', words.paused, words.pausedExplained)}
    ${state('all_in_carts', words.allInCarts, words.allInCartsExplained)}
    ${state('ready', words.yourTurn, words.yourTurnExplained)}
    ${state('missed_turn', words.missed, words.missedExplained, joinForm(shown, words.joinAgain, null))}
    ${state('sold_out', words.soldOut, words.soldOutExplained)}
    ${state('ended', words.ended, words.endedExplained)}
    <div id="place" ${!standsInLine(place.status) && html`hidden`}>
      <p class="position"><strong id="ahead">${count(lang, Math.max(0, position - 1))}</strong> <span>${words.ahead}</span></p>
      <progress id="progress" max="100" value="${place.position ? Math.min(100, (place.now_serving / place.position) * 100).toFixed(1) : 0}" aria-label="${words.progress}"></progress>
      <p id="wait" class="wait">${waitText(shown, place)}</p>
      <dl>
        <div><dt>${words.yourPosition}</dt><dd id="position">${place.position === null ? '–' : count(lang, place.position)}</dd></div>
        <div><dt>${words.nowServing}</dt><dd id="serving">${count(lang, place.now_serving)}</dd></div>
        <div><dt>${words.yourNumber}</dt><dd>${count(lang, number)}</dd></div>
      </dl>
    </div>
    <p class="connection" id="connection" hidden></p>
    <p class="visually-hidden" role="status" aria-live="polite" id="announcement"></p>
    <form method="post" action="/sales/${view.sale}/leave" id="leave" ${!standsInLine(place.status) && place.status !== 'pre_queue' && html`hidden`}><button class="link">${words.leave}</button></form>
  </section>
  ${draw(shown)}`
  const wait = place.estimated_wait_time ?? 15
  return { title, body, reloadSeconds: place.status === 'missed_turn' ? null : reload(wait) }
}

export const standsInLine = (status: Place['status']) =>
  status === 'waiting' || status === 'paused' || status === 'all_in_carts'

function waitText({ words, lang }: Shown, place: Place): string {
  if (place.estimated_wait_time === null) return words.waitUnknown
  if (place.estimated_wait_time < 5) return words.waitSoon
  return fill(words.waitAbout, { t: roughly(lang, place.estimated_wait_time) })
}

/** How a page without a script follows the line: the further away, the less often. */
const reload = (waitSeconds: number) => Math.round(Math.min(60, Math.max(3, waitSeconds / 3)))

function draw({ view, words }: Shown): Html {
  const { schedule } = view
  return html`<details class="draw">
    <summary>${words.draw} <span class="tick" id="tick" hidden>✓</span></summary>
    <p id="draw-before" ${isDrawn(schedule) && html`hidden`}>${words.drawBefore}</p>
    <p id="draw-holds" hidden>${words.drawHolds}</p>
    <p id="draw-broken" role="alert" hidden>${words.drawBroken}</p>
    <dl>
      <div><dt>${words.commitment}</dt><dd><code>${schedule.draw_commitment}</code></dd></div>
      <div id="seed-row" ${!isDrawn(schedule) && html`hidden`}><dt>${words.seed}</dt><dd><code id="seed">${schedule.draw_seed}</code></dd></div>
    </dl>
  </details>`
}

/** It is their turn: choose and reserve. The key is in the form, so that sending it twice makes one order. */
export function turnSection(shown: Shown): Content {
  const { view, words, lang } = shown
  const { products, hold_seconds, limit_per_visitor } = view.state
  const first = products.find((p) => p.available > 0) ?? products[0]
  const body = html`<section class="card turn">
    <h1 tabindex="-1" id="turn">${words.choose}</h1>
    <p class="lead">${fill(words.chooseExplained, { t: clock(lang, hold_seconds) })}</p>
    <form method="post" action="/sales/${view.sale}/buy" class="once">
      <input type="hidden" name="idempotency_key" value="${crypto.randomUUID()}">
      <fieldset><legend>${words.product}</legend>
        ${products.map(
          (
            p,
          ) => html`<label class="choice"><input type="radio" name="product_id" value="${p.product_id}" ${p === first && html`checked`} ${p.available === 0 && html`disabled`} required>
            <span>${p.name}</span> <span class="quiet">${p.available === 0 && words.soldOutHere}</span> <b>${money(lang, p.unit_price_minor, p.currency)}</b></label>`,
        )}
      </fieldset>
      ${limit_per_visitor > 1 && html`<label class="field">${words.quantity} <input type="number" name="quantity" min="1" max="${limit_per_visitor}" value="1" inputmode="numeric"></label>`}
      <button class="button">${words.reserve}</button>
    </form>
  </section>`
  return { title: words.yourTurn, body, reloadSeconds: null }
}
