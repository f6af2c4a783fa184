/**
 * A stand-in for the whole system that answers each request of a crowd at once, from memory: what a crowd waits for
 * then is its own. It counts units, and is strict in nothing else: tokens are not checked, nothing is written, and the
 * position of a place is its number. Responses have about the sizes and headers of ours.
 *
 *     PUT /   {"opensAtMs": 1796063871000, "rate": 200, "stock": 100, "holdMs": 12000}   begins the sale
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { LOOPBACK } from '../../../dev/lib/loopback.ts'
import { PAYMENT_ATTEMPTS } from '../../../shared/api/order-status.ts'
import { nextReadMs } from '../../../shared/next-read.ts'
import { placeOf, pollAfterMs, type Schedule, serving, servingExactly } from '../../../shared/schedule.ts'
import { sampleSchedule } from '../../../shared/testing/sample-schedule.ts'

/** The terms of the sale, with the opening on this machine's clock. */
export interface Terms {
  readonly opensAtMs: number
  readonly rate: number
  readonly stock: number
  readonly holdMs: number
}

const port = Number(process.env.PORT)
const url = `http://${LOOPBACK}:${port}`

// -- Responses ------------------------------------------------------------------------------------------------------

type Headers = readonly string[]

const HEADERS_OF_PAGES = ['content-security-policy', `default-src 'none'; ${'x'.repeat(180)}`, 'vary', 'accept']
const FRESH = ['cache-control', 'public, max-age=1']
const PUBLIC = [...FRESH, 'cdn-cache-control', 'public, max-age=1, stale-while-revalidate=25']
const OWN = ['cache-control', 'no-store']
const BANK_SECONDS = 12

const filled = (bytes: number, marks = '') => `<!doctype html>${marks}<p>${'x'.repeat(bytes)}</p>`
const SALE_PAGE = filled(14_300)
const FINAL_PAGE = filled(6_300, '<i id="final">')
const FRONT_PAGE = filled(4_300, '<i data-index="/search/index?v=1">')
const SEARCH_PAGE = filled(4_000)
const OWN_PAGE = filled(13_500)
const TURN_PAGE = filled(8_500)
const ORDER_PAGE = filled(7_000)
const FOUND = JSON.stringify({ query: 'rehearsal', results: [{ title: 'Rehearsal', snippet: 'x'.repeat(400) }] })

/** Every place, turn and order has the same token, which is as long as ours; a place has its number in front. */
const expiresAtMs = Date.now() + 86_400_000
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const claims = encoded({ sub: 'x'.repeat(120), exp: expiresAtMs / 1000 })
const TOKEN = `${encoded({ alg: 'HS256' })}.${claims}.${'x'.repeat(43)}`
const cookie = (name: string, value = TOKEN) => ['set-cookie', `${name}=${value}; Max-Age=300; Path=/; HttpOnly`]

function send(response: ServerResponse, status: number, type: string, body: string, headers: Headers) {
  response.sendDate = false
  response.writeHead(status, ['content-type', type, 'content-length', String(body.length), ...headers])
  response.end(body, 'latin1')
}
const page = (response: ServerResponse, status: number, body: string, headers: Headers) =>
  send(response, status, 'text/html; charset=utf-8', body, [...HEADERS_OF_PAGES, ...headers])
const json = (response: ServerResponse, status: number, body: string, headers: Headers = OWN) =>
  send(response, status, 'application/json', body, headers)
const problem = (response: ServerResponse, status: number, type: string, headers: Headers = OWN) =>
  json(response, status, `{"type":"/problems/${type}","status":${status}}`, headers)

const wantsPage = ({ headers: { accept = '' } }: IncomingMessage) => accept.startsWith('text/html')

// -- The line -------------------------------------------------------------------------------------------------------

let terms: Terms = { opensAtMs: Number.POSITIVE_INFINITY, rate: 0, stock: 0, holdMs: 0 }
let [issued, available, sold] = [0, 0, 0]
/** There is a turn for each unit, and another one for each that comes back. */
let line = { anchor_at_ms: 0, anchor_position: 0, rate_per_second: 0, ceiling: 0 }
const isOver = () => sold === terms.stock

function scheduleAt(nowMs: number): Schedule {
  const isOpen = nowMs >= terms.opensAtMs
  const phase = !isOpen ? 'pre_queue' : isOver() ? 'sold_out' : available === 0 ? 'all_in_carts' : 'open'
  const openedAgoMs = isOpen ? nowMs - terms.opensAtMs : null
  const prospect = { unitsLeft: terms.stock - sold, paidPerSecond: terms.rate, announcedAgoMs: null, openedAgoMs }
  return sampleSchedule({
    ...line,
    version: line.ceiling + (isOpen ? 1 : 0),
    phase,
    next_read_ms: nextReadMs({ phase, ...prospect }),
    // The draw is empty, so that positions are numbers.
    pre_queue_size: 0,
    products: [{ product_id: 'unit', available }],
    server_time_ms: nowMs,
    ...(!isOpen && { draw_seed: null }),
  })
}

/** A place as a program sees it. */
function placeText(number: number, nowMs: number, token?: string): string {
  const place = placeOf(scheduleAt(nowMs), number, nowMs)
  const pollMs = pollAfterMs(place, Math.random())
  const turn = { admission_token: TOKEN, admission_expires_at: new Date(expiresAtMs).toISOString() }
  return JSON.stringify({
    ...{ ...place, line: 'public', number, queue_token: token },
    poll_after_ms: Number.isFinite(pollMs) ? pollMs : 0,
    ...(place.status === 'ready' && turn),
  })
}

function join(request: IncomingMessage, response: ServerResponse, sale: string) {
  if (isOver()) return problem(response, 410, 'sold-out')
  const nowMs = Date.now()
  const number = ++issued
  const token = `${number}.${TOKEN}`
  if (!wantsPage(request)) return json(response, 201, placeText(number, nowMs, token))
  const turn = number <= serving(line, nowMs) ? cookie(`admission-${sale}`) : []
  const cookies = [...cookie('visitor-secret', 'x'.repeat(45)), ...cookie(`queue-${sale}`, token), ...turn]
  page(response, 201, `<i data-number="${number}">${OWN_PAGE}`, [...OWN, ...cookies])
}

// -- Orders ---------------------------------------------------------------------------------------------------------

interface Order {
  readonly id: string
  readonly reservedAtMs: number
  status: 'reserved' | 'paying' | 'confirmed' | 'cancelled' | 'expired'
  payment: 'processing' | 'requires_action' | 'declined' | 'succeeded' | null
  attemptsLeft: number
  reason?: string | undefined
  /** The stream of a buyer whose payment gets no response. */
  stream?: ServerResponse
}

const orders: Order[] = []
/** The index of the oldest order whose hold may still end. */
let oldest = 0

function orderText({ id, status, reason, payment, attemptsLeft }: Order): string {
  const action = payment === 'requires_action' ? { type: 'redirect', url: `${url}/bank/${id}` } : undefined
  const progress = { attempts_left: attemptsLeft, expires_in_seconds: BANK_SECONDS, next_action: action }
  const shown = payment && { status: payment, ...progress }
  const about = { currency: 'EUR', total_minor: 4900, lines: [], more: 'x'.repeat(400) }
  return JSON.stringify({ order_id: id, status, reason, payment: shown, ...about })
}

function show(request: IncomingMessage, response: ServerResponse, order: Order, status = 200, set: Headers = []) {
  if (!wantsPage(request)) return json(response, status, orderText(order))
  const { id, payment, attemptsLeft } = order
  const progress = payment ? `${order.status} ${payment} ${attemptsLeft}` : order.status
  const bank = payment === 'requires_action' ? `<i value="${BANK_SECONDS}"><a href="${url}/bank/${id}">` : ''
  const marks = `<i data-order="${id}" data-order-status="${order.status}" data-progress="${progress}">${bank}`
  page(response, 200, marks + ORDER_PAGE, [...OWN, ...set])
}

function checkout(request: IncomingMessage, response: ServerResponse) {
  const nowMs = Date.now()
  endHolds(nowMs)
  if (isOver()) return problem(response, 410, 'sold-out')
  if (available === 0) return problem(response, 409, 'all-in-carts', [...OWN, 'retry-after', '5'])
  const id = `00000000-0000-7000-8000-${String(orders.length).padStart(12, '0')}`
  const order: Order = { id, reservedAtMs: nowMs, status: 'reserved', payment: null, attemptsLeft: PAYMENT_ATTEMPTS }
  orders.push(order)
  available--
  show(request, response, order, 201, cookie(`order-${id}`))
}

/** The response says that the payment is under way; the next one says what came of it. */
function pay(request: IncomingMessage, response: ServerResponse, order: Order, method: string) {
  if (order.status !== 'reserved') return show(request, response, order)
  order.status = 'paying'
  order.payment = 'processing'
  show(request, response, order, 202)
  if (method.startsWith('pm_3ds')) order.payment = 'requires_action'
  else if (method === 'pm_declined' || method === 'pm_insufficient_funds') settle(order, false)
  else if (method !== 'pm_timeout') settle(order, true)
}

function settle(order: Order, succeeds: boolean) {
  order.payment = succeeds ? 'succeeded' : 'declined'
  order.status = succeeds ? 'confirmed' : 'reserved'
  if (succeeds) sold++
  else if (--order.attemptsLeft === 0) release(order, 'cancelled', 'declined')
}

/** The unit of an order is for sale again. */
function release(order: Order, status: Order['status'], reason?: string) {
  order.status = status
  order.reason = reason
  available++
  const nowMs = Date.now()
  line = { ...line, anchor_at_ms: nowMs, anchor_position: servingExactly(line, nowMs), ceiling: line.ceiling + 1 }
  order.stream?.end(`data: ${orderText(order)}\n\n`)
}

function endHolds(nowMs: number) {
  for (let order = orders[oldest]; order && order.reservedAtMs + terms.holdMs <= nowMs; order = orders[++oldest])
    if (order.status === 'reserved') release(order, 'expired')
    else if (order.status === 'paying') release(order, 'cancelled', 'payment_timeout')
}

function stream(response: ServerResponse, order: Order) {
  response.writeHead(200, ['content-type', 'text/event-stream', ...OWN])
  response.write(`data: ${orderText(order)}\n\n`)
  if (order.status === 'paying' && order.payment === 'processing') order.stream = response
  else response.end()
}

// -- Requests -------------------------------------------------------------------------------------------------------

const bodyOf = (request: IncomingMessage, read: (body: string) => void) =>
  void request.once('data', (chunk: Buffer) => read(chunk.toString()))

function respond(request: IncomingMessage, response: ServerResponse) {
  const { method, url: path = '', headers } = request
  const [, room = '', name = '', step = '', id = ''] = path.split(/[/?]/)
  const nowMs = Date.now()
  switch (`${method} ${room === 'sales' ? step : `/${room}`}`) {
    case 'GET ':
      return page(response, 200, isOver() ? FINAL_PAGE : SALE_PAGE, PUBLIC)
    case 'GET schedule':
      endHolds(nowMs)
      return json(response, 200, JSON.stringify(scheduleAt(nowMs)), FRESH)
    case 'POST queue':
      return join(request, response, name)
    case 'GET queue':
      return json(response, 200, placeText(Number.parseInt(headers.authorization?.slice(7) ?? '', 10), nowMs))
    case 'GET line':
      return page(response, 200, TURN_PAGE, isOver() ? OWN : [...OWN, ...cookie(`admission-${name}`)])
    case 'POST buy':
    case 'POST checkout':
      return checkout(request, response)
    case 'GET feed':
      return json(response, 200, '{"posts":[],"next_poll_ms":4000}', FRESH)
    case 'GET /':
      return page(response, 200, FRONT_PAGE, PUBLIC)
    case 'GET /search':
      return wantsPage(request) ? page(response, 200, SEARCH_PAGE, PUBLIC) : json(response, 200, FOUND, PUBLIC)
    case 'PUT /':
      return bodyOf(request, (body) => {
        terms = JSON.parse(body) as Terms
        available = terms.stock
        line = { ...line, anchor_at_ms: terms.opensAtMs, rate_per_second: terms.rate, ceiling: available }
        json(response, 200, '{}')
      })
  }
  const order = orders[Number.parseInt((room === 'sales' ? id : name).slice(-12), 10)]
  if (!order) return problem(response, 404, 'not-found')
  if (step === 'events') return stream(response, order)
  if (room === 'bank') {
    if (order.status === 'paying' && order.payment === 'requires_action') settle(order, step === 'approve')
    return send(response, 303, 'text/html', '', ['location', '/'])
  }
  if (method === 'POST') return bodyOf(request, (body) => pay(request, response, order, /pm_\w+/.exec(body)?.[0] ?? ''))
  show(request, response, order)
}

// Idle connections stay open, so that no request of a crowd meets one that is just being closed.
createServer({ keepAliveTimeout: 600_000 }, respond).listen(port, LOOPBACK)
process.on('SIGTERM', () => process.exit(0))
