/**
 * Previews for operators: each page of a sale in every state, with the real brand, words and products. A Worker of its own
 * (preview-worker.ts) renders them, since their samples serve no visitor. Only the console that the link was made for may
 * frame them.
 */
import { LANGUAGES } from '../../shared/api/fields.ts'
import { framerOf } from '../../shared/preview-link.ts'
import { type Call, NO_STORE, publicNow, refuse, sendJson } from '../call.ts'
import { brandOf, PAGE_HEADERS, publicSale, wordsOf } from '../pages/respond.ts'
import { brandStyleOf } from '../sale/brand-style.ts'
import { goodsOf } from '../sale/goods.ts'

/** `GET /sales/{sale}/preview`: the names of all states; `GET /sales/{sale}/preview/{state}?lang=..&look=..`: one page. */
export async function preview(sale: string, state: string | undefined, call: Call): Promise<Response> {
  const { config, env, nowMs } = call
  const query = Object.fromEntries(new URL(call.request.url).searchParams)
  const framer = framerOf(config.EDGE_TOKEN, sale, query, nowMs)
  if (framer === null) refuse('forbidden', { detail: 'The link is wrong, or has expired. Open the preview again.' })
  if (!env.PREVIEW) refuse('conflict', { detail: 'The preview Worker is not bound: docs/deploying.md says how.' })
  const now = await publicNow(sale, call)
  if (state === undefined) return sendJson({ states: await env.PREVIEW.states() })
  const goods = await goodsOf(sale, now.facts.goods_version, call)
  const lang = LANGUAGES.find((one) => one === query.lang) ?? 'en'
  const page = await env.PREVIEW.page(state, {
    lang,
    nowMs: now.atMs,
    brand: brandOf(config, sale, now.facts.name, goods),
    goods,
    brandStyle: brandStyleOf(sale, goods) ?? config.brand.style,
    words: wordsOf(config, goods)[lang],
    sale: publicSale(now),
    paymentPage: config.PAYMENT_PAGE,
    look: query.look === 'dark' ? 'dark' : 'light',
  })
  if (page === null) refuse('not-found')
  return new Response(page, {
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
