/** Calculates how far the stock is likely to last for a visitor in the queue, and describes it. */
import { count, fill } from '../../../shared/format.ts'
import { endsBeforeTurn, isFinal, isInLine, type Place, type Schedule } from '../../../shared/schedule.ts'
import { type Html, hidden, html, texts } from '../html.ts'
import type { PageContext } from '../view.ts'

type Outlook = 'outlookEnough' | 'outlookShort' | 'outlookGone'

/** Null without an estimate, or if the sale ends before the turn anyway. */
export function outlookOf(schedule: Schedule, place: Place, atMs: number): Outlook | null {
  const { lasts_for_positions: lasts } = schedule
  const at = place.position_in_queue ?? 0
  if (lasts === null || at === 0 || !isInLine(place.status) || isFinal(schedule.phase)) return null
  if (endsBeforeTurn(schedule, place, atMs)) return null
  return lasts === 0 ? 'outlookGone' : at <= lasts ? 'outlookEnough' : 'outlookShort'
}

/** Fills the numbers into the text. */
export const outlookText = (text: string, lang: string, { lasts_for_positions }: Schedule, place: Place): string =>
  fill(text, { n: count(lang, lasts_for_positions ?? 0), p: count(lang, place.position_in_queue ?? 0) })

/** The page contains all three texts, and its script fills in and shows the one that applies. */
export function outlook({ view, words, lang }: PageContext, place: Place): Html {
  const { schedule, nowMs } = view
  const shown = outlookOf(schedule, place, nowMs)
  const names: readonly Outlook[] = ['outlookEnough', 'outlookShort', 'outlookGone']
  return html`${names.map((name) => {
    const [title, text] = words[name]
    return html`<div data-outlook="${name}" ${hidden(name !== shown)}><h2>${title}</h2><p class="quiet"
      ${texts({ text })}>${name === shown && outlookText(text, lang, schedule, place)}</p></div>`
  })}`
}

/** The place to which the stock is likely to last; null if unknown. */
export const endsOf = (serving: number, lastsFor: number | null): number | null =>
  lastsFor === null ? null : Math.round(serving + lastsFor)

/** The positions of the called visitors and of the visitor's own place along the queue, as SVG lengths. */
export function wayOf(serving: number, position: number, lastsFor: number | null) {
  const whole = Math.max(1, position, endsOf(serving, lastsFor) ?? 0)
  const part = (place: number) => `${Math.min(100, (Math.max(0, place) / whole) * 100).toFixed(2)}%`
  return { served: part(serving), own: part(position) }
}
