/**
 * Final responses: sold out, and ended. They are the same for all and come from memory: no object and no origin is asked for
 * them, and the cache before the Worker keeps them.
 */
import type { Schedule } from '../../shared/schedule.ts'
import { CACHE_TTL, cacheHeaders } from '../cache.ts'
import { type Call, etagOf, isCached, wantsJson } from '../call.ts'
import { renderSale } from '../pages/index.ts'
import { languageOf, PAGE_HEADERS, publicSale, viewOf } from '../pages/respond.ts'
import type { SaleNow } from '../queue/sale-cache.ts'

type FinalPhase = 'sold_out' | 'ended'

/** As the runtime wants it: an object of headers or a string it takes apart for each of a great many requests. */
interface Final {
  readonly body: Uint8Array
  readonly etag: string
  readonly headers: Headers
}

/** For each final schedule: the page by its language, and the document. */
const finals = new WeakMap<Schedule, Map<string, Final>>()

export async function finalResponse(now: SaleNow, phase: FinalPhase, call: Call): Promise<Response> {
  const { request } = call
  const known = finals.get(now.schedule) ?? new Map<string, Final>()
  finals.set(now.schedule, known)
  const kind = wantsJson(request) ? 'json' : languageOf(request)
  const final = known.get(kind) ?? (await render(now, phase, call))
  known.set(kind, final)
  const { body, etag, headers } = final
  return isCached(request, etag) ? new Response(null, { status: 304, headers }) : new Response(body, { headers })
}

async function render(now: SaleNow, phase: FinalPhase, call: Call): Promise<Final> {
  const isJson = wantsJson(call.request)
  // As of the moment it took effect, so that every isolate and every data centre responds the same, byte for byte.
  const then = { ...now, atMs: now.schedule.server_time_ms }
  const text = isJson
    ? JSON.stringify(publicSale(then))
    : renderSale(viewOf(then, null, { kind: 'final', phase }, call))
  const body = new TextEncoder().encode(text)
  const etag = await etagOf(body)
  const headers = new Headers({
    ...PAGE_HEADERS,
    ...(isJson && { 'content-type': 'application/json' }),
    ...cacheHeaders(now.sale, CACHE_TTL.final),
    etag,
  })
  return { body, etag, headers }
}
