/**
 * The Worker: every request to the edge comes in here, and here it is decided which of the other files answers it.
 * Read from top to bottom it is the list of what the edge can be asked.
 */

import * as v from 'valibot'
import { OrderId, SaleId } from '../shared/api/public.ts'
import { ProblemError, problem } from '../shared/problem.ts'
import { type Config, ConfigError, type Env, readConfig } from './config.ts'
import { type Call, isForeignForm, problemAnswer, seeOther, unkeptAnswer, wantsHtml } from './http.ts'
import { shown } from './pages/respond.ts'
import { onwards, protectedSite } from './protect/protect.ts'
import { asset } from './routes/assets.ts'
import { checkout, orders } from './routes/checkout.ts'
import { refresh } from './routes/internal.ts'
import { challenge, JOINED, join, leave, status } from './routes/queue.ts'
import { buyForm, orderForm, schedule, showOrder, showSale } from './routes/sale.ts'

export { TicketShard } from './queue/ticket-shard.ts'
export { WaitingRoom } from './queue/waiting-room.ts'

/** Read once per isolate: plain values, so that every request may use them. */
const configs = new WeakMap<Env, Config>()

export default {
  async fetch(request, env, ctx): Promise<Response> {
    let call: Call
    try {
      const config = configs.get(env) ?? (await readConfig(env))
      configs.set(env, config)
      const secure = config.production || request.url.startsWith('https:')
      call = { request, env, ctx, config, secure, nowMs: Date.now() }
    } catch (error) {
      return failed(error)
    }
    try {
      const ours = route(call)
      if (ours) return await shown(await ours, call)
      // The answers of a site that stands behind this Worker are passed on as they are.
      return await (protectedSite(call) ?? shown(notFound(), call))
    } catch (error) {
      return shown(failed(error), call)
    }
  },
} satisfies ExportedHandler<Env>

function failed(error: unknown): Response {
  if (error instanceof ProblemError) return problemAnswer(error.problem)
  console.error(JSON.stringify({ msg: 'a request failed', why: String(error) }))
  if (error instanceof ConfigError) return problemAnswer(problem('try-again', { retry_after_seconds: 60 }))
  return problemAnswer(problem('internal-error', { detail: 'You keep your place.', retry_after_seconds: 2 }))
}

/** Null for what is not ours to answer. */
function route(call: Call): Promise<Response> | Response | null {
  const path = pathOf(call.request.url)
  const { protect } = call.config
  const [, root, name = '', ...rest] = path.split('/', 8)
  switch (root) {
    case 'sales':
      if (protect && name !== protect.sale) break
      return saleRoute(name, rest, call)
    case 'orders':
      if (protect) break
      return orderRoute(path, name, rest, call)
    case 'assets': {
      const found = asset(path, call.config.brand.style)
      if (found) return only('GET', call, () => found)
      break
    }
    case '.well-known':
      if (path === '/.well-known/jwks.json') return only('GET', call, () => jwks(call))
      break
    case 'healthz':
      if (path === '/healthz')
        return only('GET', call, () => unkeptAnswer({ status: 'ok', kid: call.config.keys.kid }))
      break
    case 'internal':
      if (name === 'sales' && rest.length === 2 && rest[1] === 'refresh' && isSale(rest[0]))
        return only('POST', call, () => refresh(rest[0] ?? '', call))
      break
  }
  return null
}

function saleRoute(sale: string, rest: readonly string[], call: Call): Promise<Response> | Response {
  if (!isSale(sale)) return problemAnswer(problem('unknown-sale'))
  const { method } = call.request
  const [what, order, change] = rest
  const depth = rest.length
  const page = `/sales/${sale}`
  if (method !== 'GET' && method !== 'HEAD' && isForeignForm(call.request))
    return problemAnswer(problem('forbidden'))
  if (depth === 0) return only('GET', call, () => showSale(sale, call))
  if (depth === 1) {
    switch (what) {
      case 'queue':
        if (method === 'DELETE') return leave(sale, call)
        return formOf(page, call, () => form(sale, call, join, `${page}?${JOINED}`), 'POST, DELETE')
      case 'leave':
        return formOf(page, call, () => form(sale, call, leave, page))
      case 'schedule':
        return only('GET', call, () => schedule(sale, call))
      case 'checkout':
        return only('POST', call, () => checkout(sale, call))
      case 'challenge':
        return only('GET', call, () => challenge(sale, call))
      case 'wanted':
        return only('GET', call, () => onwards(sale, call))
      case 'buy':
        return formOf(page, call, () => buyForm(sale, call))
    }
  }
  if (depth === 2 && what === 'queue' && order === 'status')
    return only('GET', call, () => status(sale, call))
  if (what === 'order' && v.is(OrderId, order)) {
    if (depth === 2) return only('GET', call, () => showOrder(sale, order, call))
    if (depth === 3 && (change === 'payment' || change === 'cancel'))
      return formOf(`${page}/order/${order}`, call, () => orderForm(sale, order, change, call))
  }
  return notFound()
}

function orderRoute(path: string, order: string, rest: readonly string[], call: Call) {
  if (!v.is(OrderId, order)) return problemAnswer(problem('unknown-order'))
  if (isForeignForm(call.request)) return problemAnswer(problem('forbidden'))
  const [what] = rest
  if (rest.length === 0) {
    if (call.request.method === 'DELETE') return orders(path, order, call)
    return only('GET', call, () => orders(path, order, call), 'GET, DELETE')
  }
  if (rest.length === 1 && what === 'events') return only('GET', call, () => orders(path, order, call))
  if (rest.length === 1 && what === 'payment') return only('POST', call, () => orders(path, order, call))
  return notFound()
}

/** The address of a page's form, where somebody opens it as a page, is that page: it may stand in the address bar. */
function formOf(page: string, call: Call, answer: () => Promise<Response>, allow?: string) {
  if (call.request.method === 'GET' && wantsHtml(call.request)) return seeOther(page)
  return only('POST', call, answer, allow)
}

/** A plain form's answer is the page again. */
async function form(
  sale: string,
  call: Call,
  act: (sale: string, call: Call) => Promise<Response>,
  page: string,
) {
  const response = await act(sale, call)
  if (!wantsHtml(call.request) || response.status >= 400) return response
  return seeOther(page, response.headers.getSetCookie())
}

function jwks({ config: { keys } }: Call): Response {
  return new Response(keys.jwks, {
    headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' },
  })
}

/** Answers the one method there is, and says so to others. HEAD is GET without its body, which the runtime sees to. */
function only(
  method: 'GET' | 'POST',
  call: Call,
  answer: () => Promise<Response> | Response,
  allow: string = method,
): Promise<Response> | Response {
  const asked = call.request.method
  if (asked === method || (asked === 'HEAD' && method === 'GET')) return answer()
  const response = problemAnswer(problem('method-not-allowed'))
  response.headers.set('allow', allow.replace('GET', 'GET, HEAD'))
  return response
}

const notFound = () => problemAnswer(problem('not-found'))

const isSale = (name: string | undefined) => v.is(SaleId, name)

/** The path of a URL, without the cost of parsing the rest of it. */
function pathOf(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3)
  if (from === -1) return '/'
  const query = url.indexOf('?', from)
  return query === -1 ? url.slice(from) : url.slice(from, query)
}
