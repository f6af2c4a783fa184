/**
 * Makes bad inputs for every route of both halves from a seed: a request is a function of the seed, the input's index
 * and the material (tokens and ids of a running sale). Almost all requests are nearly correct, because those reach
 * the most code.
 */
import { seededRandom } from '../../shared/lib/random.ts'

export type Server = 'edge' | 'origin' | 'ops'

/** Tokens and ids of the system under test, valid and invalid ones. */
export interface Material {
  /** Sales whose stock visitors may use up, and one that operators may change in any way. */
  readonly sales: readonly string[]
  readonly operated: string
  readonly orders: readonly string[]
  readonly tokens: readonly string[]
  readonly sessions: readonly string[]
  readonly invitations: readonly string[]
  readonly adminToken: string
  readonly edgeToken: string
}

/** A request as an HTTP client sends it. */
export interface FuzzRequest {
  readonly to: Server
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** Bytes on a connection, which need not be valid HTTP. */
export interface FuzzBytes {
  readonly to: Server
  readonly bytes: string
}

export type Input = FuzzRequest | FuzzBytes

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE', 'PROPFIND', 'TRACE']

interface Route {
  readonly to: Server
  readonly methods: string
  readonly path: string
  readonly needs?: 'admin' | 'edge'
  readonly body?: keyof typeof BODIES
}

const admin = (methods: string, path: string, body?: Route['body']): Route =>
  ({ to: 'origin', needs: 'admin', methods, path: `/admin${path}`, ...(body && { body }) }) as const

/** `filled` replaces the names in braces. */
const ROUTES: readonly Route[] = [
  { to: 'edge', methods: 'GET', path: '/' },
  { to: 'edge', methods: 'GET', path: '/healthz' },
  { to: 'edge', methods: 'GET', path: '/openapi.json' },
  { to: 'edge', methods: 'GET', path: '/api' },
  { to: 'edge', methods: 'GET', path: '/me/sign-in?return={text}' },
  { to: 'edge', methods: 'GET', path: '/me/signed-in?code={text}&state={text}' },
  { to: 'edge', methods: 'POST', path: '/me/sign-out' },
  { to: 'edge', methods: 'GET', path: '/.well-known/jwks.json' },
  { to: 'edge', methods: 'GET', path: '/.well-known/handover-keys.json' },
  { to: 'edge', methods: 'GET', path: '/assets/{text}' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/line' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/schedule' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/sections' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/chart?v={id}' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/goods?v={id}' },
  { to: 'edge', methods: 'GET', path: '/images/0123456789abcdef0123456789abcdef/{id}.webp' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/sections/{product}/availability' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/challenge' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/wanted' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}?invitation={invitation}' },
  { to: 'edge', methods: 'POST DELETE', path: '/sales/{sale}/queue', body: 'join' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/queue/status' },
  { to: 'edge', methods: 'POST', path: '/sales/{sale}/leave' },
  { to: 'edge', methods: 'POST', path: '/sales/{sale}/views', body: 'view' },
  { to: 'edge', methods: 'POST', path: '/views', body: 'view' },
  { to: 'edge', methods: 'POST', path: '/sales/{sale}/buy', body: 'checkout' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/order/{order}' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/order/{order}/handover' },
  { to: 'edge', methods: 'POST', path: '/sales/{sale}/order/{order}/payment', body: 'payment' },
  { to: 'edge', methods: 'POST', path: '/sales/{sale}/order/{order}/cancel' },
  { to: 'edge', methods: 'GET', path: '/q/acme/?c=acme&e={sale}&t={text}&enqueuetoken={text}' },
  { to: 'edge', methods: 'GET', path: '/q/acme/error/{cause}/?c=acme&e={sale}&t={text}' },
  { to: 'edge', methods: 'GET', path: '/q/acme/cancel/multiple/acme?wrl={sale}~{text}&r={text}' },
  { to: 'edge', methods: 'POST', path: '/q/acme/api/mobileapp/queue/acme/{sale}/enqueue', body: 'join' },
  { to: 'edge', methods: 'POST', path: '/q/acme/push' },
  { to: 'edge', methods: 'GET', path: '/q/acme/debug?t={text}' },
  { to: 'edge', methods: 'GET', path: '/status/integrationconfig/secure/acme' },
  { to: 'edge', methods: 'GET', path: '/sales/{sale}/shop-error/{cause}' },
  { to: 'edge', methods: 'POST', path: '/internal/sales/{sale}/refresh', needs: 'edge' },
  { to: 'edge', methods: 'POST', path: '/internal/sales/{sale}/purge', needs: 'edge' },
  ...(['edge', 'origin'] as const).flatMap((to): Route[] => [
    { to, methods: 'POST', path: '/sales/{sale}/checkout', body: 'checkout' },
    { to, methods: 'GET DELETE', path: '/orders/{order}' },
    { to, methods: 'GET', path: '/orders/{order}/events' },
    { to, methods: 'GET', path: '/sales/{sale}/sections/{product}/seats?page={id}&page_size={id}' },
    { to, methods: 'GET', path: '/sales/{sale}/sections/updates' },
    { to, methods: 'POST', path: '/sales/{sale}/seats/offer', body: 'offer' },
    { to, methods: 'POST', path: '/orders/{order}/payment', body: 'payment' },
  ]),
  { to: 'origin', methods: 'GET', path: '/healthz' },
  { to: 'origin', methods: 'GET', path: '/openapi.json' },
  { to: 'origin', methods: 'GET', path: '/api' },
  { to: 'origin', methods: 'POST', path: '/webhooks/sandbox', body: 'webhook' },
  { to: 'origin', methods: 'GET', path: '/internal/sales/{sale}', needs: 'edge' },
  { to: 'origin', methods: 'GET', path: '/internal/sales/{sale}/chart?v={id}', needs: 'edge' },
  { to: 'origin', methods: 'GET', path: '/internal/sales/{sale}/goods?v={id}', needs: 'edge' },
  { to: 'origin', methods: 'GET', path: '/images/0123456789abcdef0123456789abcdef/{id}.webp' },
  { to: 'origin', methods: 'GET', path: '/internal/sales/{sale}/availability', needs: 'edge' },
  { to: 'origin', methods: 'POST', path: '/internal/sales/{sale}/redeem', needs: 'edge', body: 'redeem' },
  { to: 'origin', methods: 'POST', path: '/internal/search/misses', needs: 'edge', body: 'misses' },
  { to: 'origin', methods: 'POST', path: '/internal/views', needs: 'edge', body: 'views' },
  admin('GET PUT', '/view-rules', 'viewRules'),
  admin('POST', '/view-rules/try', 'viewTry'),
  admin('GET', '/sales/{operated}/views?by={text}'),
  admin('POST', '/sales/{operated}/views/recount', 'period'),
  admin('GET', '/sales/{operated}/views/export?after={id}'),
  admin('GET', '/sales'),
  admin('GET PUT', '/sales/{operated}', 'sale'),
  admin('POST', '/sales/{operated}/{switch}'),
  admin('PATCH', '/sales/{operated}/admission', 'admission'),
  admin('POST', '/sales/{operated}/products/{product}/restock', 'restock'),
  admin('POST', '/sales/{operated}/reconcile'),
  admin('DELETE', '/sales/{operated}/scheduled/{id}'),
  admin('POST', '/sales/{operated}/scheduled/{id}/resume'),
  admin('POST', '/sales/{operated}/scheduled/{id}/run'),
  admin('GET', '/sales/{operated}/scheduled/{id}/runs/{id}'),
  admin('GET', '/queues/{id}/failing'),
  admin('POST', '/queues/{id}/retry'),
  admin('GET', '/sales/{sale}/findings'),
  admin('GET', '/sales/{sale}/seconds'),
  admin('GET', '/findings'),
  admin('GET', '/sales/{sale}/funnel?by={id}'),
  admin('GET', '/search/misses?from={id}'),
  admin('GET', '/sales/{sale}/orders'),
  admin('POST', '/sales/{sale}/orders/{order}/fulfil'),
  admin('GET POST', '/sales/{operated}/rules', 'rule'),
  admin('PATCH DELETE', '/sales/{operated}/rules/{id}', 'rule'),
  admin('GET POST', '/blocks', 'block'),
  admin('DELETE', '/blocks/{id}'),
  admin('GET PUT', '/sales/{operated}/invitations', 'codes'),
  admin('POST', '/sales/{operated}/invitations/links', 'links'),
  admin('PUT DELETE', '/sales/{operated}/sections/{section}', 'section'),
  admin('PUT', '/sales/{operated}/sections/{section}/seats', 'seats'),
  admin('GET PUT', '/sales/{operated}/chart', 'chart'),
  admin('POST', '/sales/{operated}/seats/block', 'block_seats'),
  admin('POST', '/sales/{operated}/seats/release', 'block_seats'),
  admin('PATCH', '/sales/{operated}/seats', 'price_seats'),
  admin('GET', '/sales/{operated}/hall'),
  admin('GET', '/sales/{operated}/hall/seats/{section}/A-1'),
  admin('GET', '/rehearsals'),
  admin('POST', '/sales/{operated}/promo-codes/check', 'codes'),
  admin('POST', '/orders/{order}/move', 'move'),
  admin('POST', '/orders/{order}/return'),
  admin('POST', '/sales/{operated}/box-office', 'box_office'),
  admin('GET', '/webhooks'),
  admin('POST', '/webhooks/{id}/test'),
  admin('POST', '/webhooks/{id}/try'),
  admin('GET', '/alerts'),
  admin('GET', '/webhooks/{id}/history'),
  admin('POST', '/sales/{operated}/feed', 'post'),
  admin('PATCH DELETE', '/sales/{operated}/feed/{id}', 'post'),
  { to: 'origin', methods: 'GET', path: '/console/sales/{sale}' },
  { to: 'ops', methods: 'GET', path: '/metrics' },
  { to: 'ops', methods: 'GET', path: '/readyz' },
  { to: 'ops', methods: 'GET', path: '/healthz' },
]

/** Valid bodies that are then changed. */
const BODIES = {
  join: {
    line: 'public',
    invitation: 'SUMMER-24',
    altcha: btoa(JSON.stringify({ challenge: {}, solution: {} })),
    source: { utm_source: 'ads', utm_medium: 'cpc', utm_campaign: 'spring', referrer: 'https://search.test/' },
  },
  misses: { misses: [{ query: 'airship', caller: '0123456789abcdef', count: 1 }] },
  checkout: { product_id: 'one', quantity: 1, payment_method: 'pm_ok' },
  offer: { section_id: 'stalls', category: 'front', kind: 'accessible', quantity: 2, not: ['A-1'] },
  payment: { payment_method: 'pm_slow' },
  view: {
    view: 'fuzz-fuzz-fuzz-fuzz-12',
    page: 'sale',
    seen_seconds: 0,
    source: { utm_source: 'fuzz' },
    language: 'en',
  },
  views: {
    dropped: 0,
    events: [
      {
        ...{ view: 'fuzz-fuzz-fuzz-fuzz-12', page: 'sale', sale: null, seen_seconds: 0, at_ms: 1_800_000_000_000 },
        ...{ pseudonym: '0123456789abcdef', address: '0123456789abcdef', network: '203.0.113.0/24', asn: 1 },
        ...{ country: 'DE', device: 'phone', language: 'de', source: 'typed' },
      },
    ],
  },
  viewRules: { rules: [{ kind: 'rate', views: 40, minutes: 1, per: 'address', on: true, note: 'fuzz' }] },
  viewTry: { rules: [{ kind: 'staff', addresses: ['203.0.113.7'] }], sale: 'operated', hours: 1 },
  post: { text: { en: 'Soon', de: 'Bald' }, urgent: true, until: '2099-01-01T00:00:00Z' },
  period: { from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' },
  redeem: { visitor: 'someone', invitation: 'SUMMER-24' },
  webhook: { event: 'charge.succeeded', data: { charge_id: 'ch_1', order_id: 'order' } },
  sale: {
    name: 'Operated',
    opens_at: '2026-01-01T00:00:00Z',
    ends_at: null,
    hold_seconds: 90,
    limit_per_visitor: 1,
    products: [{ product_id: 'one', name: 'One', unit_price_minor: 100, currency: 'EUR', total: 10 }],
    admission: { rate_per_second: 5, max_inside: null },
    access: { sign_in: 'optional', invitation: 'off', proof_of_work: null, turnstile: false },
    lines: [{ line: 'public', weight: 1, opens_early_seconds: 0, access: null }],
    expected_visitors: 1000,
    max_unpaid_orders: 3,
    pre_queue_opens_at: null,
    oversell_policy: 'alarm',
    seller: { name: 'Shop', address: 'Street 1', tax_id: '1' },
    tax: { name: 'VAT', percent: 7.7 },
  },
  admission: { rate_per_second: 5 },
  restock: { quantity: 1 },
  rule: { when: { address: '203.0.113.0/24', user_agent: 'curl' }, action: 'refuse', note: 'fuzz' },
  block: { address: '203.0.113.7', note: 'fuzz' },
  codes: { code: 'SUMMER-24', uses: 3 },
  links: { count: 3, uses: 2, valid_for_seconds: 3600 },
  section: {
    name: 'Stalls',
    type: 'reserved',
    price_minor: 100,
    currency: 'EUR',
    order: 1,
    outline: [
      [0, 0],
      [9, 0],
      [9, 9],
    ],
  },
  seats: {
    seat_id: 'A-1',
    row: 'A',
    number: '1',
    place: 1,
    x: 0.5,
    y: -2,
    category: 'front',
    kind: 'standard',
    price_minor: 100,
  },
  chart: { focal_point: { x: 1, y: 2 } },
  price_seats: { section_id: 'stalls', seats: ['A-1'], price_minor: 100, category: 'a' },
  block_seats: { section_id: 'stalls', seats: ['A-1'], reason: 'fuzz' },
  move: { line: 1, seat_id: 'A-1', section_id: 'stalls' },
  box_office: { lines: [{ product_id: 'one', quantity: 1 }], note: 'fuzz', contact: { email: 'fuzz@example.com' } },
} as const

const SWITCHES = ['open', 'pause', 'resume', 'end', 'reconcile']
const QUERY_NAMES = (
  'invitation line joined already policy format replace order since after limit q status sale oversell called ' +
  'page page_size'
).split(' ')

/** Texts that are known to break programs. */
const TEXTS = [
  ...['', ' ', '0', '-1', '1e309', 'NaN', 'null', 'true', '[]', '{}', '*', '~', ';', ',', '"', "' or 1=1 --"],
  ...['.', '..', '../../etc/passwd', '%', '%00', '%zz', '%ff', '%2e%2e', '%2F', '%25', '%C0%AF', '+', '#', '?', '\\'],
  ...['<script>alert(1)</script>', '#{7*7}', '{{7*7}}', '__proto__', 'constructor', 'toString', 'hasOwnProperty'],
  ...['\0', '\r\nx: y', '\ud800', 'é', '👟', '\u202e', '\ufeff', 'İ', '00000000-0000-0000-0000-000000000000'],
  ...['9007199254740993', '-0', '0x10', '1_000', '2026-02-30T25:61:61Z', '9999-12-31T23:59:59Z', '-271821-04-20'],
  ...['sale~line', 'public', 'open', '203.0.113.7', '::ffff:203.0.113.7', '1.2.3.4/99', '::/0', '999.1.1.1'],
  ...['a'.repeat(64), 'a'.repeat(65), 'x'.repeat(300), 'y'.repeat(5_000)],
]

const deep = (depth: number): unknown => (depth === 0 ? 0 : [deep(depth - 1)])
const VALUES = [
  ...[null, true, false, 0, -1, 1.5, 1e21, -1e-7, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308],
  ...[[], {}, [[]], [null], { a: 1 }, deep(50), JSON.parse('{"__proto__":{"admin":true}}')],
]

const TYPES = [
  ...['application/json', 'application/json; charset=utf-8', 'application/problem+json', 'text/plain', 'text/csv', ''],
  ...['application/x-ndjson', 'application/x-www-form-urlencoded', 'multipart/form-data', ';', 'application/json,'],
  ...[
    'multipart/form-data; boundary=x',
    'multipart/form-data; boundary=',
    'application/x-www-form-urlencoded; charset=x',
  ],
]
const ACCEPTS = [
  ...['text/html', 'application/json', '*/*', 'text/event-stream', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'],
  ...['application/openmetrics-text', ';;q=,', 'text/html;q=0', ''],
]

/** Headers that some route reads, each with its own values in addition to `TEXTS`. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'sec-fetch-site': ['same-origin', 'cross-site', 'same-site', 'none'],
  'sec-fetch-dest': ['empty', 'document'],
  'accept-language': ['de', 'de-AT,de;q=0.9,en;q=x', '*', ',;q=1', 'en;q=-1'],
  'if-none-match': ['*', 'W/"1-open-1"', '"', 'W/'],
  'idempotency-key': ['fuzz-1', 'fuzz-2', 'k'.repeat(255), 'k'.repeat(256)],
  'last-event-id': ['0', '1', '99999999999999999999'],
  'cf-connecting-ip': ['203.0.113.7', '2001:db8::1', '::', ':::', '1.2.3.4.5', '::ffff:1.2.3.4'],
  'user-agent': ['curl/8', 'Mozilla/5.0'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-00-00-00'],
  origin: ['null', 'https://evil.test'],
  range: ['bytes=0-0', 'bytes=9-1', 'bytes=-'],
  'content-encoding': ['gzip', 'br', 'identity'],
  'x-http-method-override': ['DELETE'],
  'x-forwarded-for': ['203.0.113.7, 1.2.3.4'],
  'x-forwarded-proto': ['https'],
  'cache-control': ['no-cache', 'only-if-cached'],
  'x-proof-of-work': [btoa('{}'), btoa('{"challenge":{"parameters":{"data":{}}},"solution":{}}')],
  prefer: ['respond-async'],
}

/** Makes choices from one random stream. */
class Dice {
  readonly #next: () => number
  constructor(seed: number) {
    this.#next = seededRandom(seed)
  }
  below = (n: number) => Math.floor(this.#next() * n)
  often = (share: number) => this.#next() < share
  one = <T>(list: readonly T[]): T => list[this.below(list.length)] as T
  bytes = (n: number) => String.fromCharCode(...Array.from({ length: n }, () => this.below(256)))
}

export function inputOf(seed: number, index: number, material: Material): Input {
  const dice = new Dice(Math.imul(seed, 0x9e3779b1) + Math.imul(index, 0x85ebca6b))
  // The generator's first values are similar for similar seeds, so they are skipped.
  for (let i = 0; i < 3; i++) dice.below(1)
  const request = requestOf(dice, material)
  return dice.often(0.15) ? bytesOf(dice, request) : request
}

// -- Requests -------------------------------------------------------------------------------------------------------

function requestOf(dice: Dice, material: Material): FuzzRequest {
  const route = dice.one(ROUTES)
  const allowed = route.methods.replace('GET', 'GET GET HEAD').split(' ')
  const method = dice.often(0.85) ? dice.one(allowed) : dice.one(METHODS)
  const sends = method === 'GET' || method === 'HEAD' ? dice.often(0.05) : dice.often(0.9)
  const sent = sends ? bodyOf(dice, route.body) : null
  const headers = { ...headersOf(dice, route, material), ...(sent && dice.often(0.9) && { 'content-type': sent.type }) }
  const lines = Object.entries(headers).map(([name, value]) => [name, wire(value)])
  const path = wire(pathOf(dice, route, material))
  return { to: route.to, method, path, headers: Object.fromEntries(lines), body: sent?.text ?? null }
}

/** Each character is one byte, as Node sends paths and headers. */
const wire = (text: string) => Buffer.from(text.toWellFormed()).toString('latin1')

function pathOf(dice: Dice, route: Route, material: Material): string {
  const path = filled(dice, route.path, material)
  const bent = dice.often(0.15) ? bend(dice, path) : path
  return dice.often(0.4) ? `${bent}${bent.includes('?') ? '&' : '?'}${queryOf(dice, material)}` : bent
}

function filled(dice: Dice, path: string, material: Material): string {
  const params: Record<string, () => string> = {
    sale: () => dice.one(material.sales),
    operated: () => material.operated,
    order: () => dice.one(material.orders),
    product: () => dice.one(['one', 'two']),
    section: () => dice.one(['stalls', 'floor']),
    switch: () => dice.one(SWITCHES),
    id: () => String(1 + dice.below(20)),
    invitation: () => dice.one(material.invitations),
    cause: () => dice.one(['hash', 'timestamp', 'ip']),
  }
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const known = params[name]
    return known && dice.often(0.85) ? known() : segment(dice)
  })
}

/** A path segment, in almost all cases encoded as a client would do it. */
function segment(dice: Dice): string {
  const text = dice.one(TEXTS)
  return dice.often(0.5) ? encodeURIComponent(text.toWellFormed()) : text
}

function bend(dice: Dice, path: string): string {
  const parts = path.split('/')
  const at = dice.below(parts.length)
  return dice.one([
    () => `${path}/`,
    () => `/${path}`,
    () => path.toUpperCase(),
    () => parts.toSpliced(at, 1).join('/') || '/',
    () => parts.toSpliced(at, 0, segment(dice)).join('/'),
    () => path.slice(0, dice.below(path.length)) || '/',
    () => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    () => `${path}${segment(dice)}`,
  ])()
}

function queryOf(dice: Dice, material: Material): string {
  const value = () =>
    dice.often(0.3) ? dice.one(['true', '1', 'csv', 'ndjson', ...material.invitations]) : segment(dice)
  return Array.from({ length: 1 + dice.below(3) }, () => `${dice.one(QUERY_NAMES)}=${value()}`).join('&')
}

function headersOf(dice: Dice, route: Route, material: Material): Record<string, string> {
  const headers: Record<string, string> = {}
  const token = () => garbled(dice, dice.one(material.tokens))
  const secret = route.needs === 'admin' ? material.adminToken : material.edgeToken
  if (dice.often(route.needs ? 0.9 : 0.6))
    headers.authorization = route.needs && dice.often(0.9) ? `Bearer ${secret}` : credentials(dice, token())
  if (route.to === 'origin' && dice.often(0.2)) headers['x-edge-token'] = dice.one([material.edgeToken, 'wrong', ''])
  if (dice.often(0.5)) headers.cookie = cookiesOf(dice, material, token)
  if (dice.often(0.3)) headers['x-shop-authorization'] = garbled(dice, dice.one(material.sessions))
  if (dice.often(0.8)) headers.accept = dice.often(0.5) ? 'text/html' : dice.one(ACCEPTS)
  if ((route.body === 'checkout' || route.body === 'box_office') && dice.often(0.8))
    headers['idempotency-key'] = `fuzz-${dice.below(1000)}`
  for (let more = dice.below(4); more > 0; more--) {
    const name = dice.one(Object.keys(HEADERS))
    headers[name] = dice.often(0.7) ? dice.one(HEADERS[name] ?? []) : dice.one(TEXTS)
  }
  return headers
}

const credentials = (dice: Dice, token: string) =>
  dice.often(0.8)
    ? `Bearer ${token}`
    : dice.one([`bearer  ${token}`, 'Bearer', 'Bearer ', `Basic ${btoa('a:b')}`, token, 'Bearer a b'])

/** A token, unchanged or slightly changed. */
function garbled(dice: Dice, token: string): string {
  if (dice.often(0.8)) return token
  const parts = token.split('.')
  const at = dice.below(token.length)
  return dice.one([
    () => token.slice(0, at) + dice.one(['A', '.', '', '=', '-', 'é']) + token.slice(at + 1),
    () => parts.slice(0, 2).join('.'),
    () => `${parts[0]}..${parts[2]}`,
    () => `${btoa('{"alg":"none"}').replaceAll('=', '')}.${parts[1]}.`,
    () => `${btoa('{"alg":"HS256","kid":"__proto__"}').replaceAll('=', '')}.${parts[1]}.${parts[2]}`,
    () => `${parts[0]}.${btoa(JSON.stringify(dice.one(VALUES)))}.${parts[2]}`,
    () => `${token}.${token}`,
    () => dice.one(TEXTS),
    () => 'e30.'.repeat(2_000),
  ])()
}

function cookiesOf(dice: Dice, { sales, orders, sessions }: Material, token: () => string): string {
  const cookie = () =>
    dice.one([
      () => `queue-${dice.one(sales)}=${token()}`,
      () => `admission-${dice.one(sales)}=${token()}`,
      () => `order-${dice.one(orders)}=${token()}`,
      () => `visitor-secret=${dice.one(['s'.repeat(22), 'fuzz-visitor-of-one', '', 'x', ...TEXTS])}`,
      () => `shop_session=${garbled(dice, dice.one(sessions))}`,
      () => dice.one(['=', ';', 'a', '=b', '__Host-x=y', 'order-=x', 'admission-=x', `admission-${dice.one(TEXTS)}=x`]),
    ])()
  return Array.from({ length: 1 + dice.below(4) }, cookie).join(dice.one(['; ', ';', ';;', ' ; ']))
}

// -- Bodies ---------------------------------------------------------------------------------------------------------

interface Sent {
  readonly type: string
  readonly text: string
}

function bodyOf(dice: Dice, name: Route['body']): Sent {
  const right = BODIES[name ?? dice.one(Object.keys(BODIES) as (keyof typeof BODIES)[])]
  const value = dice.often(0.25) ? right : changed(dice, right, 1 + dice.below(2))
  const sent = written(dice, value, name)
  const type = dice.often(0.15) ? dice.one(TYPES) : sent.type
  return { type, text: dice.often(0.15) ? broken(dice, sent.text) : sent.text }
}

/** The value with some of its parts changed, removed, or replaced by another type. */
function changed(dice: Dice, value: unknown, times: number): unknown {
  if (times === 0) return value
  const copy = structuredClone(value)
  const isLeaf = typeof copy !== 'object' || copy === null || Object.keys(copy).length === 0
  if (isLeaf || dice.often(0.1)) return dice.often(0.5) ? dice.one(TEXTS) : dice.one(VALUES)
  const holder = copy as Record<string, unknown>
  const name = dice.one(Object.keys(holder))
  const how = dice.below(10)
  if (how === 0) delete holder[name]
  else if (how === 1) holder[dice.one(TEXTS)] = dice.one(VALUES)
  else holder[name] = changed(dice, holder[name], 1)
  return changed(dice, copy, times - 1)
}

function written(dice: Dice, value: unknown, name: Route['body']): Sent {
  const json = { type: 'application/json', text: JSON.stringify(value) }
  const fields = Object.entries(Object(value)).map(([field, one]): [string, string] => [field, textOf(one)])
  const form = { type: 'application/x-www-form-urlencoded', text: String(new URLSearchParams(fields)) }
  if (name !== 'codes' && name !== 'seats') return dice.often(0.25) ? form : json
  const rows = Array.from({ length: 1 + dice.below(20) }, () => value)
  if (name === 'seats') {
    if (dice.often(0.5)) return { type: 'application/json', text: JSON.stringify(rows) }
    const lines = [Object.keys(Object(value)), ...rows.map((row) => Object.values(Object(row)))]
    return { type: 'text/csv', text: lines.map((line) => line.join(',')).join('\n') }
  }
  return dice.often(0.5)
    ? { type: 'application/x-ndjson', text: rows.map((row) => JSON.stringify(row)).join('\n') }
    : { type: 'text/csv', text: rows.map((row) => Object.values(Object(row)).join(',')).join('\r\n') }
}

/** A random object may have no text. */
const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value)).toWellFormed()

function broken(dice: Dice, text: string): string {
  const at = dice.below(text.length)
  return dice.one([
    () => '',
    () => text.slice(0, at),
    () => text.slice(0, at) + dice.one(['"', '{', '\0', ',', '\\u', '\ufeff']) + text.slice(at),
    () => `\ufeff${text}`,
    () => text.repeat(2),
    () => dice.bytes(200),
    () => '['.repeat(20_000),
    () => text.padEnd(64 * 1024 + 1),
    () => JSON.stringify(dice.one(VALUES)),
    () => '1e400',
  ])()
}

// -- Bytes ----------------------------------------------------------------------------------------------------------

/** A request with an error in its form, or no request at all. */
function bytesOf(dice: Dice, { to, method, path, headers, body }: FuzzRequest): FuzzBytes {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const text = (start: string, more: string, rest: string) =>
    `${start}\r\nhost: fuzz.test\r\nconnection: close\r\n${lines.join('')}${more}\r\n${rest}`
  const start = `${method} ${path} HTTP/1.1`
  const sent = body ?? 'x'
  const chunked = (chunks: string) => text(`POST ${path} HTTP/1.1`, 'transfer-encoding: chunked\r\n', chunks)
  const posted = (length: string) => text(`POST ${path} HTTP/1.1`, `content-length: ${length}\r\n`, sent)
  const bytes = dice.one<() => string>([
    () => dice.bytes(1 + dice.below(500)),
    () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    () => '\r\n\r\n\r\n',
    () => `${start}\r\n\r\n`,
    () => `${method} ${path}\r\n\r\n`,
    () => `${method} ${path} HTTP/${dice.one(['0.9', '1.0', '2.0', '9.9', 'x', ''])}\r\n\r\n`,
    () => `${start}\nhost: fuzz.test\n\n`,
    () => text(`${dice.one(TEXTS)} ${path} HTTP/1.1`, '', ''),
    () => text(`${method} ${dice.one(TEXTS)} HTTP/1.1`, '', ''),
    () => text(`${method} http://${dice.one(TEXTS)}${path} HTTP/1.1`, '', ''),
    // This request is not sent to workerd, which answers it with a 500 of its own; Cloudflare does not pass it on.
    () => text(`${to === 'edge' ? 'OPTIONS' : 'CONNECT'} fuzz.test:443 HTTP/1.1`, '', ''),
    () => text('OPTIONS * HTTP/1.1', '', ''),
    () => text(`GET ${path}?${'q'.repeat(dice.one([8_000, 20_000, 100_000]))} HTTP/1.1`, '', ''),
    () =>
      `${start}\r\nhost: ${dice.one([...TEXTS, 'a b', '[::1', 'x:99999', 'x:y', 'fuzz.test, b', '@', 'a@b'])}\r\n\r\n`,
    () => `${start}\r\nhost: a\r\nhost: b\r\n\r\n`,
    () => text(start, 'no colon\r\n', ''),
    () => text(start, ' folded: x\r\n', ''),
    () => text(start, `bad name: x\r\n`, ''),
    () => text(start, `x: ${dice.bytes(50)}\r\n`, ''),
    () => text(start, `x: ${'v'.repeat(100_000)}\r\n`, ''),
    () => text(start, 'x: y\r\n'.repeat(3_000), ''),
    () => text(start, 'expect: 100-continue\r\ncontent-length: 1\r\n', 'x'),
    () => text(start, 'expect: nonsense\r\n', ''),
    () => text(start, 'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n', ''),
    () => text(start, 'upgrade: h2c\r\nhttp2-settings: x\r\n', ''),
    () => posted(String(sent.length + 10)),
    () => posted(dice.one(['-1', '1e3', '99999999999999999999', '0x1', '1, 2', '', '+1'])),
    () => text(start, 'content-length: 1\r\ncontent-length: 2\r\n', 'x'),
    () => text(start, 'content-length: 1\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n'),
    () => text(start, 'transfer-encoding: gzip\r\n', 'x'),
    () => text(start, 'transfer-encoding: chunked, chunked\r\n', '0\r\n\r\n'),
    () => chunked(`${sent.length.toString(16)}\r\n${sent}\r\n0\r\n\r\n`),
    () => chunked(`zz\r\n${sent}\r\n0\r\n\r\n`),
    () => chunked(`ffffffffffffffff\r\n${sent}`),
    () => chunked(`5;${'e'.repeat(20_000)}\r\nxxxxx\r\n0\r\n\r\n`),
    () => chunked(`1\r\nx\r\n0\r\n${'trailer: x\r\n'.repeat(2_000)}\r\n`),
    () => chunked('5\r\nab'),
    () => text(start, '', '').repeat(3),
    () => text(start, '', '').slice(0, dice.below(60)),
  ])()
  return { to, bytes }
}
