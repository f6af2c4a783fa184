/**
 * Keeps a chosen language in the addresses of a page: each link and form that leads to a page of ours gets it, and so
 * do the addresses that the page's script reads again. One pass over the written page does it, so that no template can
 * forget it.
 */
import type { Language } from './words/words.ts'

const ADDRESS = / (?:href|action|data-path|data-home|data-back)="(\/[^"#]*)/g
const PAGE = /^\/(?:sales\/|me\/orders|\?|$)/
/** Documents, style sheets and the links to other languages stay as they are. */
const OTHER = /\/schedule|brand\.css|lang=/

export const inLanguage = (page: string, lang: Language): string =>
  page.replace(ADDRESS, (whole, address: string) =>
    PAGE.test(address) && !OTHER.test(address) ? `${whole}${address.includes('?') ? '&amp;' : '?'}lang=${lang}` : whole,
  )
