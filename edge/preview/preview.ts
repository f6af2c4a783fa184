/**
 * Previews for operators show each page of a sale in every state, with the real brand, words and products. A separate
 * Worker (preview-worker.ts) renders them, because visitors do not need the samples. Only the console for which the
 * link was made may frame them.
 */

import { LANGUAGES } from '../../shared/api/fields.ts'
import type { GoodsDocument } from '../../shared/api/goods.ts'
import { edgeTokens, SaleDraft } from '../../shared/api/internal.ts'
import { parse } from '../../shared/parse.ts'
import { framerOf } from '../../shared/preview-link.ts'
import { brandStyleOf } from '../goods/brand-style.ts'
import { goodsOf } from '../goods/goods.ts'
import { type Call, NO_STORE, refuse, sendJson } from '../http/call.ts'
import { namedIn } from '../pages/parts/offer.ts'
import { requireEdgeToken } from '../queue/backend.ts'
import { publicNow } from '../queue/sale-now.ts'
import { brandOf, PAGE_HEADERS, publicSale, wordsOf } from '../view/respond.ts'
import type PreviewWorker from './preview-worker.ts'

/**
 * The routes `GET /sales/{sale}/preview`, with the names of all states, and `GET
 * /sales/{sale}/preview/{state}?lang=..&look=..`, with one page.
 */
export async function preview(sale: string, state: string | undefined, call: Call): Promise<Response> {
  const { config, nowMs } = call
  const query = Object.fromEntries(new URL(call.request.url).searchParams)
  const framers = edgeTokens(config).map((token) => framerOf(token, sale, query, nowMs))
  const framer = framers.find((one) => one !== null)
  if (framer === undefined)
    refuse('forbidden', { detail: 'The link is wrong, or has expired. Open the preview again.' })
  const now = await publicNow(sale, call)
  if (state === undefined) return sendJson({ states: await previewWorker(call).states() })
  const goods = await goodsOf(sale, now.facts.goods_version, call)
  const page = await pageOf(sale, { sale: publicSale(now), goods }, state, query, call)
  return new Response(page, {
    headers: {
      ...PAGE_HEADERS,
      // The style sheets of a look are inline.
      'content-security-policy':
        `default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; form-action 'none'; base-uri ` +
        `'none'; frame-ancestors ${framer}`,
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'cache-control': NO_STORE,
    },
  })
}

/**
 * The route `POST /internal/sales/{sale}/preview/{state}?lang=..&look=..`: one page with unsaved changes, for the
 * origin.
 */
export async function previewDraft(sale: string, state: string, call: Call): Promise<Response> {
  await requireEdgeToken(call)
  const query = Object.fromEntries(new URL(call.request.url).searchParams)
  const draft = parse(SaleDraft, await call.request.json())
  const page = await pageOf(sale, draft, state, query, call)
  return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': NO_STORE } })
}

async function pageOf(
  id: string,
  { sale, goods }: { readonly sale: SaleDraft['sale']; readonly goods: GoodsDocument | null },
  state: string,
  query: Readonly<Record<string, string>>,
  call: Call,
): Promise<string> {
  const { config, nowMs } = call
  const lang = LANGUAGES.find((one) => one === query.lang) ?? 'en'
  const shown = namedIn(lang, sale, goods)
  const page = await previewWorker(call).page(state, {
    lang,
    nowMs,
    brand: brandOf(config, id, shown.name, goods),
    goods,
    brandStyle: brandStyleOf(id, goods) ?? config.brand.style,
    words: wordsOf(config, goods)[lang],
    sale: shown,
    paymentPage: config.PAYMENT_PAGE,
    look: query.look === 'dark' ? 'dark' : 'light',
  })
  return page ?? refuse('not-found')
}

const previewWorker = ({ env }: Call) =>
  (env.PREVIEW as Service<typeof PreviewWorker> | undefined) ??
  refuse('conflict', { detail: 'The preview Worker is not bound: docs/deploying.md says how.' })
