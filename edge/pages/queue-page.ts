/**
 * The sale before one has joined, the lobby, and the line in all its states. A page holds every state that it can reach,
 * and its script shows the current one: at the opening, half a million pages turn over without a request.
 */
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import type { Phase, Schedule } from '../../shared/api/public.ts'
import { clock, count, exactly, fill, moment, type Plural, plural, waitText } from '../../shared/format.ts'
import { endsBeforeTurn, isInLine, mayLeave, type Place, type Status } from '../../shared/schedule.ts'
import { buttonTo, type Html, heading, hidden, html, postForm, texts } from './html.ts'
import { inLanguage, pauseReason } from './parts/announcement.ts'
import { toCalendar } from './parts/calendar.ts'
import { faultOf, wordsFor } from './parts/fault.ts'
import { outlook } from './parts/outlook-text.ts'
import type { Content, PageContext, SaleView } from './view.ts'
import type { Language, Words } from './words/words.ts'

export const BEFORE: readonly Phase[] = ['upcoming', 'pre_queue']
const DURING: readonly Phase[] = ['open', 'paused', 'all_in_carts']

/** What a page shows only in these phases of the sale. */
export const during = (schedule: Schedule, phases: readonly Phase[], body: Html | string, tag = 'div') =>
  html`<${tag} data-phases="${phases.join(' ')}" ${hidden(!phases.includes(schedule.phase))}>${body}</${tag}>`

/** Without a script a page reloads at least so often, since what it shows may end. */
const RELOAD_MAX_SECONDS = 60

/** The longer the wait, the less often a page reloads. */
const reload = (waitSeconds: number) => Math.round(Math.min(RELOAD_MAX_SECONDS, Math.max(3, waitSeconds / 3)))

// -- The landing page ----------------------------------------------------------------------------------------------------

/** The same for all: when the sale opens, how it works, and the way in. */
export function landingPage(context: PageContext): Content {
  const { view, words } = context
  const { schedule } = view
  const { phase } = schedule
  const lead = (title: string, text: string) => html`<p class="lead"><b>${title}</b>${words.fullStop}${text}</p>`
  const lobby = html`${countdown(context, 'anchor_at_ms')}
      ${lead(words.lobbyOpen, words.lobbyInvites)}
      ${joinForm(context, 'lobby', words.joinLobby)}${toOwnPlace(context)}`
  const main = html`<section class="card" id="landing" data-tone="calm" data-phase="${phase}">
    <h1 tabindex="-1"><bdi>${view.state.name}</bdi></h1>
    ${during(schedule, ['upcoming'], html`${countdown(context, 'pre_queue_opens_at_ms')}<p class="lead">${words.upcoming}</p>${earlierLine(context) || accessNotes(context)}`)}
    ${during(schedule, ['pre_queue'], lobby)}
    ${during(schedule, BEFORE, toCalendar(context))}
    ${during(schedule, ['open'], lead(words.saleOpen, words.lineInvites))}
    ${during(schedule, ['paused'], html`${lead(words.paused, words.pausedText)}${pauseReason(context)}`)}
    ${during(schedule, ['all_in_carts'], lead(words.allInCarts, words.allInCartsText))}
    ${during(schedule, DURING, html`${joinForm(context, 'line', words.joinLine)}${toOwnPlace(context)}`)}
    ${during(schedule, ['sold_out'], lead(words.soldOut, words.soldOutText))}
    ${during(schedule, ['ended'], html`${lead(words.ended, words.endedText)}${toSite(context)}`)}
  </section>
  ${during(schedule, BEFORE, howItWorks(context, true))}
  ${during(schedule, DURING, howItWorks(context, false))}`
  const untilMs = phase === 'upcoming' ? schedule.pre_queue_opens_at_ms : schedule.anchor_at_ms
  if (view.refusal) return { title: wordsFor(view.refusal, words)[0], main, reloadSeconds: null, named: true }
  // Somebody may be typing a code: reloads seldom.
  const duringSeconds = view.invites || view.othersInvite ? RELOAD_MAX_SECONDS : 15
  const reloadSeconds = BEFORE.includes(phase) ? reload((untilMs - view.nowMs) / 1000) : duringSeconds
  return { title: view.state.name, main, reloadSeconds, named: true }
}

/** Another line may be open to this visitor already; only joining shows which one. */
const earlierLine = (context: PageContext) =>
  context.view.othersOpenEarlier &&
  html`<p>${context.words.earlierLine}</p>${joinForm(context, 'earlier', context.words.joinEarlier)}${toOwnPlace(context)}`

/** The way in. */
function joinForm(context: PageContext, where: string, label: string): Html {
  const { view, words, lang } = context
  const second = asksToSignIn(view) && 'second'
  const fields = html`${invitationField(context, where)}${proofFields(view, words, lang)}${refusalOf(context)}<button class="button ${second}">${label}</button>`
  return html`${accessNotes(context)}${postForm(`/sales/${view.sale}/queue`, fields)}`
}

/** Why the form did not lead to a place, unless a field of it says so. */
function refusalOf({ view, words }: PageContext): Html | false {
  const { refusal, invitation } = view
  if (!refusal || invitation?.fault) return false
  return faultOf(refusal, words)
}

/** A code is typed, or comes by a link; a signed one is long, and is pasted. */
function invitationField({ view, words }: PageContext, where: string): Html | undefined {
  const { invites, othersInvite, invitation } = view
  if (!invites && !othersInvite) return
  const { code = '', fault = null } = invitation ?? {}
  const id = `invitation-fault-${where}`
  return html`<label class="field">${invites ? words.invitation : words.invitationIfAny}
    <input name="invitation" ${invites && html`required`} minlength="4" maxlength="1000" ${code !== '' && html`value="${code}"`} autocomplete="off" autocapitalize="characters" spellcheck="false" ${fault && html`aria-invalid="true" aria-describedby="${id}" autofocus`}></label>
    ${fault && html`<p class="fault" id="${id}">${words.invitationFaults[fault]}</p>`}`
}

/** True where signing in comes first, as far as the page knows. */
const asksToSignIn = ({ signIn, signedInAs }: SaleView) => typeof signIn === 'string' && signedInAs === undefined

/** What is asked of all who join, said before they wait. */
const accessNotes = ({ view, words }: PageContext) =>
  html`${signInNote(view, words)}${view.invites && html`<p class="note">${words.invitationNeeded}</p>`}`

/** What a form to join proves: ALTCHA's widget works when the form is sent, and Turnstile's once it is seen. */
function proofFields(
  { challenge, turnstile }: Pick<SaleView, 'challenge' | 'turnstile'>,
  words: Words,
  lang: Language,
): Html | false {
  const widget =
    challenge !== undefined &&
    html`<altcha-widget name="altcha" auto="onsubmit" challenge="${challenge}" language="${lang}"></altcha-widget>`
  const box =
    turnstile !== undefined &&
    html`<turnstile-widget data-sitekey="${turnstile}" data-away="${words.checkAway}"></turnstile-widget>`
  return (widget || box) && html`${widget}${box}<noscript><p>${words.proofNeedsScript}</p></noscript>`
}

/** The page that is the same for all does not know who is signed in. */
function signInNote({ signIn, othersSignIn, signedInAs }: SaleView, words: Words): Html | false {
  if (signedInAs === '') return html`<p class="note">${words.signedIn}</p>`
  if (signedInAs !== undefined) return html`<p class="note">${words.signedInAs} <b><bdi>${signedInAs}</bdi></b></p>`
  if (signIn !== undefined)
    return html`<p class="note">${words.signInNeeded}</p>${signIn !== null && buttonTo(signIn, words.signIn)}`
  if (othersSignIn === undefined) return false
  return html`<p class="note">${words.signInForLine} ${othersSignIn !== null && html`${words.notSignedIn} <a href="${othersSignIn}">${words.signIn}</a>`}</p>`
}

/** This page is the same for all, and so does not know who has a place; the script leads them there by itself. */
const toOwnPlace = ({ view, words }: PageContext) =>
  html`<p><a class="link" href="/sales/${view.sale}/line">${words.toOwnPlace}</a></p>`

function howItWorks(context: PageContext, isBefore: boolean): Html {
  const { view, words, lang } = context
  const hold = { t: exactly(lang, view.state.hold_seconds) }
  const turn = [words.stepTurn, view.protects ? words.stepSiteText : fill(words.stepTurnText, hold)] as const
  const steps: readonly (readonly [string, string])[] = isBefore
    ? [[words.stepLobby, words.stepLobbyText], [words.stepDraw, words.stepDrawText], turn]
    : [[words.stepLine, `${words.stepLineText} ${turnWaits(context)}`], turn]
  return html`<section class="how">
    <h2>${words.howItWorks}</h2>
    <ol>${steps.map(([name, text]) => html`<li><b>${name}</b> ${text}</li>`)}</ol>
  </section>`
}

/** How long a turn waits for someone who closes the page. */
const turnWaits = ({ view, words, lang }: PageContext) => fill(words.turnWaits, { t: exactly(lang, view.claimSeconds) })

/** The moments of a schedule that a page shows: those to be read are for people, those counted down to are the edge's. */
export type ScheduleMoment = 'opens_at' | 'ends_at' | 'pre_queue_opens_at' | Countdown
type Countdown = 'pre_queue_opens_at_ms' | 'anchor_at_ms'

/** Counts down to one of the schedule's moments by script, above its date. Without a script there is the date alone. */
function countdown({ view, words, lang }: PageContext, to: Countdown): Html {
  const { schedule } = view
  const untilMs = to === 'anchor_at_ms' ? schedule.anchor_at_ms : schedule.pre_queue_opens_at_ms
  const [label, name, at] =
    to === 'anchor_at_ms'
      ? ([words.opensIn, words.opensAt, 'opens_at'] as const)
      : ([words.lobbyOpensIn, words.lobbyOpensAt, 'pre_queue_opens_at'] as const)
  const date = new Date(schedule[at])
  return html`<p class="countdown"><span class="label" data-over="${words.opening}">${label}</span>
    <time role="timer" datetime="${new Date(untilMs).toISOString()}" data-at="${to}">${clock(lang, (untilMs - view.nowMs) / 1000)}</time></p>
    <p class="quiet">${name} <b><time datetime="${date.toISOString()}" data-moment data-at="${at}">${moment(lang, date.getTime(), 'UTC')}&nbsp;UTC</time></b></p>`
}

// -- The line ------------------------------------------------------------------------------------------------------------

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
      <h1 tabindex="-1">${titles[status]}</h1>
      ${more}
    </div>`
  const lead = (text: string) => html`<p class="lead">${text}</p>`
  const lobby = html`${countdown(context, 'anchor_at_ms')}
      <dl class="figures"><div><dt>${words.yourDrawNumber}</dt><dd>${count(lang, number)}</dd></div></dl>
      ${lead(words.nothingToDo)}
      ${toCalendar(context)}
      <p class="quiet">${turnWaits(context)}</p>`
  const main = html`<section class="card" id="line" data-status="${place.status}">
    ${ofLine(context)}
    ${when('pre_queue', lobby)}
    ${when('waiting')}
    ${when('paused', html`${lead(words.pausedText)}${pauseReason(context)}`)}
    ${when('all_in_carts', lead(words.allInCartsText))}
    ${when('ready', html`${lead(words.readyText)}<progress aria-label="${words.readyText}"></progress>`)}
    ${when('missed_turn', html`${lead(words.missedText)}${joinForm(context, 'again', words.joinAgain)}`)}
    ${when('sold_out', lead(words.soldOutText))}
    ${when('ended', html`${lead(words.endedText)}${toSite(context)}`)}
    ${placeFigures(context, place, number)}
    ${turnNotices(context)}
    ${leaveForm(context, place.status)}
  </section>`
  // Once the turn has passed, only the end of the sale can change the page.
  const isMissed = place.status === 'missed_turn'
  const reloadSeconds = isMissed ? RELOAD_MAX_SECONDS : reload(place.estimated_wait_time ?? 15)
  return { title: titles[place.status], main, reloadSeconds }
}

/** The visitor's line by its name for people, where the sale has several. */
function ofLine({ view: { line }, words, lang }: PageContext): Html | false {
  if (line === undefined) return false
  const unnamed = line.line === PUBLIC_LINE ? words.everyone : line.line
  const name = line.name ? inLanguage(line.name, lang).text : unnamed
  return html`<p class="label"><bdi>${fill(words.ofLine, { line: name })}</bdi></p>`
}

/** Buttons for the notices of a turn, hidden until the second script works them. */
function turnNotices({ words }: PageContext): Html {
  const button = (kind: string, label: string) =>
    html`<button type="button" class="switch" id="notice-${kind}" aria-pressed="false">${label}</button>`
  return html`<div class="notices" id="notices" data-blocked="${words.noticeBlocked}" role="group" aria-labelledby="notices-title" hidden>
      <p class="label" id="notices-title">${words.notices}</p>
      ${button('sound', words.noticeSound)} ${button('notification', words.noticeNotification)}
      <p class="quiet" id="notice-blocked"></p>
    </div>`
}

/** Leaving takes two steps, since it cannot be undone. */
function leaveForm({ view, words }: PageContext, status: Status): Html {
  return html`<details class="leave" id="leave" ${hidden(!mayLeave(status))}>
      <summary>${words.leave}</summary>
      <p class="quiet">${words.leaveText}</p>
      <form method="post" action="/sales/${view.sale}/leave"><button class="button second">${words.leaveYes}</button></form>
    </details>`
}

/** Texts that the page's script may show beside a figure. */
export type AheadTexts = Plural & { readonly next: string }
export type WaitTexts = Pick<Words, 'waitAbout' | 'waitUntil' | 'waitSoon' | 'waitUnknown' | 'waitPastEnd'>

/** Position, people ahead, wait and progress; the page's script keeps them up to date. */
function placeFigures(context: PageContext, place: Place, number: number): Html {
  const { view, words, lang } = context
  const ahead = Math.max(0, (place.position_in_queue ?? 1) - 1)
  // Drawn places are called from the first one on; a later one started somewhere on the way, which only the script knows.
  const isDrawn = place.position !== null && number <= view.schedule.pre_queue_size
  const progress = isDrawn && Math.min(100, (place.now_serving / place.position) * 100).toFixed(2)
  const wait = endsBeforeTurn(view.schedule, place, view.nowMs)
    ? words.waitPastEnd
    : waitText(words, lang, place.estimated_wait_time)
  const aheadTexts: AheadTexts = { ...words.ahead, next: words.next }
  const { waitAbout, waitUntil, waitSoon, waitUnknown, waitPastEnd } = words
  const waitTexts: WaitTexts = { waitAbout, waitUntil, waitSoon, waitUnknown, waitPastEnd }
  return html`<div id="place" ${hidden(!isInLine(place.status))}>
    <p class="ahead"><strong id="ahead" ${hidden(ahead === 0)}>${count(lang, ahead)}</strong>
      <span id="ahead-of-you" ${texts(aheadTexts)}>${ahead === 0 ? words.next : plural(lang, ahead, words.ahead)}</span></p>
    <progress id="progress" max="100" ${progress ? html`value="${progress}"` : html`hidden`} aria-label="${words.progress}"></progress>
    <dl class="ends">
      <div><dt>${words.nowServing}</dt><dd id="serving">${count(lang, place.now_serving)}</dd></div>
      <div><dt>${words.yourPlace}</dt><dd id="position">${count(lang, place.position ?? number)}</dd></div>
    </dl>
    <p class="wait"><b id="wait" ${texts(waitTexts)}>${wait}</b> <span id="wait-until"></span></p>
    ${outlook(context, place)}
    <p class="quiet">${words.keepPlace} ${turnWaits(context)}</p>
  </div>`
}

// -- The end -------------------------------------------------------------------------------------------------------------

/** The same for everyone, so that it can come from a cache. */
export function finalPage(context: PageContext, phase: 'sold_out' | 'ended'): Content {
  const { view, words } = context
  const [title, text] = phase === 'sold_out' ? [words.soldOut, words.soldOutText] : [words.ended, words.endedText]
  const main = html`<section class="card final" id="final" data-tone="quiet">
    <p class="label"><bdi>${view.state.name}</bdi></p>
    ${heading(title, text)}
    ${phase === 'ended' && toSite(context)}
  </section>`
  return { title, main, reloadSeconds: 60, named: true }
}

/** After the sale its site is open to all. The link is the same for all: a cookie holds the page that a visitor wanted. */
const toSite = ({ view, words }: PageContext) =>
  view.protects && html`<p>${buttonTo(`/sales/${view.sale}/wanted`, words.toSite)}</p>`
