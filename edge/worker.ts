/**
 * The Worker: every request to the edge comes in here, and is led to the file that handles it. Read from top to bottom it
 * is the list of what the edge can be asked.
 */
import * as v from 'valibot'
import { LineId, lineOfRoom, roomName } from '../shared/api/access.ts'
import { OrderId, SaleId } from '../shared/api/public.ts'
import { type Problem, ProblemError, problem } from '../shared/problem.ts'
import { challenge, join, leave, status } from './admission/queue-api.ts'
import { health, jwks, purge, refresh } from './backend.ts'
import { withCacheRule } from './cache.ts'
import { type Call, isForeignForm, isScript, pathOf, refuse, seeOther, sendProblem, wantsHtml } from './call.ts'
import { checkout } from './checkout/checkout.ts'
import { buyForm, orderForm } from './checkout/order-forms.ts'
import { ownOrders, passOrder, showOrder, showPayment, showReceipt } from './checkout/own-orders.ts'
import { type Config, ConfigError, type Env, readConfig } from './config.ts'
import { asset } from './pages/assets.ts'
import { shown } from './pages/respond.ts'
import { preview } from './preview/preview.ts'
import { protectedSite, showWantedPage } from './protect/protect.ts'
import { announcements } from './sale/past-announcements.ts'
import { calendar, schedule, showSale } from './sale/sale-page.ts'
import { JOINED, joinAndShow, orAskAgain, showLine } from './sale/visitor-page.ts'

export { TicketShard } from './queue/ticket-shard.ts'
export { WaitingRoom } from './queue/waiting-room.ts'

/** Read once per isolate: plain values, so that every request may use them. */
const configs = new WeakMap<Env, Config>()

export default {
  async fetch(request, env, ctx): Promise<Response> {
    let config: Config
    try {
      config = configs.get(env) ?? (await readConfig(env))
      configs.set(env, config)
    } catch (error) {
      return sendProblem(problemOf(error, request))
    }
    const secure = config.production || request.url.startsWith('https:')
    const call: Call = { request, env, ctx, config, secure, nowMs: Date.now(), setCookies: [] }
    const response = await respond(call)
    for (const cookie of call.setCookies) response.headers.append('set-cookie', cookie)
    return response
  },
} satisfies ExportedHandler<Env>

async function respond(call: Call): Promise<Response> {
  try {
    const ours = route(call)
    if (ours) return withCacheRule(await shown(await ours, call), call)
    // The responses of a site behind this Worker are passed on as they are.
    return await (protectedSite(call) ?? refuse('not-found'))
  } catch (error) {
    return withCacheRule(await shown(sendProblem(problemOf(error, call.request)), call), call)
  }
}

function problemOf(error: unknown, { url }: Request): Problem {
  if (error instanceof ProblemError) return error.problem
  // Of a Host that is none, which Cloudflare does not let through.
  if (!URL.canParse(url)) return problem('invalid-request')
  console.error(JSON.stringify({ msg: 'request failed', why: String(error) }))
  if (error instanceof ConfigError) return problem('try-again', { retry_after_seconds: 60 })
  return problem('internal-error', { detail: 'You keep your place.', retry_after_seconds: 2 })
}

type Handled = Promise<Response> | Response

/** Null for what is not ours. */
function route(call: Call): Handled | null {
  const path = pathOf(call.request.url)
  const { protect } = call.config
  const [, root, name = '', ...rest] = path.split('/', 8)
  switch (root) {
    case 'sales':
      return protect && name !== protect.PROTECT_SALE ? null : saleRoute(name, rest, call)
    case 'orders':
      return protect ? null : orderRoute(path, name, rest, call)
    case 'assets': {
      const found = asset(path, call.config.brand.style)
      return found && only('GET', call, () => found)
    }
    case '.well-known':
      return path === '/.well-known/jwks.json' ? only('GET', call, () => jwks(call)) : null
    case 'healthz':
      return path === '/healthz' ? only('GET', call, () => health(call)) : null
    case 'internal': {
      const [sale = '', what] = rest
      if (name !== 'sales' || rest.length !== 2) return null
      if (what === 'refresh' && isRoom(sale)) return only('POST', call, () => refresh(sale, call))
      return what === 'purge' && v.is(SaleId, sale) ? only('POST', call, () => purge(sale, call)) : null
    }
    default:
      return null
  }
}

/** The sale's own, or that of another line. */
function isRoom(name: string): boolean {
  const { sale, line } = lineOfRoom(name)
  return v.is(SaleId, sale) && v.is(LineId, line) && roomName(sale, line) === name
}

function saleRoute(sale: string, rest: readonly string[], call: Call): Handled {
  if (!v.is(SaleId, sale)) refuse('unknown-sale')
  const { method } = call.request
  if (method !== 'GET' && method !== 'HEAD' && isForeignForm(call.request)) refuse('forbidden')
  // A site behind the line has a checkout of its own.
  if (call.config.protect && /^(checkout|buy|orders?)$/.test(rest[0] ?? '')) refuse('not-found')
  const page = `/sales/${sale}`
  const line = `${page}/line`
  switch (rest.join('/')) {
    case '':
      return rest.length === 0 ? only('GET', call, () => showSale(sale, call)) : refuse('not-found')
    case 'line':
      return only('GET', call, () => showLine(sale, call))
    case 'queue':
      if (method === 'DELETE') return leave(sale, call)
      return formOf(page, call, () => joinOf(sale, `${line}?${JOINED}`, call), 'POST, DELETE')
    case 'queue/status':
      return only('GET', call, () => status(sale, call))
    case 'leave':
      return formOf(page, call, () => thenPage(leave(sale, call), page, call))
    case 'schedule':
      return only('GET', call, () => schedule(sale, call))
    case 'announcements':
      return only('GET', call, () => announcements(sale, call))
    case 'opening.ics':
      return only('GET', call, () => calendar(sale, call))
    case 'checkout':
      return only('POST', call, () => checkout(sale, call))
    case 'challenge':
      return only('GET', call, () => challenge(sale, call))
    case 'wanted':
      return only('GET', call, () => showWantedPage(sale, call))
    case 'orders':
      return only('GET', call, () => ownOrders(sale, call))
    case 'buy':
      return formOf(line, call, () => buyForm(sale, call))
  }
  const [what, order, change, ...more] = rest
  if (what === 'preview' && change === undefined) return only('GET', call, () => preview(sale, order, call))
  if (what !== 'order' || !v.is(OrderId, order) || more.length > 0) return refuse('not-found')
  if (change === undefined) return only('GET', call, () => showOrder(sale, order, call))
  if (change === 'pay') return only('GET', call, () => showPayment(sale, order, call))
  if (change === 'receipt') return only('GET', call, () => showReceipt(sale, order, call))
  if (change !== 'payment' && change !== 'cancel') return refuse('not-found')
  return formOf(`${page}/order/${order}`, call, () => orderForm(sale, order, change, call))
}

function orderRoute(path: string, order: string, rest: readonly string[], call: Call): Handled {
  if (!v.is(OrderId, order)) refuse('unknown-order')
  if (isForeignForm(call.request)) refuse('forbidden')
  const pass = () => passOrder(path, order, call)
  switch (rest.join('/')) {
    case '':
      if (rest.length > 0) break
      return call.request.method === 'DELETE' ? pass() : only('GET', call, pass, 'GET, DELETE')
    case 'events':
      return only('GET', call, pass)
    case 'payment':
      return only('POST', call, pass)
  }
  return refuse('not-found')
}

/** A page's form. Its address, opened as a page, leads to that page, since it may be left in the address bar. */
function formOf(page: string, call: Call, handle: () => Promise<Response>, allow?: string): Handled {
  if (call.request.method === 'GET' && wantsHtml(call.request)) return seeOther(page)
  return only('POST', call, handle, allow)
}

/** A page's script shows its response, a plain form leads to a page, and every other client has JSON. */
function joinOf(sale: string, page: string, call: Call): Promise<Response> {
  if (!wantsHtml(call.request)) return join(sale, call)
  const joined = isScript(call.request) ? joinAndShow(sale, call) : thenPage(join(sale, call), page, call)
  return orAskAgain(sale, call, joined)
}

/** What is done by a plain form leads to a page. */
async function thenPage(done: Promise<Response>, page: string, call: Call): Promise<Response> {
  const response = await done
  return wantsHtml(call.request) ? seeOther(page) : response
}

/** Handles one method and refuses others. HEAD is GET without its body, which the runtime drops. */
function only(method: 'GET' | 'POST', call: Call, handle: () => Handled, allow: string = method): Handled {
  const asked = call.request.method
  if (asked === method || (asked === 'HEAD' && method === 'GET')) return handle()
  const response = sendProblem(problem('method-not-allowed'))
  response.headers.set('allow', allow.replace('GET', 'GET, HEAD'))
  return response
}
