/** Texts of the shop in markdown. The library escapes HTML and drops unsafe addresses; pictures are left out, since no page loads from others. */
import { raw } from 'hono/html'
import { micromark } from 'micromark'
import type { Markdown } from '../../../shared/api/goods.ts'
import { RecentMap } from '../../../shared/lib/recent-map.ts'
import { type Html, html } from '../html.ts'
import { inLanguage } from './announcement.ts'

/** Texts of some kilobytes, which change only with a version of the goods. */
const MAX_TEXTS = 200
const rendered = new RecentMap<string, Html>(MAX_TEXTS)

export const markdown = (text: string): Html =>
  rendered.getOrAdd(text, () =>
    raw(underPage(micromark(text, { extensions: [{ disable: { null: ['labelStartImage'] } }] }))),
  )

/** Headings below those of the page; what looks like a tag is one, since the text's own are escaped. */
const underPage = (made: string) =>
  made.replace(/<(\/?)h([1-6])>/g, (_, slash, level) => `<${slash}h${Math.min(6, Number(level) + 2)}>`)

/** A text of the shop's in the visitor's language, or in the one that there is, which it names. */
export function prose(text: Markdown, lang: string, look: 'small' | false = false): Html {
  const said = typeof text === 'string' ? { text, lang } : inLanguage(text, lang)
  return html`<div class="prose ${look}" dir="auto" lang="${said.lang}">${markdown(said.text)}</div>`
}
