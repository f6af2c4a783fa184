/**
 * Final answers: sold out, and ended. They are the same for all and come from memory: no object and no origin is asked for
 * them, and others may keep them.
 */
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Schedule } from '../../shared/schedule.ts'
import { type Call, isKnown, wantsJson } from '../http.ts'
import { renderSale } from '../pages/index.ts'
import { languageOf, PAGE_HEADERS, publicSale, viewOf } from '../pages/respond.ts'
import type { SaleNow } from '../queue/sale-cache.ts'

/** How long others may keep a final answer. */
const FINAL_MAX_AGE_SECONDS = 30

/** What a great many ask for is kept as the runtime wants it: an object of headers or a string it takes apart each time. */
interface FinalAnswer {
  readonly body: Uint8Array
  readonly etag: string
  readonly headers: Headers
}

/** For each schedule that is final, its answers: the page by its language, and the document. */
const finalAnswers = new WeakMap<Schedule, Map<string, FinalAnswer>>()

export async function finalAnswer(
  sale: string,
  phase: 'sold_out' | 'ended',
  now: SaleNow,
  call: Call,
): Promise<Response> {
  const { request } = call
  let answers = finalAnswers.get(now.schedule)
  if (!answers) {
    answers = new Map()
    finalAnswers.set(now.schedule, answers)
  }
  const kind = wantsJson(request) ? 'json' : languageOf(request)
  let answer = answers.get(kind)
  if (!answer) {
    const html = kind !== 'json'
    // As of the moment it took effect, so that every isolate and every data centre says the same, byte for byte.
    const then = { ...now, atMs: now.schedule.server_time_ms }
    const view = () => viewOf(sale, then, null, { kind: 'final', phase }, call)
    const text = html ? renderSale(view()) : JSON.stringify(publicSale(then))
    const body = new TextEncoder().encode(text)
    const digest = await crypto.subtle.digest('SHA-256', body)
    const etag = `"${bytesToHex(new Uint8Array(digest)).slice(0, 32)}"`
    const headers = new Headers({
      ...PAGE_HEADERS,
      ...(html ? {} : { 'content-type': 'application/json' }),
      'cache-control': `public, max-age=${FINAL_MAX_AGE_SECONDS}`,
      etag,
    })
    answer = { body, etag, headers }
    answers.set(kind, answer)
  }
  const { body, etag, headers } = answer
  return isKnown(request, etag)
    ? new Response(null, { status: 304, headers })
    : new Response(body, { headers })
}
