/** The shop's announcement on every page of a sale, and the reason of a pause. */
import { moment } from '../../../shared/format.ts'
import type { Schedule } from '../../../shared/schedule.ts'
import { type Html, hidden, html, htmlOf, type Tag } from '../html.ts'
import type { PageContext } from '../view.ts'

/** A text of the shop in the visitor's language, otherwise in English, or in the first language that it has. */
export function inLanguage(
  texts: Readonly<Record<string, string>>,
  lang: string,
): { readonly text: string; readonly lang: string } {
  const language = [lang, lang.split('-', 1)[0] ?? '', 'en', ...Object.keys(texts)].find((one) => texts[one]) ?? lang
  return { text: texts[language] ?? '', lang: language }
}

/**
 * A live region, which the page's script changes only for another announcement, so that a screen reader reads each
 * once. It is outside the stage, which the script replaces.
 */
export function announcementBox({ view, words, lang }: PageContext): Html {
  const { announcement } = view.schedule
  const label = announcement?.level === 'warning' ? words.announcementWarning : words.announcement
  return html`<div role="status" id="shop-announcement" data-id="${announcement?.id}"
    data-info="${words.announcement}" data-warning="${words.announcementWarning}">${
      announcement && htmlOf(announcementPart(announcement, [lang, label, inUtc(lang, announcement.since)]))
    }</div>`
}

/**
 * What is around an announcement or a post: the page's language, a label that says how urgent it is, and the time as
 * text, which the server writes in UTC and the script in the visitor's time zone. A tuple keeps the script small.
 */
export type Around = readonly [lang: string, label: string, time: string]

/** An announcement, for the server and the script. */
export const announcementPart = (
  { level, text, since }: NonNullable<Schedule['announcement']>,
  [lang, label, time]: Around,
): Tag => [
  'div',
  { class: `notice${level === 'warning' ? ' urgent' : ''}`, 'data-level': level },
  ['p', {}, ['b', {}, label], ' ', timePart(since, time)],
  shopText('p', text, lang),
]

/** A text of the shop in any language and direction. */
export function shopText(name: string, texts: Readonly<Record<string, string>>, around: string): Tag {
  const { text, lang } = inLanguage(texts, around)
  return [name, { dir: 'auto', lang }, text]
}

export const timePart = (datetime: string, time: string): Tag => [
  'time',
  { class: 'small quiet', datetime, 'data-moment': '' },
  time,
]

/** The text of a time in UTC. */
export const inUtc = (lang: string, at: string) => moment(lang, Date.parse(at), 'UTC')

/** The reason of a pause in the shop's words; hidden if there is none. */
export function pauseReason({ view, lang }: PageContext): Html {
  const { pause_reason } = view.schedule
  const reason = pause_reason ? inLanguage(pause_reason, lang) : null
  return html`<p class="reason" data-reason dir="auto" lang="${
    reason?.lang ?? lang
  }" ${hidden(!reason)}>${reason?.text}</p>`
}
