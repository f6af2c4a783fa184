/**
 * Final responses: sold out, and ended. They are the same for all and come from memory: no object and no origin is asked for
 * them, and the cache before the Worker keeps them.
 */
import type { Schedule } from '../../shared/schedule.ts'
import { CACHE_TTL, cacheHeaders } from '../cache.ts'
import { type Call, etagOf, isCached, wantsJson } from '../call.ts'
import { renderSale } from '../pages/index.ts'
import { headersOf, PAGE_HEADERS, viewOf } from '../pages/respond.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { keepLanguage, sharedLanguage } from '../visitor/language.ts'
import { goodsOf } from './goods.ts'
import { saleDocument } from './sale-document.ts'

type FinalPhase = 'sold_out' | 'ended'

/** As the runtime wants it: an object of headers or a string it takes apart for each of a great many requests. */
interface Final {
  readonly body: Uint8Array
  readonly etag: string
  readonly headers: Headers
  /** Without the goods that it should show, it is not kept for as long. */
  readonly isWhole: boolean
}

/** For each final schedule: the page by its language, and the document. */
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
  // As of the moment it took effect, so that every isolate and every data centre responds the same, byte for byte.
  const then = { ...now, atMs: now.schedule.server_time_ms }
  const view = isJson ? null : await viewOf(then, null, { kind: 'final', phase }, call, sharedLanguage(call))
  const goods = view ? view.goods : await goodsOf(now.sale, now.facts.goods_version, call)
  const text = view ? renderSale(view) : JSON.stringify(saleDocument(then, goods ?? null))
  const isWhole = Boolean(goods) || (now.facts.goods_version ?? null) === null
  const body = new TextEncoder().encode(text)
  const etag = await etagOf(body)
  const headers = new Headers({
    ...(view ? headersOf(view) : { ...PAGE_HEADERS, 'content-type': 'application/json' }),
    ...cacheHeaders(now.sale, isWhole ? CACHE_TTL.final : CACHE_TTL.landing),
    etag,
  })
  return { body, etag, headers, isWhole }
}
