/** Every route of the edge, as data: what can be asked of it, and what handles it. */
import { METHOD_NAME_ALL } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'
import * as v from 'valibot'
import { LineId, queueName, saleAndLineOf } from '../shared/api/access.ts'
import { OrderId, SaleId } from '../shared/api/fields.ts'
import { SectionId } from '../shared/api/public.ts'
import { problem } from '../shared/problem.ts'
import { beacon } from './beacon/beacon.ts'
import { checkout, totals } from './checkout/checkout.ts'
import { handOver } from './checkout/handover.ts'
import { buyForm, cancelForm, paymentForm } from './checkout/order-forms.ts'
import { ownOrders, passOrder, showOrder, showPayment, showReceipt } from './checkout/own-orders.ts'
import { feed, feedPage, postsPage } from './feed/feed.ts'
import { showFront } from './front/front.ts'
import { ordersOfAll } from './front/own-orders.ts'
import { ownSearches, search, searchIndex, suggest } from './front/search.ts'
import {
  apiReference,
  faviconFile,
  openApiDocument,
  problemType,
  robots,
  securityText,
  sitemap,
} from './front/site-files.ts'
import { brandStyle } from './goods/brand-style.ts'
import { goods } from './goods/goods.ts'
import { image } from './goods/images.ts'
import { availability, chart, followSections, seatOffer, seatsPage, sections } from './hall/hall.ts'
import { type Call, pathOf, refuse, seeOther, sendProblem, wantsHtml } from './http/call.ts'
import { isForeignForm, preflight } from './http/cors.ts'
import { sitesOf } from './http/sites.ts'
import { mailedPage, requestMail, stopMail } from './messages/mail.ts'
import { endPush, requestPush } from './messages/push.ts'
import { asset } from './pages/assets.ts'
import { preview, previewDraft } from './preview/preview.ts'
import { cfWaitingRoom } from './protect/cf-waiting-room.ts'
import { showWantedPage } from './protect/protect.ts'
import { deletePlaces, handoverJwks, health, jwks, purge, refresh, showPlaces } from './queue/backend.ts'
import { shopError } from './queue-it/error-page.ts'
import { debugAddress, pullIntegration, pushIntegration } from './queue-it/integration.ts'
import { enqueue } from './queue-it/mobile.ts'
import { cancelAll, cancelOne, showError, showRoom } from './queue-it/room.ts'
import { challenge, join, leave, leaveForm, status } from './sale/queue-api.ts'
import { calendar, eventDate, schedule, scheduleForOrigin, showSale } from './sale/sale-page.ts'
import { showLine } from './sale/visitor-page.ts'
import { beginSigningIn, endSigningIn, signOut } from './sign-in/sign-in.ts'

/** What a path names, by its pattern. */
type Params = Readonly<
  Record<
    | ('sale' | 'section' | 'order' | 'queue' | 'state' | 'page' | 'image' | 'file' | 'mac' | 'type' | 'visitor')
    | ('customer' | 'named' | 'event' | 'place' | 'cause'),
    string
  >
>

/** Null for what is not ours after all. */
type Handler = (params: Params, call: Call) => Promise<Response> | Response | null
type Method = 'GET' | 'POST' | 'DELETE'

interface Route {
  readonly methods: Partial<Record<Method, Handler>>
  /** The page that a form belongs to: the form's address, left in the address bar and opened as a page, leads there. */
  readonly page?: (params: Params) => string
  /** What buyers call. A site behind this Worker has a checkout of its own. */
  readonly forBuyers?: true
  /** True for the routes by which visitors sign in, which exist only where the shop has an issuer. */
  readonly forIssuer?: true
}

const saleRoute = (handle: (sale: string, call: Call) => Promise<Response> | Response): Handler => {
  return ({ sale }, call) => handle(sale, call)
}
const orderRoute = (handle: (sale: string, order: string, call: Call) => Promise<Response>): Handler => {
  return ({ sale, order }, call) => handle(sale, order, call)
}
const sectionRoute = (handle: (sale: string, section: string, call: Call) => Promise<Response>): Handler => {
  return ({ sale, section }, call) => handle(sale, section, call)
}
const searches: Handler = (_, call) => ownSearches(call)
const passOrderCall: Handler = ({ order }, call) => passOrder(order, call)

const get = (GET: Handler): Route => ({ methods: { GET } })
const post = (POST: Handler): Route => ({ methods: { POST } })
const form = (POST: Handler, page: (params: Params) => string): Route => ({ methods: { POST }, page })
const buyers = (route: Route): Route => ({ ...route, forBuyers: true })
const issuers = (route: Route): Route => ({ ...route, forIssuer: true })

const salePage = ({ sale }: Params) => `/sales/${sale}`
const linePage = ({ sale }: Params) => `/sales/${sale}/line`
const orderPage = ({ sale, order }: Params) => `/sales/${sale}/order/${order}`

export const ROUTES: Readonly<Record<string, Route>> = {
  '/sales/:sale': get(saleRoute(showSale)),
  '/sales/:sale/line': get(saleRoute(showLine)),
  '/sales/:sale/schedule': get(saleRoute(schedule)),
  '/sales/:sale/feed': get(saleRoute(feed)),
  '/sales/:sale/feed/:page': get(({ sale, page }, call) => feedPage(sale, Number(page), call)),
  '/sales/:sale/posts': get(({ sale }, call) => postsPage(sale, null, call)),
  '/sales/:sale/posts/:page': get(({ sale, page }, call) => postsPage(sale, Number(page), call)),
  '/sales/:sale/sections': get(saleRoute(sections)),
  '/sales/:sale/chart': get(saleRoute(chart)),
  '/sales/:sale/goods': get(saleRoute(goods)),
  '/sales/:sale/sections/:section/availability': get(sectionRoute(availability)),
  '/sales/:sale/brand.css': get(saleRoute(brandStyle)),
  '/sales/:sale/opening.ics': get(saleRoute(calendar)),
  '/sales/:sale/event.ics': get(saleRoute(eventDate)),
  '/sales/:sale/wanted': get(saleRoute(showWantedPage)),
  '/sales/:sale/preview': get(({ sale }, call) => preview(sale, undefined, call)),
  '/sales/:sale/preview/:state': get(({ sale, state }, call) => preview(sale, state, call)),

  '/sales/:sale/queue': { methods: { POST: saleRoute(join), DELETE: saleRoute(leave) }, page: salePage },
  '/sales/:sale/queue/status': get(saleRoute(status)),
  '/sales/:sale/cf-waiting-room': get(saleRoute(cfWaitingRoom)),
  '/sales/:sale/challenge': get(saleRoute(challenge)),
  '/sales/:sale/mail': { methods: { GET: saleRoute(mailedPage), POST: saleRoute(requestMail) } },
  '/sales/:sale/push': { methods: { POST: saleRoute(requestPush), DELETE: saleRoute(endPush) } },
  '/sales/:sale/views': post(saleRoute(beacon)),
  '/sales/:sale/leave': form(saleRoute(leaveForm), salePage),

  '/sales/:sale/sections/:section/seats': buyers(get(sectionRoute(seatsPage))),
  '/sales/:sale/seats/offer': buyers(post(saleRoute(seatOffer))),
  '/sales/:sale/sections/updates': buyers(get(saleRoute(followSections))),
  '/sales/:sale/checkout': buyers(post(saleRoute(checkout))),
  '/sales/:sale/totals': buyers(post(saleRoute(totals))),
  '/sales/:sale/orders': buyers(get(saleRoute(ownOrders))),
  '/sales/:sale/buy': buyers(form(saleRoute(buyForm), linePage)),
  '/sales/:sale/order/:order': buyers(get(orderRoute(showOrder))),
  '/sales/:sale/order/:order/pay': buyers(get(orderRoute(showPayment))),
  '/sales/:sale/order/:order/receipt': buyers(get(orderRoute(showReceipt))),
  '/sales/:sale/order/:order/handover': buyers(get(orderRoute(handOver))),
  '/sales/:sale/order/:order/payment': buyers(form(orderRoute(paymentForm), orderPage)),
  '/sales/:sale/order/:order/cancel': buyers(form(orderRoute(cancelForm), orderPage)),
  '/orders/:order': buyers({ methods: { GET: passOrderCall, DELETE: passOrderCall } }),
  '/orders/:order/events': buyers(get(passOrderCall)),
  '/orders/:order/payment': buyers(post(passOrderCall)),

  // Before another site these paths are that site's.
  '/': buyers(get((_, call) => showFront(call))),
  '/views': buyers(post((_, call) => beacon(null, call))),
  '/search': buyers(get((_, call) => search(call))),
  '/search/suggest': buyers(get((_, call) => suggest(call))),
  '/search/index': buyers(get((_, call) => searchIndex(call))),
  '/me/orders': buyers(get((_, call) => ordersOfAll(call))),
  '/robots.txt': buyers(get((_, call) => robots(call))),
  '/sitemap.xml': buyers(get((_, call) => sitemap(call))),
  '/.well-known/security.txt': buyers(get((_, call) => securityText(call))),
  '/favicon.ico': buyers(get(faviconFile)),
  '/openapi.json': buyers(get(openApiDocument)),
  '/api': buyers(get(apiReference)),
  '/problems/:type': buyers(get(({ type }, call) => problemType(type, call))),
  '/me/searches': buyers({ methods: { GET: searches, POST: searches, DELETE: searches } }),

  '/me/sign-in': issuers(get((_, call) => beginSigningIn(call))),
  '/me/signed-in': issuers(get((_, call) => endSigningIn(call))),
  '/me/sign-out': issuers(
    form(
      (_, call) => signOut(call),
      () => '/',
    ),
  ),

  '/mail/stop/:order/:mac': {
    methods: {
      GET: ({ order, mac }, call) => stopMail(order, mac, call),
      POST: ({ order, mac }, call) => stopMail(order, mac, call),
    },
  },

  '/q/:customer': get(({ customer }, call) => showRoom(customer, call)),
  '/q/:customer/': get(({ customer }, call) => showRoom(customer, call)),
  '/q/:customer/error/:cause/': get(({ customer, cause }, call) => showError(customer, cause, call)),
  '/q/:customer/error/connector/:cause/': get(({ customer, cause }, call) => showError(customer, cause, call)),
  '/q/:customer/cancel/multiple/:named': get(({ customer, named }, call) => cancelAll(customer, named, call)),
  '/q/:customer/cancel/:named/:event/:place': get((of, call) => cancelOne(of, call)),
  '/q/:customer/api/mobileapp/queue/:named/:event/enqueue': post((of, call) => enqueue(of, call)),
  '/q/:customer/debug': get(({ customer }, call) => debugAddress(customer, call)),
  '/q/:customer/push': post(({ customer }, call) => pushIntegration(customer, call)),
  '/status/integrationconfig/secure/:customer': get(({ customer }, call) => pullIntegration(customer, call)),
  '/sales/:sale/shop-error/:cause': get(({ sale, cause }, call) => shopError(sale, cause, call)),

  '/images/:image': get((_, call) => image(call)),
  '/images/:image/:file': get((_, call) => image(call)),
  '/assets/:file': get((_, call) => asset(pathOf(call.request.url), call.config.brand.style)),
  '/.well-known/jwks.json': get((_, call) => jwks(call)),
  '/.well-known/handover-keys.json': get((_, call) => handoverJwks(call)),
  '/healthz': get((_, call) => health(call)),
  '/internal/sales/:queue/refresh': post(({ queue }, call) => refresh(queue, call)),
  '/internal/sales/:sale/schedule': get(saleRoute(scheduleForOrigin)),
  '/internal/sales/:sale/purge': post(saleRoute(purge)),
  '/internal/sales/:sale/visitors/:visitor': {
    methods: {
      GET: ({ sale, visitor }, call) => showPlaces(sale, decodeURIComponent(visitor), call),
      DELETE: ({ sale, visitor }, call) => deletePlaces(sale, decodeURIComponent(visitor), call),
    },
  },
  '/internal/sales/:sale/preview/:state': post(({ sale, state }, call) => previewDraft(sale, state, call)),
}

// -- Finding the route of a request ----------------------------------------------------------------------------------

/** The response to a request; null for what is not ours. Throws the problem of a request that no route takes. */
export function handle(call: Call): Promise<Response> | Response | null {
  const { request, config } = call
  const path = withoutNeedlessEscapes(pathOf(request.url))
  const [, root, name = ''] = path.split('/', 3)
  const isOfSale = root === 'sales'
  const isOfOrder = root === 'orders'
  const { method } = request
  // Before other sites only their sales are ours.
  const sites = config.protect ? sitesOf(config.protect, new URL(request.url).host) : []
  const isBeforeSite = sites.length > 0
  if (isBeforeSite && (isOfOrder || (isOfSale && !sites.some(({ sale }) => sale === name)))) return null
  if (isOfSale && !isValid.sale(name)) refuse('unknown-sale')
  if (isOfOrder && !isValid.order(name)) refuse('unknown-order')
  const isRead = method === 'GET' || method === 'HEAD'
  if ((isOfOrder || (isOfSale && !isRead)) && isForeignForm(call)) refuse('forbidden')
  const match = matchOf(path, isOfSale ? 'sale' : isOfOrder ? 'order' : null)
  const isAbsent = !match || (isBeforeSite && match.route.forBuyers) || (!config.oidc && match.route.forIssuer)
  if (isAbsent) return isOfSale || isOfOrder ? refuse('not-found') : null
  const { route, params } = match
  if (route.page && method === 'GET' && wantsHtml(request)) return seeOther(route.page(params))
  // HEAD is GET without its body, which the runtime drops.
  const handler = route.methods[method === 'HEAD' ? 'GET' : (method as Method)]
  return handler ? handler(params, call) : (preflight(Object.keys(route.methods), call) ?? refuseMethod(route, call))
}

const UNRESERVED = /%(2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi

/** `/sales/%64emo` is `/sales/demo`: escaped letters, digits and `-._~` mean the same (RFC 3986, 6.2.2.2). */
function withoutNeedlessEscapes(path: string): string {
  if (!path.includes('%')) return path
  return path.replace(UNRESERVED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

function refuseMethod({ methods }: Route, call: Call): Response {
  const response = sendProblem(problem('method-not-allowed'), call)
  response.headers.set('allow', Object.keys(methods).join(', ').replace('GET', 'GET, HEAD'))
  return response
}

const isAnything = () => true
/** Three characters for each byte of a token's subject. */
const MAX_VISITOR = 600
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
const isValid: Readonly<Record<keyof Params, (text: string) => boolean>> = {
  sale: (text) => v.is(SaleId, text),
  section: (text) => v.is(SectionId, text),
  order: (text) => v.is(OrderId, text),
  queue: (text) => {
    const { sale, line } = saleAndLineOf(text)
    return v.is(SaleId, sale) && v.is(LineId, line) && queueName(sale, line) === text
  },
  state: isAnything,
  page: (text) => /^[1-9]\d{0,5}$/.test(text),
  // Any other name belongs to the site behind this Worker.
  image: (text) => /^[0-9a-f]{32}$/.test(text),
  file: isAnything,
  type: isAnything,
  mac: (text) => /^[\w-]{43}$/.test(text),
  customer: isAnything,
  named: isAnything,
  event: isAnything,
  place: isAnything,
  cause: isAnything,
  visitor: (text) => text.length <= MAX_VISITOR && isDecodable(text),
}

const router = new TrieRouter<Route>()
for (const [pattern, route] of Object.entries(ROUTES)) router.add(METHOD_NAME_ALL, pattern, route)

/** No route has more segments. */
const MAX_SEGMENTS = 9

/** The route of a path, and what its names name; `validated` is valid already. */
function matchOf(path: string, validated: keyof Params | null): { route: Route; params: Params } | null {
  if (path.split('/', MAX_SEGMENTS + 1).length > MAX_SEGMENTS) return null
  const [[found]] = router.match(METHOD_NAME_ALL, path) as [[Route, Params][]]
  if (!found) return null
  const [route, params] = found
  const names = Object.keys(params) as (keyof Params)[]
  return names.every((name) => name === validated || isValid[name](params[name])) ? { route, params } : null
}
