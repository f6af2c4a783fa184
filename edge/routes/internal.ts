/** What the origin calls, with the token that the edge shows it in turn. */
import { timingSafeEqual } from 'hono/utils/buffer'
import { problem } from '../../shared/problem.ts'
import { type Call, NO_STORE, problemAnswer } from '../http.ts'
import { roomOf, withRetries } from '../queue/rpc.ts'
import { storeSnapshot } from '../queue/sale-cache.ts'

/** `POST /internal/sales/{sale}/refresh`: the origin says that something has changed. */
export async function refresh(sale: string, call: Call): Promise<Response> {
  const { request, config, env, nowMs } = call
  if (!(await timingSafeEqual(request.headers.get('authorization') ?? '', `Bearer ${config.edgeToken}`)))
    return problemAnswer(problem('unauthorized'))
  const response = await withRetries(() => roomOf(sale, env).refresh({ sale }))
  if (response?.known === false && response.reason === 'unknown-sale')
    return problemAnswer(problem('unknown-sale'))
  if (!response?.known) return problemAnswer(problem('try-again', { retry_after_seconds: 1 }))
  storeSnapshot(sale, response.bulletin, nowMs)
  return new Response(null, { status: 204, headers: { 'cache-control': NO_STORE } })
}
