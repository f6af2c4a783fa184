/** Calculates from a schedule what the page shows to this visitor, and shows it without a request. */
import { type Draw, positionOf } from '../../shared/draw.ts'
import { count, fill, isSameDay, plural, waitText } from '../../shared/format.ts'
import {
  endsBeforeTurn,
  isFinal,
  isInLine,
  mayLeave,
  type Place,
  placeOf,
  type Schedule,
} from '../../shared/schedule.ts'
import type { AheadTexts, WaitTexts } from '../pages/line/line-page.ts'
import type { ScheduleMoment } from '../pages/parts/moments.ts'
import { announce, byId, each, keepFocus, type Page, retitle, show, showMoments, textsOf, write } from './page.ts'

/** A screen reader announces the place this often, because it changes all the time. */
const ANNOUNCE_EVERY_MS = 60_000
/** A shorter wait is shown without the time of day at which it ends. */
const TIME_OF_DAY_FROM_SECONDS = 120
const LONG_WAIT_SECONDS = 20 * 60

/** Returns the visitor's place by a schedule; null for a visitor who has not joined. */
export const placeIn = (schedule: Schedule, page: Page, atMs: number): Place | null =>
  page.number === null ? null : placeOf(schedule, page.number, atMs, drawnOnce)

let lastPosition: { readonly draw: Draw; readonly number: number; readonly position: number } | undefined

/** A place in the draw never changes, so it is calculated once. */
function drawnOnce(draw: Draw, number: number): number {
  if (lastPosition?.number !== number || lastPosition.draw.seed !== draw.seed || lastPosition.draw.size !== draw.size)
    lastPosition = { draw, number, position: positionOf(draw, number) }
  return lastPosition.position
}

/** Shows the schedule at a moment, and returns the visitor's place. */
export function showLine(schedule: Schedule, page: Page, atMs: number): Place | null {
  each('[data-phases]', (part) => show(part, part.dataset.phases?.split(' ').includes(schedule.phase)))
  showOpening(schedule)
  showLanding(schedule)
  const place = placeIn(schedule, page, atMs)
  if (place && byId('line')) showPlace(place, schedule, page, atMs)
  keepFocus()
  return place
}

/** An operator may move the opening to a later or earlier time. */
function showOpening(schedule: Schedule): void {
  each<HTMLTimeElement>('time[data-at]', (time) => {
    const at = schedule[time.dataset.at as ScheduleMoment]
    if (at) time.dateTime = new Date(at).toISOString()
  })
  showMoments()
}

/** Announces a new phase on the landing page. A sale that is over has its own page. */
function showLanding({ phase }: Schedule): void {
  const landing = byId('landing')
  if (!landing || landing.dataset.phase === phase || isFinal(phase)) return
  landing.dataset.phase = phase
  const lead = landing.querySelector('[data-phases]:not([hidden]) > .lead')
  const title = lead?.querySelector('b')?.textContent
  if (title) retitle(title)
  announce(lead?.textContent)
}

// -- The place ------------------------------------------------------------------------------------------------------

let announcedAtMs = Number.NEGATIVE_INFINITY

function showPlace(place: Place, schedule: Schedule, page: Page, atMs: number): void {
  const { status } = place
  const line = byId('line')
  const heading = line?.querySelector(`[data-when="${status}"] h1`)?.textContent ?? ''
  const changed = line?.dataset.status !== status
  if (line && changed) {
    line.dataset.status = status
    each('[data-when]', (part) => show(part, part.dataset.when === status))
    announcedAtMs = Number.NEGATIVE_INFINITY
  }
  const inLine = isInLine(status)
  show(byId('place'), inLine)
  show(byId('leave'), mayLeave(status))
  show(byId('meanwhile'), mayLeave(status))
  if (!inLine || place.position === null) {
    if (!changed) return
    retitle(heading)
    // A turn is announced by its own page, which is shown next.
    if (status !== 'ready') announce(heading)
    return
  }
  const tooLate = endsBeforeTurn(schedule, place, atMs)
  const wait = tooLate ? null : place.estimated_wait_time
  const waits = textsOf('wait') as WaitTexts
  const waiting = tooLate ? waits.waitPastEnd : waitText(waits, page.lang, wait)
  const ahead = (place.position_in_queue ?? 1) - 1
  const many = count(page.lang, ahead)
  const forms = textsOf('ahead-of-you') as AheadTexts
  const who = ahead > 0 ? plural(page.lang, ahead, forms) : forms.next
  write(byId('ahead'), many)
  show(byId('ahead'), ahead > 0)
  write(byId('ahead-of-you'), who)
  write(byId('serving'), count(page.lang, place.now_serving))
  write(byId('position'), count(page.lang, place.position))
  write(byId('wait'), waiting)
  write(byId('wait-until'), timeOfTurn(page, wait, waits, atMs))
  const where = ahead > 0 ? `${many} ${who}` : who
  retitle(where)
  if (performance.now() - announcedAtMs < ANNOUNCE_EVERY_MS) return
  announcedAtMs = performance.now()
  announce(`${changed ? `${heading}. ` : ''}${where}. ${waiting}.`)
}

/**
 * Returns for example "around 12:41", by the server's clock in the visitor's time zone, with the weekday if that is
 * not today. It is rounded, so that it does not change all the time.
 */
function timeOfTurn(page: Page, wait: number | null, { waitUntil }: WaitTexts, fromMs: number): string {
  if (wait === null || wait < TIME_OF_DAY_FROM_SECONDS) return ''
  const stepMs = (wait > LONG_WAIT_SECONDS ? 5 : 1) * 60_000
  const atMs = Math.ceil((fromMs + wait * 1000) / stepMs) * stepMs
  const how: Intl.DateTimeFormatOptions = { hour: 'numeric', minute: 'numeric' }
  if (!isSameDay(atMs, fromMs)) how.weekday = 'long'
  return fill(waitUntil, { t: new Intl.DateTimeFormat(page.lang, how).format(atMs) })
}
