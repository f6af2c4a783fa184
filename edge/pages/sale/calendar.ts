/** The opening of a sale, and the date of its event, for a visitor's calendar (RFC 5545). */
import type { EventTime } from '../../../shared/api/goods.ts'
import { eventTimes } from '../../../shared/format.ts'
import { type Html, html, icon } from '../html.ts'
import type { PageContext, SaleView } from '../view.ts'

/** The calendar shows the opening of a sale without an end for this long. */
const LASTS_MS = 30 * 60_000
const REMIND_MINUTES = 10
/** The number of octets in a line, without its line break. */
const LINE_OCTETS = 75

const pathOf = ({ sale, schedule: { line } }: SaleView) =>
  `/sales/${sale}/opening.ics${line === undefined ? '' : `?line=${line}`}`

const link = ({ view, words }: PageContext, path: string, label = words.addToCalendar): Html =>
  html`<a href="${path}" download="${view.sale}.ics">${icon('calendar')} ${label}</a>`

/** The opening as an entry of a calendar, which reminds of it. */
export const toCalendar = (context: PageContext, label?: string): Html => link(context, pathOf(context.view), label)

/** The time of the event or pickup at its place, and the link that adds it to a calendar; null if no date is known. */
export function eventOf(context: PageContext): { readonly time: Html; readonly toCalendar: Html } | null {
  const { view, lang } = context
  const event = view.goods?.event
  if (!event) return null
  return {
    time: html`<time datetime="${event.starts_at}">${eventTimes(lang, event)}</time>`,
    toCalendar: link(context, `/sales/${view.sale}/event.ics`),
  }
}

export function openingCalendar(view: SaleView): string {
  const { sale, state, schedule, words, host } = view
  const from = Date.parse(schedule.opens_at)
  const until = schedule.ends_at === null ? from + LASTS_MS : Date.parse(schedule.ends_at)
  return calendar(view, 'opening', [
    `UID:${sale}${schedule.line === undefined ? '' : `-${schedule.line}`}@${new URL(host).hostname}`,
    // A later version of the same event replaces it in calendars, because an opening may be put off.
    `SEQUENCE:${schedule.version}`,
    `DTSTART:${utc(from)}`,
    `DTEND:${utc(Math.max(from, until))}`,
    `DESCRIPTION:${escapeText(`${words.stepLobbyText}\n${urlOf(view)}`)}`,
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    `DESCRIPTION:${escapeText(state.name)}`,
    `TRIGGER:-PT${REMIND_MINUTES}M`,
    'END:VALARM',
  ])
}

/** If there is no venue, the place is that of the pickup. */
export function eventCalendar(view: SaleView, { starts_at, ends_at }: EventTime): string {
  const { sale, state, goods, host } = view
  const place = goods?.venue ?? state.delivery.pickup
  return calendar(view, 'event', [
    `UID:${sale}-event@${new URL(host).hostname}`,
    `SEQUENCE:${goods?.version ?? 0}`,
    `DTSTART:${utc(Date.parse(starts_at))}`,
    ...(ends_at === null ? [] : [`DTEND:${utc(Date.parse(ends_at))}`]),
    ...(place === undefined ? [] : [`LOCATION:${escapeText(place)}`]),
  ])
}

const urlOf = ({ host, sale }: SaleView) => `${host}/sales/${sale}`

function calendar(view: SaleView, name: string, event: readonly string[]): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    `PRODID:-//flash-sale//${name}//EN`,
    'BEGIN:VEVENT',
    `DTSTAMP:${utc(view.nowMs)}`,
    `SUMMARY:${escapeText(view.state.name)}`,
    `URL:${urlOf(view)}`,
    ...event,
    'END:VEVENT',
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${foldLine(line)}\r\n`).join('')
}

const utc = (atMs: number) => new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, '')

/** Texts must not contain control characters (3.3.11). */
const escapeText = (text: string) =>
  text
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r?\n/g, '\\n')
    .replace(/\p{Cc}/gu, ' ')

/** A longer line continues in the next one after a space, and is never divided within a character (3.1). */
function foldLine(line: string): string {
  const encoder = new TextEncoder()
  let [text, octets] = ['', 0]
  for (const letter of line) {
    const more = encoder.encode(letter).length
    if (octets + more > LINE_OCTETS) [text, octets] = [`${text}\r\n `, 1]
    text += letter
    octets += more
  }
  return text
}
