/** The opening of a sale for a visitor's own calendar (RFC 5545). */
import type { SaleView } from '../view.ts'

/** How long a sale without an end is in the calendar. */
const LASTS_MS = 30 * 60_000
const REMIND_MINUTES = 10
/** Octets in a line, without its end. */
const LINE_OCTETS = 75

export const calendarPath = ({ sale, schedule: { line } }: SaleView) =>
  `/sales/${sale}/opening.ics${line === undefined ? '' : `?line=${line}`}`

export function openingCalendar(view: SaleView): string {
  const { sale, state, schedule, words, host, nowMs } = view
  const from = Date.parse(schedule.opens_at)
  const until = schedule.ends_at === null ? from + LASTS_MS : Date.parse(schedule.ends_at)
  const url = `${host}/sales/${sale}`
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//flash-sale//opening//EN',
    'BEGIN:VEVENT',
    `UID:${sale}${schedule.line === undefined ? '' : `-${schedule.line}`}@${new URL(host).hostname}`,
    // A later version of the same event takes its place: an opening may be put off.
    `SEQUENCE:${schedule.version}`,
    `DTSTAMP:${utc(nowMs)}`,
    `DTSTART:${utc(from)}`,
    `DTEND:${utc(Math.max(from, until))}`,
    `SUMMARY:${escaped(state.name)}`,
    `DESCRIPTION:${escaped(`${words.stepLobbyText}\n${url}`)}`,
    `URL:${url}`,
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    `DESCRIPTION:${escaped(state.name)}`,
    `TRIGGER:-PT${REMIND_MINUTES}M`,
    'END:VALARM',
    'END:VEVENT',
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${folded(line)}\r\n`).join('')
}

const utc = (atMs: number) => new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, '')

/** Texts must not contain control characters (3.3.11). */
const escaped = (text: string) =>
  text
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r?\n/g, '\\n')
    .replace(/\p{Cc}/gu, ' ')

/** A line that is longer goes on in the next, after a space; never within a character (3.1). */
function folded(line: string): string {
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
