/** Searches at the edge, for browsers without a script and for catalogues that are too large for a browser. */

import * as v from 'valibot'
import { pageLimit } from '../../shared/api/fields.ts'
import { EDGE_VISITOR_HEADER } from '../../shared/api/internal.ts'
import { parse } from '../../shared/parse.ts'
import { type Found, MAX_QUERY } from '../../shared/search/search-index.ts'
import { CACHE_TTL, cacheTimes } from '../http/cache.ts'
import { type Call, refuse, sendTagged, wantsHtml } from '../http/call.ts'
import { isForeignForm } from '../http/cors.ts'
import { limitAddress, limitVisitor } from '../http/limits/rate-limits.ts'
import { passOn } from '../http/origin.ts'
import type { FrontSale } from '../pages/front/front-page.ts'
import { renderSearch } from '../pages/index.ts'
import { PAGE_HEADERS } from '../view/respond.ts'
import { keepLanguage, sharedLanguage } from '../visitor/language.ts'
import { accountOf } from '../visitor/session.ts'
import { frontView, toldOf } from './front.ts'
import { entriesIn, indexOf, indexPath } from './front-index.ts'
import { type Front, frontNow, salesAt } from './listing.ts'
import { noteMiss } from './search-misses.ts'

const MAX_COMPLETIONS = 8

const SearchQuery = v.object({
  q: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(MAX_QUERY, `at most ${MAX_QUERY} characters`)), ''),
  limit: v.optional(pageLimit(100), '20'),
})

/** The route `GET /search?q=&limit=20`, which is a page for clients that request HTML. */
export async function search(call: Call): Promise<Response> {
  const { q, limit } = queryOf(call)
  const front = await frontNow(call)
  const language = sharedLanguage(call)
  const found = (await indexOf(front)).search(q, { lang: language.lang, limit })
  if (found.hits.length === 0) noteMiss(q, call)
  const sales = salesById(front, call.nowMs)
  if (!wantsHtml(call.request)) return sendFound(toJson(found, sales))
  keepLanguage(call)
  const page = renderSearch({ ...frontView(front, call, language), found, sales })
  return new Response(page, { headers: { ...PAGE_HEADERS, ...cacheTimes(CACHE_TTL.search) } })
}

const salesById = (front: Front, nowMs: number) => new Map(salesAt(front, nowMs).map((sale) => [sale.sale, sale]))

/** The route `GET /search/suggest?q=`: complete queries that begin like this one. */
export async function suggest(call: Call): Promise<Response> {
  const { q } = queryOf(call)
  const index = await indexOf(await frontNow(call))
  const completions = index.complete(q, MAX_COMPLETIONS)
  return sendFound({ query: q, completions })
}

/**
 * The route `GET /search/index?v=VERSION`: the list that a browser searches. Any other address redirects to the
 * current version.
 */
export async function searchIndex(call: Call): Promise<Response> {
  const front = await frontNow(call)
  const location = indexPath(front) ?? refuse('not-found')
  if (new URL(call.request.url).searchParams.get('v') !== front.version)
    return new Response(null, { status: 302, headers: { location, ...cacheTimes(CACHE_TTL.current) } })
  const etag = `"${front.version}"`
  const headers = {
    'content-type': 'application/json',
    etag,
    ...cacheTimes(CACHE_TTL.immutable),
    'cache-control': `public, max-age=${CACHE_TTL.immutable.inBrowsers}, immutable`,
  }
  const index = () => JSON.stringify({ entries: entriesIn(front), synonyms: front.catalogue.synonyms })
  return sendTagged(call.request, headers, index)
}

function queryOf(call: Call): v.InferOutput<typeof SearchQuery> {
  limitAddress('search', call.config.SEARCHES_PER_ADDRESS, call)
  const { q, limit } = Object.fromEntries(new URL(call.request.url).searchParams)
  return parse(SearchQuery, { ...(q !== undefined && { q }), ...(limit !== undefined && { limit }) })
}

function toJson({ query, corrected, did_you_mean, hits }: Found, sales: ReadonlyMap<string, FrontSale>) {
  const results = hits.map(({ entry: { type, sale, product_id }, title, snippet, score }) => {
    const listed = sales.get(sale)
    return {
      type,
      sale,
      ...(product_id !== undefined && { product_id }),
      title,
      snippet,
      score,
      ...(listed && toldOf(listed)),
    }
  })
  return { query, ...(corrected && { corrected }), ...(did_you_mean && { did_you_mean }), results }
}

const sendFound = (body: object) =>
  Response.json(body, { headers: { vary: PAGE_HEADERS.vary, ...cacheTimes(CACHE_TTL.search) } })

/**
 * The route `/me/searches`: the latest searches of a visitor who is signed in at the shop. The origin stores them for
 * all their devices.
 */
export async function ownSearches(call: Call): Promise<Response> {
  const { request, config } = call
  // A request from another host may only read, and cannot see the response.
  if (request.method !== 'GET' && request.method !== 'HEAD' && isForeignForm(call)) refuse('forbidden')
  const detail = 'Sign in to the shop: it keeps the searches of accounts alone.'
  const account = (await accountOf(call)) ?? refuse('sign-in-required', { detail })
  limitVisitor('searches', account, config.STATUS_PER_VISITOR, call)
  const { search } = new URL(request.url)
  return passOn(`/internal/searches${search}`, config.EDGE_TOKEN, call, {
    [EDGE_VISITOR_HEADER]: encodeURIComponent(account),
  })
}
