/**
 * The lobby, and the queue in all its states. A page contains every state that it can reach, and its script shows the
 * current one, so half a million pages change at the opening without a request.
 */
import { PUBLIC_LINE } from '../../../shared/api/access.ts'
import { count, exactly, fill, type Plural, plural, waitText } from '../../../shared/format.ts'
import { endsBeforeTurn, isInLine, mayLeave, type Place, type Status } from '../../../shared/schedule.ts'
import { type Html, hidden, html, icon, texts } from '../html.ts'
import { mailForm, pushSwitch } from '../mail-pages.ts'
import { inLanguage, pauseReason } from '../parts/announcement.ts'
import { parts } from '../parts/kept.ts'
import { countdown, dateAt, opens } from '../parts/moments.ts'
import { toCalendar } from '../sale/calendar.ts'
import { toFront, toRestock, toSite } from '../sale/final-page.ts'
import { thumbnail } from '../sale/gallery.ts'
import { turnWaits } from '../sale/how-it-works.ts'
import { RELOAD_MAX_SECONDS, reload } from '../sale/landing-page.ts'
import { aboutSale } from '../sale/sold.ts'
import { addedSections, type Content, type PageContext } from '../view.ts'
import type { Words } from '../words/words.ts'
import { drawPanel } from './draw-panel.ts'
import { joinForm } from './join-form.ts'
import { endsOf, outlook, wayOf } from './outlook.ts'
import { prepareForm } from './prepare.ts'

/** The page of a visitor with a ticket number, in every state. */
export function linePage(context: PageContext, place: Place, number: number): Content {
  const { words, lang } = context
  const titles: Record<Status, string> = {
    pre_queue: words.inLobby,
    waiting: words.inLine,
    paused: words.paused,
    all_in_carts: words.allInCarts,
    ready: words.ready,
    missed_turn: words.missed,
    sold_out: words.soldOut,
    ended: words.ended,
  }
  const when = (status: Status, more?: Html) =>
    html`<div data-when="${status}" ${hidden(status !== place.status)}>
      <h1 class="state" tabindex="-1">${titles[status]}</h1>
      ${more}
    </div>`
  const lead = (text: string) => html`<p class="lead">${text}</p>`
  const lobby = html`${countdown(context, 'anchor_at_ms')}
      <dl class="ends"><div class="you"><dt>${words.yourDrawNumber}</dt><dd>${count(lang, number)}</dd></div></dl>
      <p class="quiet">${words.nothingToDo}</p>
      <p class="row links">${toCalendar(context)}</p>`
  const main = html`<div class="stack figure" id="line" data-status="${place.status}">
    ${saleItem(context)}
    ${when('pre_queue', lobby)}
    ${when('waiting')}
    ${when('paused', html`${lead(words.pausedText)}${pauseReason(context)}`)}
    ${when('all_in_carts', lead(words.allInCartsText))}
    ${when('ready', html`${lead(words.readyText)}<progress class="comb" aria-label="${words.readyText}"></progress>`)}
    ${when('missed_turn', html`${lead(words.missedText)}${joinForm(context, 'again', words.joinAgain)}${toFront(context)}`)}
    ${when('sold_out', html`${lead(words.soldOutText)}${toRestock(context)}${toFront(context)}`)}
    ${when('ended', html`${lead(words.endedText)}${toSite(context)}${toFront(context)}`)}
    ${placeFigures(context, place, number)}
    ${turnNotices(context, place.status)}
    ${meanwhile(context, place.status)}
    ${leaveForm(context, place.status)}
  </div>
  ${asideOf(context)}`
  // After the turn has passed, only the end of the sale can change the page.
  const isMissed = place.status === 'missed_turn'
  const reloadSeconds = isMissed ? RELOAD_MAX_SECONDS : reload(place.estimated_wait_time ?? 15)
  return { title: titles[place.status], main, look: 'page split', reloadSeconds, named: true }
}

/** The part that is the same for all visitors in the queue, which is most of the page. */
function asideOf(context: PageContext): Html {
  const { view, lang, words } = context
  const { sale, line, state, schedule, goods, sections = [] } = view
  return parts.get(
    `aside ${sale} ${line?.line} ${lang}`,
    [state, schedule, goods, words, ...sections],
    () => html`<aside class="stack">${addedSections(context)}${aboutSale(context)}${drawPanel(context)}</aside>`,
  )
}

/** The goods that the visitor waits for, and the time since the sale opened. */
function saleItem(context: PageContext): Html {
  const { view } = context
  return html`<div class="sale">${thumbnail(view)}<p><b><bdi>${view.state.name}</bdi></b><small>${opens(context)} ${dateAt(context, 'opens_at')}</small>${ofLine(context)}</p></div>`
}

/** The name of the visitor's line, if the sale has several. */
function ofLine({ view: { line }, words, lang }: PageContext): Html | false {
  if (line === undefined) return false
  const unnamed = line.line === PUBLIC_LINE ? words.everyone : line.line
  const name = line.name ? inLanguage(line.name, lang).text : unnamed
  return html`<small class="of-line"><bdi>${fill(words.ofLine, { line: name })}</bdi></small>`
}

/** The switches for notices of a turn, which need the second script. */
function turnNotices(context: PageContext, status: Status): Html {
  const { view, words } = context
  const button = (kind: string, label: string) =>
    html`<button type="button" class="switch" role="switch" id="notice-${kind}"
      aria-checked="false"><span>${label}</span><i aria-hidden="true"></i></button>`
  return html`<section class="panel" id="notices" data-blocked="${words.noticeBlocked}"
    aria-labelledby="notices-title" ${hidden(!mayLeave(status))}>
      <h2 id="notices-title">${words.notices}</h2>
      <div>${button('sound', words.noticeSound)}${button('notification', words.noticeNotification)}${pushSwitch(context, ['turn'])}</div>
      <p class="small quiet" id="notice-blocked"></p>
      ${
        view.state.mails.includes('turn') &&
        (view.mailed
          ? html`<p role="status">${words.noticeMailed}</p>`
          : html`<details><summary>${words.noticeMail}</summary>${mailForm(context, words.noticeMail)}</details>`)
      }
    </section>`
}

/** What the visitor should do until the turn: nothing except be ready. */
function meanwhile(context: PageContext, status: Status): Html {
  const { view, words, lang } = context
  const { sale, state, protects, claimSeconds } = view
  const isHidden = !mayLeave(status)
  return parts.get(`meanwhile ${sale} ${lang} ${isHidden}`, [state, view.goods, words, protects, claimSeconds], () => {
    const hold = { t: exactly(lang, state.hold_seconds) }
    const preparing = !protects && prepareForm(context)
    const turn = protects ? words.stepSiteText : fill(words.stepTurnText, hold)
    return html`<section id="meanwhile" aria-labelledby="meanwhile-title" ${hidden(isHidden)}>
      <h2 id="meanwhile-title">${words.meanwhile}</h2>
      <ul class="rows meanwhile">
        <li>${icon('check')}<p>${words.keepPlace}</p></li>
        <li>${icon('bell')}<p>${turnWaits(context)}</p></li>
        <li>${icon('bag')}<p>${turn}</p></li>
        ${preparing && html`<li class="scripted">${icon('check')}${preparing}</li>`}
      </ul>
    </section>`
  })
}

/** Leaving takes two steps, because it cannot be undone. */
function leaveForm({ view, words }: PageContext, status: Status): Html {
  return html`<details id="leave" ${hidden(!mayLeave(status))}>
      <summary class="quiet">${words.leave}</summary>
      <p class="quiet">${words.leaveText}</p>
      <form method="post" action="/sales/${view.sale}/leave"><button
        class="button second">${words.leaveYes}</button></form>
    </details>`
}

/** Texts that the page's script may show next to a figure. */
export type AheadTexts = Plural & { readonly next: string }
export type WaitTexts = Pick<Words, 'waitAbout' | 'waitUntil' | 'waitSoon' | 'waitUnknown' | 'waitPastEnd'>

/** The number of people ahead, the comb, the wait and the outlook, which the page's script updates. */
function placeFigures(context: PageContext, place: Place, number: number): Html {
  const { view, words, lang } = context
  const ahead = Math.max(0, (place.position_in_queue ?? 1) - 1)
  const wait = endsBeforeTurn(view.schedule, place, view.nowMs)
    ? words.waitPastEnd
    : waitText(words, lang, place.estimated_wait_time)
  const aheadTexts: AheadTexts = { ...words.ahead, next: words.next }
  const { waitAbout, waitUntil, waitSoon, waitUnknown, waitPastEnd } = words
  const waitTexts: WaitTexts = { waitAbout, waitUntil, waitSoon, waitUnknown, waitPastEnd }
  const keptTexts = (name: string, of: AheadTexts | WaitTexts) =>
    parts.get(`${name} ${lang}`, [words], () => html`${texts(of)}`)
  const { lasts_for_positions: lasts } = view.schedule
  return html`<div class="stack" id="place" ${hidden(!isInLine(place.status))}>
    <p class="people"><strong class="num" id="ahead" ${hidden(ahead === 0)}>${count(lang, ahead)}</strong>
      <span class="lead" id="ahead-of-you" ${keptTexts('ahead', aheadTexts)}>${
        ahead === 0 ? words.next : plural(lang, ahead, words.ahead)
      }</span></p>
    ${way(wayOf(place.now_serving, place.position ?? number, lasts))}
    <dl class="ends">
      <div><dt>${words.nowServing}</dt><dd id="serving">${count(lang, place.now_serving)}</dd></div>
      <div class="you"><dt>${words.yourPlace}</dt><dd id="position">${count(lang, place.position ?? number)}</dd></div>
      <div id="lasts" ${hidden(lasts === null)}><dt>${words.stockLasts}</dt><dd id="lasts-to">${count(lang, endsOf(place.now_serving, lasts) ?? 0)}</dd></div>
    </dl>
    <div class="two">
      <div><h2 id="wait" ${keptTexts('wait', waitTexts)}>${wait}</h2><p class="quiet" id="wait-until"></p></div>
      ${outlook(context, place)}
    </div>
  </div>`
}

/**
 * The queue from its first place: the called visitors, those ahead, and the visitor's own place. The figures below
 * have the same content.
 */
const way = ({ served, own }: ReturnType<typeof wayOf>) =>
  html`<div class="way" aria-hidden="true">
      <svg class="comb"><rect class="ahead" width="${own}" height="100%"/><rect class="served" width="${served}"
        height="100%"/></svg>
      <svg class="pin"><line x1="${own}" x2="${own}" y1="8" y2="100%"/><circle cx="${own}" cy="8" r="6"/><circle
        class="ring" cx="${own}" cy="8" r="8"/></svg>
    </div>`
