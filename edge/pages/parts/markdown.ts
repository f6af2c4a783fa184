/**
 * The shop's markdown texts as HTML. The library escapes HTML and removes unsafe addresses. Pictures are omitted,
 * because no page loads any from other hosts.
 */
import { raw } from 'hono/html'
import { micromark } from 'micromark'
import type { Markdown } from '../../../shared/api/goods.ts'
import { RecentMap } from '../../../shared/lib/recent-map.ts'
import { type Html, html } from '../html.ts'
import { inLanguage } from './announcement.ts'

/** The cache has texts of some kilobytes, which change only with a version of the goods. */
const MAX_TEXTS = 200
const htmlByText = new RecentMap<string, Html>(MAX_TEXTS)

export const markdown = (text: string): Html =>
  htmlByText.getOrAdd(text, () =>
    raw(underPage(micromark(text, { extensions: [{ disable: { null: ['labelStartImage'] } }] }))),
  )

/**
 * The headings are moved below those of the page. Every tag in the result was made by the library, because the text's
 * own are escaped.
 */
const underPage = (made: string) =>
  made.replace(/<(\/?)h([1-6])>/g, (_, slash, level) => `<${slash}h${Math.min(6, Number(level) + 2)}>`)

/** A text of the shop in the visitor's language, or in the one that exists, which its element names. */
export function prose(text: Markdown, lang: string, look: 'small' | false = false): Html {
  const said = typeof text === 'string' ? { text, lang } : inLanguage(text, lang)
  return html`<div class="prose ${look}" dir="auto" lang="${said.lang}">${markdown(said.text)}</div>`
}
