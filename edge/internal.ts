/** What the origin calls, with the token that the edge shows it in turn. */
import { problem } from '../shared/problem.ts'
import { type Call, NO_STORE, problemAnswer } from './http.ts'
import { takeNews } from './known-sales.ts'
import { answerOf, roomOf } from './rpc.ts'

/** `POST /internal/sales/{sale}/refresh`: the origin says that something has changed. */
export async function refresh(sale: string, call: Call): Promise<Response> {
  const { request, config, env, nowMs } = call
  if (!(await sameText(request.headers.get('authorization') ?? '', `Bearer ${config.edgeToken}`)))
    return problemAnswer(problem('unauthorized'))
  const told = await answerOf(() => roomOf(sale, env).refresh({ sale }))
  if (!told) return problemAnswer(problem('try-again', { retry_after_seconds: 1 }))
  if (!told.known) return problemAnswer(problem('unknown-sale'))
  takeNews(sale, told.bulletin, nowMs)
  return new Response(null, { status: 204, headers: { 'cache-control': NO_STORE } })
}

/** Compares texts in a time that does not tell how much of them is alike. */
async function sameText(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return crypto.subtle.timingSafeEqual(await digest(a), await digest(b))
}
