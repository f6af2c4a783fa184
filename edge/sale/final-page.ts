/**
 * The final responses: sold out, and ended. They are the same for all visitors and come from memory, so no object and
 * no origin is called, and the cache in front of the Worker stores them.
 */
import type { Schedule } from '../../shared/schedule.ts'
import { goodsOf } from '../goods/goods.ts'
import { CACHE_TTL, cacheHeaders } from '../http/cache.ts'
import { type Call, etagOf, isCached, wantsJson } from '../http/call.ts'
import { renderSale } from '../pages/index.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { headersOf, PAGE_HEADERS, viewOf } from '../view/respond.ts'
import { keepLanguage, sharedLanguage } from '../visitor/language.ts'
import { saleDocument } from './sale-document.ts'

type FinalPhase = 'sold_out' | 'ended'

/** The body is bytes, because the runtime would encode a string again for each of very many requests. */
interface Final {
  readonly body: Uint8Array
  readonly etag: string
  readonly headers: Headers
  /** True if the response has its goods. Without them it is cached for a shorter time. */
  readonly isWhole: boolean
}

/** The responses of each final schedule: the page by language, and the document. */
const finals = new WeakMap<Schedule, Map<string, Final>>()

export async function finalResponse(now: SaleNow, phase: FinalPhase, call: Call): Promise<Response> {
  const { request } = call
  const known = finals.get(now.schedule) ?? new Map<string, Final>()
  finals.set(now.schedule, known)
  keepLanguage(call)
  const { lang, isChosen } = sharedLanguage(call)
  const kind = wantsJson(request) ? 'json' : `${lang}${isChosen ? ' chosen' : ''}`
  const final = known.get(kind) ?? (await render(now, phase, call))
  if (final.isWhole) known.set(kind, final)
  const { body, etag, headers } = final
  return isCached(request, etag) ? new Response(null, { status: 304, headers }) : new Response(body, { headers })
}

async function render(now: SaleNow, phase: FinalPhase, call: Call): Promise<Final> {
  const isJson = wantsJson(call.request)
  // The response shows the moment at which the schedule took effect, so that every isolate and every data centre
  // sends the same bytes.
  const then = { ...now, atMs: now.schedule.server_time_ms }
  const view = isJson ? null : await viewOf(then, null, { kind: 'final', phase }, call, sharedLanguage(call))
  const goods = view ? view.goods : await goodsOf(now.sale, now.facts.goods_version, call)
  const text = view ? renderSale(view) : JSON.stringify(saleDocument(then, goods ?? null))
  const isWhole = Boolean(goods) || now.facts.goods_version === null
  const body = new TextEncoder().encode(text)
  const etag = await etagOf(body)
  const headers = new Headers({
    ...(view ? headersOf(view) : { ...PAGE_HEADERS, 'content-type': 'application/json' }),
    ...cacheHeaders(now.sale, isWhole ? CACHE_TTL.final : CACHE_TTL.landing),
    etag,
  })
  return { body, etag, headers, isWhole }
}
