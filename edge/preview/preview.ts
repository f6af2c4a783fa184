/**
 * Previews for operators: each page of a sale in every state, with the real brand, words and products. They do nothing: no
 * script, no form and no link works in them, and only the console that the link was made for may frame them.
 */
import { LANGUAGES, type Language } from '../../shared/api/public.ts'
import { framerOf } from '../../shared/preview-link.ts'
import { type Call, NO_STORE, refuse, sendJson } from '../call.ts'
import { style } from '../pages/assets.ts'
import { brandOf, PAGE_HEADERS, publicSale } from '../pages/respond.ts'
import { publicNow } from '../queue/sale-cache.ts'
import { samplePages } from './samples.ts'

const LOOKS = ['light', 'dark'] as const
type Look = (typeof LOOKS)[number]

/** `GET /sales/{sale}/preview`: the names of all states; `GET /sales/{sale}/preview/{state}?lang=..&look=..`: one page. */
export async function preview(sale: string, state: string | undefined, call: Call): Promise<Response> {
  const { config, nowMs } = call
  const query = Object.fromEntries(new URL(call.request.url).searchParams)
  const framer = framerOf(config.EDGE_TOKEN, sale, query, nowMs)
  if (framer === null) refuse('forbidden', { detail: 'The link is wrong, or has expired. Open the preview again.' })
  const now = await publicNow(sale, call)
  const lang: Language = LANGUAGES.find((one) => one === query.lang) ?? 'en'
  const pages = samplePages({
    lang,
    nowMs: now.atMs,
    brand: brandOf(config, now.facts.name),
    words: config.WORDS[lang],
    sale: publicSale(now),
    paymentPage: config.PAYMENT_PAGE,
  })
  if (state === undefined) return sendJson({ states: Object.keys(pages) })
  const page = Object.hasOwn(pages, state) ? pages[state] : undefined
  if (!page) return refuse('not-found')
  const look = LOOKS.find((one) => one === query.look) ?? 'light'
  return new Response(inert(page(), look, call), {
    headers: {
      ...PAGE_HEADERS,
      // The style sheets of a look are part of the page.
      'content-security-policy': `default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors ${framer}`,
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'cache-control': NO_STORE,
    },
  })
}

/** Without scripts, and without what is shown or done where they are missing; links lead nowhere. */
const inert = (page: string, look: Look, { config }: Call) =>
  page
    .replace(/<noscript>.*?<\/noscript>/gs, '')
    .replace(/<script\b.*?<\/script>/gs, '')
    .replace(/<meta http-equiv="refresh"[^>]*>/g, '')
    .replace(/<p class="note stuck".*?<\/p>/gs, '')
    .replace(/(<a\b[^>]*? href=")[^"]*"/g, '$1#"')
    .replace(/<link rel="stylesheet" href="([^"]*)">/g, (link, path) => {
      const sheet = [style, config.brand.style].find((one) => one?.path === path)
      return sheet ? `<style>${inLook(sheet.body, look)}</style>` : link
    })
    .replace('<meta name="color-scheme" content="light dark">', `<meta name="color-scheme" content="${look}">`)

/** As in a browser that prefers this look, and as a page's script shows it. */
const inLook = (css: string, look: Look) =>
  css
    .replace(/\(prefers-color-scheme: ?dark\)/g, look === 'dark' ? '(min-width:0)' : '(max-width:0)')
    .replace(/\(scripting: ?none\)/g, '(max-width:0)')
    .replace(/color-scheme: ?light dark/g, `color-scheme:${look}`)
