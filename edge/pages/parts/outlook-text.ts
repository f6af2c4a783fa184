/** How far the stock is likely to last for somebody in line, and what the page says of it. */
import { count, fill } from '../../../shared/format.ts'
import { endsBeforeTurn, isFinal, isInLine, type Place, type Schedule } from '../../../shared/schedule.ts'
import { type Html, hidden, html, texts } from '../html.ts'
import type { PageContext } from '../view.ts'
import type { Words } from '../words/words.ts'

export type OutlookTexts = Pick<Words, 'outlookEnough' | 'outlookShort' | 'outlookGone'>

/** Empty without an estimate, and where the sale ends before the turn anyway. */
export function outlookText(words: OutlookTexts, lang: string, schedule: Schedule, place: Place, atMs: number): string {
  const { lasts_for_positions: lasts } = schedule
  const at = place.position_in_queue ?? 0
  if (lasts === null || at === 0 || !isInLine(place.status) || isFinal(schedule.phase)) return ''
  if (endsBeforeTurn(schedule, place, atMs)) return ''
  if (lasts === 0) return words.outlookGone
  return fill(at <= lasts ? words.outlookEnough : words.outlookShort, { n: count(lang, lasts), p: count(lang, at) })
}

export function outlook({ view, words, lang }: PageContext, place: Place): Html {
  const { outlookEnough, outlookShort, outlookGone } = words
  const text = outlookText(words, lang, view.schedule, place, view.nowMs)
  return html`<p class="outlook" id="outlook" ${texts({ outlookEnough, outlookShort, outlookGone })} ${hidden(text === '')}>${text}</p>`
}
