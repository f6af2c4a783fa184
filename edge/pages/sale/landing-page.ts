/**
 * The sale as visitors see it before they join: its pictures, name and price, its opening and the button to join, and
 * below them an explanation and the goods. It contains every phase that it can reach, and its script shows the
 * current one.
 */
import { type Html, html } from '../html.ts'
import { drawPanel } from '../line/draw-panel.ts'
import { accessNotes, joinForm, toOwnPlace } from '../line/join-form.ts'
import { pauseReason } from '../parts/announcement.ts'
import { wordsFor } from '../parts/fault.ts'
import { BEFORE, countdown, DURING, during } from '../parts/moments.ts'
import { itemsOf, priceOf } from '../parts/offer.ts'
import { addedSections, type Content, type PageContext } from '../view.ts'
import { toCalendar } from './calendar.ts'
import { toFront, toSite } from './final-page.ts'
import { gallery } from './gallery.ts'
import { howItWorks } from './how-it-works.ts'
import { shareButton } from './sharing.ts'
import { aboutSale, priceNote } from './sold.ts'

/** A page without a script reloads at least this often, because its content may be out of date. */
export const RELOAD_MAX_SECONDS = 60

/** The longer the wait, the less often a page reloads. */
export const reload = (waitSeconds: number) => Math.round(Math.min(RELOAD_MAX_SECONDS, Math.max(3, waitSeconds / 3)))

export function landingPage(context: PageContext): Content {
  const { view, words } = context
  const { schedule } = view
  const { phase } = schedule
  const pictures = gallery(context)
  const units = itemsOf(view).flatMap((item) => item.units)
  const main = html`<div class="split ${!pictures && 'plain'}">
    ${pictures}
    <div class="stack figure" id="landing" data-phase="${phase}">
      <h1 tabindex="-1"><bdi>${view.state.name}</bdi></h1>
      <p><b class="state">${priceOf(context, units)}</b> <span class="small quiet">${priceNote(context)}</span></p>
      ${wayIn(context)}
    </div>
  </div>
  ${during(schedule, BEFORE, howItWorks(context, true))}
  ${during(schedule, DURING, howItWorks(context, false))}
  ${aboutSale(context)}
  ${addedSections(context)}
  ${drawPanel(context)}`
  const untilMs = phase === 'upcoming' ? schedule.pre_queue_opens_at_ms : schedule.anchor_at_ms
  if (view.refusal) return { title: wordsFor(view.refusal, words)[0], main, reloadSeconds: null, named: true }
  // A page with a code field reloads rarely, because a visitor may be typing.
  const duringSeconds = view.invites || view.othersInvite ? RELOAD_MAX_SECONDS : 15
  const reloadSeconds = BEFORE.includes(phase) ? reload((untilMs - view.nowMs) / 1000) : duringSeconds
  return { title: view.state.name, main, reloadSeconds, named: true }
}

/** The text and the button of each phase. */
function wayIn(context: PageContext): Html {
  const { view, words } = context
  const { schedule } = view
  const lead = (title: string, text: string) => html`<p class="lead"><b>${title}</b>${words.fullStop}${text}</p>`
  return html`${during(
    schedule,
    ['upcoming'],
    html`${countdown(context, 'pre_queue_opens_at_ms')}<p class="lead">${words.upcoming}</p>${
      earlierLine(context) || accessNotes(context)
    }`,
  )}
      ${during(schedule, ['pre_queue'], html`${countdown(context, 'anchor_at_ms')}${joinForm(context, 'lobby', words.joinLobby)}${lead(words.lobbyOpen, words.lobbyInvites)}`)}
      ${during(schedule, ['open'], lead(words.saleOpen, words.lineInvites))}
      ${during(schedule, ['paused'], html`${lead(words.paused, words.pausedText)}${pauseReason(context)}`)}
      ${during(schedule, ['all_in_carts'], lead(words.allInCarts, words.allInCartsText))}
      ${during(schedule, DURING, joinForm(context, 'line', words.joinLine))}
      ${during(schedule, ['sold_out'], html`${lead(words.soldOut, words.soldOutText)}${toFront(context)}`)}
      ${during(schedule, ['ended'], html`${lead(words.ended, words.endedText)}${toSite(context)}${toFront(context)}`)}
      <p class="row links">${during(schedule, BEFORE, toCalendar(context, words.remindMe), 'span')}${shareButton(context)}${during(schedule, ['pre_queue', ...DURING], toOwnPlace(context), 'span')}</p>`
}

/** The visitor may belong to another line that is already open, which only joining can find out. */
const earlierLine = (context: PageContext) =>
  context.view.othersOpenEarlier &&
  html`<p class="quiet">${context.words.earlierLine}</p>${joinForm(context, 'earlier', context.words.joinEarlier)}<p
    class="row links">${toOwnPlace(context)}</p>`
