/** The shop's announcement on every page of a sale, and the reason of a pause. */
import { moment } from '../../../shared/format.ts'
import { type Html, hidden, html } from '../html.ts'
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
  return html`<div role="status" id="shop-announcement" data-id="${announcement?.id}"
    data-info="${words.announcement}" data-warning="${words.announcementWarning}">${
      announcement && box({ ...announcement, ...inLanguage(announcement.text, lang), in: lang }, words)
    }</div>`
}

function box(
  { level, text, lang, since, in: around }: { level: string; text: string; lang: string; since: string; in: string },
  words: PageContext['words'],
): Html {
  const at = new Date(since)
  return html`<div class="notice ${level === 'warning' && 'urgent'}" data-level="${level}">
  <p><b>${
    level === 'warning' ? words.announcementWarning : words.announcement
  }</b> <time class="small quiet" datetime="${at.toISOString()}"
    data-moment>${moment(around, at.getTime(), 'UTC')}&nbsp;UTC</time></p>
  <p dir="auto" lang="${lang}">${text}</p></div>`
}

/** The reason of a pause in the shop's words; hidden if there is none. */
export function pauseReason({ view, lang }: PageContext): Html {
  const { pause_reason } = view.schedule
  const reason = pause_reason ? inLanguage(pause_reason, lang) : null
  return html`<p class="reason" data-reason dir="auto" lang="${
    reason?.lang ?? lang
  }" ${hidden(!reason)}>${reason?.text}</p>`
}
