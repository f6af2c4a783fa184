/** The edge passes calls on to the origin: which ones, which not, and the calls that the pages' forms become. */
import { base64url, SignJWT } from 'jose'
import { expect, it } from 'vitest'
import { EDGE_ISSUER } from '../../shared/tokens.ts'
import { edgeEnv, ORDER_TOKEN, orderOf, requestsTo, stub } from '../testing/origin.ts'
import { product } from '../testing/simulation.ts'
import { admission, call, cookiesOf, TestSale } from '../testing/visitors.ts'

const ORDER = '01934fd2-7c00-7000-8000-000000000001'
const newOrder = () => crypto.randomUUID()

function post(sale: string, headers: Record<string, string>, body = '{"product_id":"lamp"}') {
  const all = { 'content-type': 'application/json', 'idempotency-key': 'key-1', ...headers }
  return call(`/sales/${sale}/checkout`, { method: 'POST', headers: all, body })
}

/** A sale whose origin gives this response to a checkout, and a visitor whose turn it is. */
async function atCheckout({ status = 201, order = ORDER, body = {}, state = {} }: Partial<AtCheckout> = {}) {
  const sale = await new TestSale().publish(state)
  const path = `/sales/${sale.name}/checkout`
  await stub(path, status, status < 400 ? { ...orderOf(sale.name, order), ...body } : body)
  const token = await admission(sale.name)
  const cookie = `admission-${sale.name}=${token}`
  const buy = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    sale.form('/buy', fields, { cookie, ...headers })
  const received = async () => (await requestsTo(path)).requests
  return { sale, path, token, cookie, buy, received }
}

interface AtCheckout {
  readonly status: number
  readonly order: string
  readonly body: object
  readonly state: Parameters<TestSale['publish']>[0]
}

it('passes on a checkout with the admission and nothing else of the visitor’s', async () => {
  const { sale, token, received } = await atCheckout()
  const response = await post(sale.name, {
    authorization: `Bearer ${token}`,
    cookie: 'visitor-secret=secret; basket=1',
    traceparent: '00-abc',
    'x-forwarded-for': '192.0.2.1',
    'edge-token': 'forged',
  })
  expect([response.status, await response.json()]).toMatchObject([201, { order_id: ORDER, order_token: ORDER_TOKEN }])
  const [sent] = await received()
  expect(sent?.body).toBe('{"product_id":"lamp"}')
  expect(sent?.headers).toMatchObject({
    authorization: `Bearer ${token}`,
    'edge-token': edgeEnv.EDGE_TOKEN,
    'edge-waited-ms': expect.stringMatching(/^\d+$/),
    'idempotency-key': 'key-1',
    'content-type': 'application/json',
  })
  for (const own of ['cookie', 'x-forwarded-for', 'traceparent']) expect(sent?.headers).not.toHaveProperty(own)
})

it('passes on what is asked about a sum, for those whose turn it is', async () => {
  const sale = await new TestSale().publish()
  const path = `/sales/${sale.name}/totals`
  await stub(path, 200, { total_minor: 4_200, promo_codes: [] })
  const json = { 'content-type': 'application/json' }
  const ask = (headers: Record<string, string>) =>
    call(path, { method: 'POST', headers: { ...json, ...headers }, body: '{"promo_code":"NOON"}' })
  const response = await ask({ authorization: `Bearer ${await admission(sale.name)}` })
  expect([response.status, await response.json()]).toEqual([200, { total_minor: 4_200, promo_codes: [] }])
  expect((await requestsTo(path)).requests[0]?.body).toBe('{"promo_code":"NOON"}')
  expect((await ask({})).status).toBe(429)
})

it('refuses a visitor, or a network, that checks out too often', async () => {
  const sale = await new TestSale().publish()
  const path = `/sales/${sale.name}/checkout`
  await stub(path, 409, { type: '/problems/all-in-carts', title: 'All units are in carts', status: 409 })
  const statuses = async (token: string, limits: object, address: string) => {
    const env = { ...edgeEnv, ...limits }
    const headers = { 'cf-connecting-ip': address, authorization: `Bearer ${token}`, 'idempotency-key': 'k' }
    const json = { ...headers, 'content-type': 'application/json' }
    const checkout = await call(path, { method: 'POST', headers: json, body: '{}' }, env)
    return [checkout.status, (await sale.form('/buy', { product_id: 'lamp' }, headers, env)).status]
  }
  const [one, other] = [await admission(sale.name), await admission(sale.name, { sub: 'another' })]
  const perVisitor = { STATUS_PER_VISITOR: '3/600' }
  expect(await statuses(one, perVisitor, '192.0.2.31')).toEqual([409, 409])
  expect(await statuses(one, perVisitor, '192.0.2.32')).toEqual([409, 429])
  expect(await statuses(other, perVisitor, '192.0.2.33')).toEqual([409, 409])
  const perAddress = { STATUS_PER_ADDRESS: '3/600' }
  expect(await statuses(one, perAddress, '192.0.2.34')).toEqual([409, 409])
  expect(await statuses(other, perAddress, '192.0.2.34')).toEqual([409, 429])
  expect((await requestsTo(path)).calls).toBe(8)
})

it('reads a browser’s admission from its cookie, and puts the order token into another', async () => {
  const { sale, cookie } = await atCheckout()
  const response = await post(sale.name, { cookie, 'sec-fetch-site': 'same-origin' })
  expect(response.status).toBe(201)
  expect(await response.json()).not.toHaveProperty('order_token')
  expect(cookiesOf(response)).toBe(`order-${ORDER}=${ORDER_TOKEN}`)

  await stub(`/orders/${ORDER}`, 200, orderOf(sale.name, ORDER))
  expect((await call(`/orders/${ORDER}`, { headers: { cookie: cookiesOf(response) } })).status).toBe(200)
  const { requests } = await requestsTo(`/orders/${ORDER}`)
  expect(requests[requests.length - 1]?.headers.authorization).toBe(`Bearer ${ORDER_TOKEN}`)
})

it('leads to the shop’s payment page, which needs no token: the browser’s cookie names the order', async () => {
  const sale = await new TestSale().publish()
  const env = { ...edgeEnv, PAYMENT_PAGE: '/pay/{order}' }
  const order = newOrder()
  const cookie = `order-${order}=${ORDER_TOKEN}`
  await stub(`/orders/${order}`, 200, orderOf(sale.name, order))
  const ours = { headers: { accept: 'text/html', cookie } }
  const shown = await (await call(`/sales/${sale.name}/order/${order}`, ours, env)).text()
  expect(shown).toContain(`href="/pay/${order}"`)
  expect(shown).not.toContain('pm_ok')

  await stub(`/orders/${order}/payment`, 202, orderOf(sale.name, order))
  const paid = (from: string) => {
    const headers = { cookie, 'content-type': 'application/json', 'sec-fetch-site': from }
    const body = '{"payment_method":"pm_1QxCard"}'
    return call(`/orders/${order}/payment`, { method: 'POST', headers, body }, env)
  }
  expect([(await paid('same-site')).status, (await paid('same-origin')).status]).toEqual([403, 202])
  const { requests } = await requestsTo(`/orders/${order}/payment`)
  expect(requests).toHaveLength(1)
  expect(requests[0]?.headers.authorization).toBe(`Bearer ${ORDER_TOKEN}`)
  expect(requests[0]?.body).toBe('{"payment_method":"pm_1QxCard"}')
})

it('responds 429 without an admission, with the path to join', async () => {
  const { sale, received } = await atCheckout()
  const { queue_token } = await sale.joined()
  const claims = { sub: 'me', sale: sale.name, num: 1, jti: 'x', iss: EDGE_ISSUER, aud: 'checkout' }
  const forged = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(base64url.decode(JSON.parse(edgeEnv.QUEUE_KEYS).keys[0].k))
  const bad = [undefined, 'junk', queue_token, forged, await admission(sale.name, { ttl: -10 })]
  for (const token of bad) {
    const response = await post(sale.name, token === undefined ? {} : { authorization: `Bearer ${token}` })
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    const problem = { type: '/problems/not-admitted', queue: `/sales/${sale.name}/queue` }
    expect([response.status, await response.json()]).toMatchObject([429, problem])
  }
  expect((await call(`/orders/${newOrder()}`)).status).toBe(429)
  expect(await received()).toEqual([])
})

it('passes on to an order only a valid admission, or what looks like the origin’s token', async () => {
  const order = newOrder()
  await stub(`/orders/${order}`, 200, orderOf('drop', order))
  const ask = async (token: string) =>
    (await call(`/orders/${order}`, { headers: { authorization: `Bearer ${token}` } })).status
  const expired = await admission('drop', { ttl: -10 })
  const unsigned = ['x', 'x.', 'e30.e30.e30.', 'e30.x.', 'e30.é.']
  const forms = unsigned.map((form) => form + 'A'.repeat(form.endsWith('.') ? 43 : 0))
  for (const bad of ['e30.e30.', ...forms, expired, expired.replace(/.{8}$/, 'AAAAAAAA')])
    expect(await ask(bad)).toBe(429)
  // A visitor who comes too late learns where to join again.
  const late = await call(`/orders/${order}`, { headers: { authorization: `Bearer ${expired}` } })
  expect(late.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await late.json()).toMatchObject({ type: '/problems/not-admitted', queue: '/sales/drop/queue' })
  expect((await requestsTo(`/orders/${order}`)).calls).toBe(0)
  for (const good of [ORDER_TOKEN, await admission('drop')]) expect(await ask(good)).toBe(200)
})

it('returns the origin’s responses as they are, and follows no redirect', async () => {
  const sale = await new TestSale().publish()
  const authorization = `Bearer ${await admission(sale.name)}`
  const location = '/internal/elsewhere'
  for (const status of [200, 202, 302, 400, 409, 410, 422, 425, 503]) {
    const body = { type: `/problems/of-${status}`, status }
    await stub(`/sales/${sale.name}/checkout`, status, body, 0, { location })
    const response = await post(sale.name, { authorization })
    expect([response.status, response.headers.get('location')]).toEqual([status, location])
    expect(await response.json()).toMatchObject({ status })
  }
  expect((await requestsTo(location)).calls).toBe(0)
})

const AGAIN = { type: '/problems/try-again', retry_after_seconds: 2 }
it.each([
  ['the origin is gone, and keeps the place', { status: 0 }, 503, AGAIN],
  ['the origin has another EDGE_TOKEN', { status: 403 }, 503, AGAIN],
  ['the admission is of another sale', { admittedTo: 'another-sale' }, 403, { type: '/problems/wrong-sale' }],
  ['the body is too large', { body: 'x'.repeat(100_000) }, 413, { errors: [{ field: 'body' }] }],
] as const)('refuses a checkout where %s', async (_, { status = 201, admittedTo, body }: Refused, wanted, problem) => {
  const sale = await new TestSale().publish()
  await stub(`/sales/${sale.name}/checkout`, status, { type: '/problems/edge-only' })
  const authorization = `Bearer ${await admission(admittedTo ?? sale.name)}`
  const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(body.length) }
  const response = await post(sale.name, { authorization, ...length }, body)
  expect([response.status, await response.json()]).toMatchObject([wanted, problem])
})

interface Refused {
  readonly status?: number
  readonly admittedTo?: string
  readonly body?: string
}

it('asks for an e-mail address where the sale does, and passes it on with where the checkout came from', async () => {
  const { sale, cookie, buy, received } = await atCheckout({ state: { contact: 'required' } })
  const document = await (await call(`/sales/${sale.name}`, { headers: { accept: 'application/json' } })).json()
  expect(document).toMatchObject({ contact: 'required' })
  expect(await (await sale.line({ cookie })).text()).toMatch(/name="email" autocomplete="email"[^>]* required/)
  const from = { 'cf-connecting-ip': '192.0.2.77', 'accept-language': 'de-AT, en;q=0.5', 'edge-address': 'forged' }
  const headers = { ...from, 'sec-fetch-site': 'same-origin', cookie }
  await buy({ product_id: 'lamp', email: 'me@example.org' }, headers)
  await post(sale.name, headers)
  const requests = await received()
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ contact: { email: 'me@example.org' } })
  for (const request of requests)
    expect(request.headers).toMatchObject({ 'edge-address': '192.0.2.77', 'edge-language': 'de' })
})

it('buys, pays and cancels by plain forms', async () => {
  const order = newOrder()
  const { sale, path: checkout, buy, received } = await atCheckout({ order })
  const page = `/sales/${sale.name}/order/${order}`
  const form = (path: string, fields: Record<string, string>, cookie: string) =>
    sale.form(path, fields, { 'sec-fetch-site': 'same-origin', cookie })
  const bought = await buy({ product_id: 'lamp', quantity: '2', idempotency_key: 'form-1' })
  expect([bought.status, bought.headers.get('location')]).toEqual([303, page])
  const [sent] = await received()
  expect(JSON.parse(sent?.body ?? '')).toEqual({ product_id: 'lamp', quantity: 2 })
  expect(sent?.headers['idempotency-key']).toBe('form-1')

  const mine = cookiesOf(bought)
  await stub(`/orders/${order}`, 200, orderOf(sale.name, order))
  const shown = await call(page, { headers: { accept: 'text/html', cookie: mine } })
  expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'no-store'])
  await stub(`/orders/${order}/payment`, 202, orderOf(sale.name, order))
  expect((await form(`/order/${order}/payment`, { payment_method: 'pm_ok' }, mine)).status).toBe(303)
  const paid = await requestsTo(`/orders/${order}/payment`)
  expect(JSON.parse(paid.requests[0]?.body ?? '')).toEqual({ payment_method: 'pm_ok' })
  // The order was paid in another tab, which its page shows.
  await stub(`/orders/${order}/payment`, 409, { type: '/problems/conflict', title: 'Conflict', status: 409 })
  const conflict = await form(`/order/${order}/payment`, { payment_method: 'pm_ok' }, mine)
  expect(conflict.headers.get('location')).toBe(page)
  expect((await form(`/order/${order}/cancel`, {}, mine)).status).toBe(303)
  const { requests } = await requestsTo(`/orders/${order}`)
  expect(requests[requests.length - 1]?.method).toBe('DELETE')

  // A visitor at their limit sees their existing order, marked as such.
  await stub(checkout, 200, orderOf(sale.name, order))
  const already = (await buy({ product_id: 'lamp' })).headers.get('location') ?? ''
  expect(already).toBe(`${page}?already`)
  const note = async () =>
    /<p class="note">([^<]*)/.exec(await (await call(already, { headers: { cookie: mine } })).text())?.[1]
  expect(await note()).toMatch(/^You already have an order here/)
  // The order may have ended when the form is sent again.
  const over = { ...orderOf(sale.name, order), status: 'cancelled' }
  await stub(`/orders/${order}`, 200, over)
  expect(await note()).toBeUndefined()
  await stub(checkout, 200, over, 0, { 'idempotency-replayed': 'true' })
  expect((await buy({ product_id: 'lamp' })).headers.get('location')).toBe(page)

  await sale.publish({ phase: 'all_in_carts', products: [product(0, 1)] })
  await sale.push()
  await sale.until(({ phase }) => phase === 'all_in_carts')
  await stub(checkout, 409, { type: '/problems/all-in-carts', title: 'All in carts', status: 409 })
  const refused = await buy({ product_id: 'lamp', idempotency_key: 'form-2' })
  expect([refused.status, refused.headers.get('content-type')]).toEqual([409, expect.stringContaining('text/html')])
  // The turn continues, because a unit may become available again.
  expect(await refused.text()).toContain('What is not paid comes back: this page offers it by itself.')
})

it('changes the language of a turn by its own form, and keeps it in the address of the order', async () => {
  const { sale, cookie, received } = await atCheckout({ state: { contact: 'required' } })
  const form = (fields: Record<string, string>) =>
    sale.form('/buy?lang=de', { product_id: 'lamp', email: 'me@example.org', ...fields }, { cookie })
  const page = await (await form({ again: 'language' })).text()
  expect(page).toMatch(/<html lang="de"[\s\S]*value="me@example.org"/)
  expect(page).toContain(`<form method="post" action="/sales/${sale.name}/buy?lang=de" id="turn-form"`)
  expect(page).toMatch(/<button class="link" form="turn-form" formaction="[^"]*\/buy\?lang=fr" name="again"/)
  expect(await received()).toEqual([])
  expect((await form({})).headers.get('location')).toBe(`/sales/${sale.name}/order/${ORDER}?lang=de`)
  await stub(`/sales/${sale.name}/checkout`, 200, orderOf(sale.name, ORDER))
  expect((await form({})).headers.get('location')).toBe(`/sales/${sale.name}/order/${ORDER}?already&lang=de`)
})

it('buys seats, places and products of a hall by one plain form, and offers others for a taken seat', async () => {
  const section = { ...product(20), product_id: 'stalls', name: 'Stalls', section_type: 'reserved' } as const
  const standing = { ...product(20), product_id: 'pit', name: 'Pit', section_type: 'general_admission' } as const
  const state = { products: [section, standing, product(20)], chart_version: 3 }
  const { sale, path, buy, received } = await atCheckout({ state })
  const seat = (seat_id: string, number: string) => ({ seat_id, row: 'A', number, price_minor: 4_800 })
  const seats = [seat('A-1', '1'), seat('A-2', '3')]
  const chart = { categories: [{ category: 'c1', price_minor: 4_800 }], sections: [{ section_id: 'stalls', seats }] }
  await stub(`/internal/sales/${sale.name}/chart`, 200, chart)
  const form = (fields: Record<string, string>) => buy({ product_id: '', cart: '1', ...fields })
  const chosen = { 'seat:stalls:A-1': '1', 'places:pit': '2', 'units:lamp': '1', 'best-quantity': '' }
  expect((await form(chosen)).status).toBe(303)
  const lines = [
    { section_id: 'stalls', seats: ['A-1'] },
    { section_id: 'pit', quantity: 2 },
    { product_id: 'lamp', quantity: 1 },
  ]
  expect(JSON.parse((await received())[0]?.body ?? '')).toEqual({ lines })

  const offer = [{ section_id: 'stalls', seats: ['A-2'] }]
  await stub(path, 409, { type: '/problems/seat-taken', title: 'Taken', status: 409, seats: ['A-1'], offer })
  const refused = await form(chosen)
  expect(refused.status).toBe(409)
  const page = await refused.text()
  expect(page).toContain('Somebody else was faster: Stalls, Row A, seat 1.')
  expect(page).toMatch(
    /<bdi>Row A, seat 3<\/bdi><\/h3><p[^>]*><bdi>Stalls<\/bdi>[\s\S]*name="seat:stalls:A-2" value="1"/,
  )
  expect(page).toMatch(/name="places:pit"[^>]* value="2"/)
  expect((await requestsTo(`/internal/sales/${sale.name}/chart`)).requests[0]?.query).toBe('v=3')

  expect(await (await form({ 'places:pit': '0' })).text()).toContain('Nothing chosen yet')
  expect(await received()).toHaveLength(2)
})

it('shows by name the best seats that a form asks for, with the price of all, before it reserves them', async () => {
  const section = { ...product(20), product_id: 'stalls', name: 'Stalls', section_type: 'reserved' } as const
  const { sale, buy, received } = await atCheckout({ state: { products: [section, product(20)] } })
  const price = { subtotal_minor: 5_000, discount_minor: 0, fees: [], shipping_minor: 0, tax_minor: 0 }
  const totals = { ...price, total_minor: 5_000 }
  const offer = `/sales/${sale.name}/seats/offer`
  await stub(offer, 200, { section_id: 'stalls', seats: ['A-1', 'A-2'], totals })
  await stub(`/sales/${sale.name}/totals`, 200, totals)
  const fields = { product_id: '', 'best-quantity': '2', 'units:lamp': '1' }
  const shown = await (await buy(fields)).text()
  expect(shown).toContain('We would take these')
  const seats = ['seat:stalls:A-1', 'seat:stalls:A-2']
  expect([...shown.matchAll(/name="(seat:[^"]+)" value="1" checked/g)].map(([, name]) => name)).toEqual(seats)
  const asked = async (path: string) => (await requestsTo(path)).requests.map(({ body }) => JSON.parse(body))
  expect(await asked(offer)).toEqual([{ quantity: 2 }])
  const lines = [
    { section_id: 'stalls', seats: ['A-1', 'A-2'] },
    { product_id: 'lamp', quantity: 1 },
  ]
  expect(await asked(`/sales/${sale.name}/totals`)).toEqual([{ lines }])
  expect(await received()).toEqual([])

  const offered = Object.fromEntries(seats.map((name) => [name, '1']))
  expect((await buy({ ...fields, ...offered, offered: seats.join(' ') })).status).toBe(303)
  expect(await asked(`/sales/${sale.name}/checkout`)).toEqual([{ lines }])
  await stub(offer, 409, { type: '/problems/all-in-carts', title: 'All in carts', status: 409 })
  const another = await buy({ ...fields, ...offered, offered: seats.join(' '), find: 'another' })
  expect(await another.text()).toMatch(/id="fault-best"[^>]*>There are not that many/)
  expect((await asked(offer)).at(-1)).toEqual({ quantity: 2, not: ['A-1', 'A-2'] })
})

it('answers a form that the page’s script sends by the order’s page itself, by one call of the origin', async () => {
  const order = newOrder()
  const { sale, cookie } = await atCheckout({ order })
  const path = `/sales/${sale.name}/order/${order}`
  const form = (path: string, fields: Record<string, string>, cookie: string) =>
    sale.form(path, fields, { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty', cookie })
  const shows = async (response: Response, status: string) => {
    const said = ['content-location', 'cache-control'].map((name) => response.headers.get(name))
    expect([response.status, ...said]).toEqual([200, path, 'no-store'])
    const page = await response.text()
    expect(page).toContain(`data-path="${path}"`)
    expect(/data-order-status="(\w+)"/.exec(page)?.[1]).toBe(status)
    return page
  }
  const bought = await form('/buy', { product_id: 'lamp' }, cookie)
  const mine = cookiesOf(bought)
  expect(mine).toContain(`order-${order}=${ORDER_TOKEN}`)
  expect(await shows(bought, 'reserved')).not.toContain(ORDER_TOKEN)
  await stub(`/sales/${sale.name}/checkout`, 200, orderOf(sale.name, order))
  expect(await (await form('/buy', { product_id: 'lamp' }, cookie)).text()).toContain('You already have an order here')

  // The response contains the page that follows a successful payment.
  await stub(`/orders/${order}/payment`, 202, { ...orderOf(sale.name, order), status: 'paying' })
  const paying = await shows(await form(`/order/${order}/payment`, { payment_method: 'pm_ok' }, mine), 'paying')
  expect(/<template id="order-confirmed" data-title="It is yours">([\s\S]*)<\/template>/.exec(paying)?.[1]).toContain(
    `href="${path}/receipt"`,
  )
  expect((await requestsTo(`/orders/${order}`)).calls).toBe(0)

  // The order has changed, so the response is a conflict. It contains the order, or the edge reads it.
  const conflict = { type: '/problems/conflict', title: 'Conflict', status: 409 }
  const expired = { ...orderOf(sale.name, order), status: 'expired' }
  await stub(`/orders/${order}/payment`, 409, { ...conflict, order: expired })
  await shows(await form(`/order/${order}/payment`, { payment_method: 'pm_ok' }, mine), 'expired')
  await stub(`/orders/${order}/payment`, 409, conflict)
  await stub(`/orders/${order}`, 200, { ...orderOf(sale.name, order), status: 'cancelled', reason: 'given_back' })
  await shows(await form(`/order/${order}/payment`, { payment_method: 'pm_ok' }, mine), 'cancelled')
  await shows(await form(`/order/${order}/cancel`, {}, mine), 'cancelled')
})

it('reloads an order’s page that could not be shown while the origin was away', async () => {
  const sale = await new TestSale().publish()
  const order = newOrder()
  const path = `/sales/${sale.name}/order/${order}`
  await stub(`/orders/${order}`, 0, '')
  const headers = { accept: 'text/html', cookie: `order-${order}=${ORDER_TOKEN}` }
  const response = await call(path, { headers })
  expect(response.status).toBe(503)
  const page = await response.text()
  expect(page).toContain(`data-path="${path}"`)
  expect(page).toMatch(/<noscript><meta http-equiv="refresh" content="\d+"><\/noscript>/)
  expect(page).toContain(`<a class="button" href="${path}">Try again</a>`)
})

it('gives a form without a product back, with what was typed', async () => {
  const { sale, buy, received } = await atCheckout()
  const response = await buy({ quantity: '1', email: 'ada@home' })
  expect(response.status).toBe(422)
  const page = await response.text()
  expect(page).toContain('id="fault-product" role="alert" tabindex="-1" autofocus>Choose again<')
  expect(page).toContain(`action="/sales/${sale.name}/buy"`)
  expect(await received()).toEqual([])
})

/** A sale of one shoe in two sizes, which is sent to two countries. */
const inSizes = () => {
  const shoe = { ...product(0), product_id: 'shoe', name: 'Shoe', total: 0, available: 0 }
  const size = (value: string) => ({
    ...product(20),
    product_id: `shoe-${value}`,
    name: `Shoe, ${value}`,
    variant_of: 'shoe',
    variant: { Size: value },
    has_terms: true,
  })
  return {
    products: [shoe, size('41'), size('42')],
    contact: 'required' as const,
    delivery: {
      kind: 'address' as const,
      countries: ['DE', 'AT'],
      prices: [{ amount_minor: 690 }],
      ask: { name: 'off', phone: 'off', company: 'off', note: 'off' } as const,
    },
  }
}
const TYPED = {
  ...{ product_id: 'shoe-42', quantity: '1', email: 'ada@example.org', promo_code: ' noon10 spring', accept: 'terms' },
  ...{ name: 'Ada', street: 'Elm Row 12', postcode: '10119', city: 'Berlin', country: 'DE', note: '', phone: ' ' },
}
const TOTALS = {
  ...{ subtotal_minor: 10_000, discount_minor: 1_000, fees: [], shipping_minor: 690, tax_minor: 0, total_minor: 9_690 },
}

/** The page contains what was typed. */
function keeps(page: string): void {
  for (const [name, value] of Object.entries({ street: 'Elm Row 12', postcode: '10119', email: 'ada@example.org' }))
    expect(page, name).toMatch(new RegExp(`name="${name}"[^>]* value="${value}"`))
  expect(page).toMatch(/value="shoe-42" checked/)
  expect(page).toMatch(/<option value="DE" selected>/)
  expect(page).toMatch(/name="accept" value="terms" checked/)
}

it('sends what was typed as the checkout takes it, and leaves out what was left empty', async () => {
  const { buy, received } = await atCheckout({ state: inSizes() })
  await buy({ ...TYPED, total_minor: '9690' })
  expect(JSON.parse((await received())[0]?.body ?? '')).toEqual({
    product_id: 'shoe-42',
    quantity: 1,
    contact: { email: 'ada@example.org' },
    promo_code: ['noon10', 'spring'],
    delivery: { name: 'Ada', street: 'Elm Row 12', postcode: '10119', city: 'Berlin', country: 'DE' },
    accept: ['terms'],
    total_minor: 9690,
  })
})

it('says what a promo code makes of the sum, as a page or to its script, and buys nothing', async () => {
  const { sale, buy, received } = await atCheckout({ state: inSizes() })
  const path = `/sales/${sale.name}/totals`
  const codes = [{ code: 'SPRING', holds: false, reason: 'used_up' }]
  await stub(path, 200, { ...TOTALS, currency: 'EUR', promo_codes: [{ code: 'NOON10', holds: true }] })
  const asked = { ...TYPED, apply: '1', total_minor: '10690' }
  const response = await buy(asked)
  expect(response.status).toBe(200)
  const page = await response.text()
  keeps(page)
  expect(page).toMatch(/<dt>Code noon10 spring <\/dt><dd>−€10\.00<\/dd>/)
  expect(page).toContain('name="total_minor" value="9690"')
  const sent = JSON.parse((await requestsTo(path)).requests[0]?.body ?? '')
  expect(sent).toMatchObject({ product_id: 'shoe-42', promo_code: ['noon10', 'spring'] })
  expect(sent).not.toHaveProperty('total_minor')

  await stub(path, 200, { ...TOTALS, promo_codes: codes, needs_country: true })
  const script = { accept: 'application/json', 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' }
  const answer = await buy(asked, script)
  expect(await answer.json()).toEqual({ ...TOTALS, promo_codes: codes, needs_country: true })
  const refused = await (await buy(asked)).text()
  expect(refused).toContain('id="fault-promo_code" role="alert">This code is used up.')
  expect(refused).toContain('name="total_minor" value=""')

  await stub(path, 422, { type: '/problems/promo-code-unknown', title: 'Unknown', status: 422 })
  const unknown = await buy(asked, script)
  expect([unknown.status, unknown.headers.get('content-type')]).toEqual([422, 'application/problem+json'])
  expect(await received()).toEqual([])
})

const wrong = (field: string, detail?: string) => ({ errors: [{ field, detail }] })
const HEAVY = { ...wrong('quantity', 'is more than a parcel holds'), reason: 'too_heavy' }
it.each([
  [409, 'price-changed', TOTALS, 'sum', 'The price has changed: the sum is now €96.90.'],
  [409, 'promo-code-used-up', { ...TOTALS, discount_minor: 0 }, 'promo_code', 'This code is used up.'],
  [422, 'promo-code-unknown', {}, 'promo_code', 'There is no such code'],
  [422, 'invalid-fields', wrong('delivery.country'), 'country', 'It is not sent'],
  [422, 'invalid-fields', wrong('delivery.city'), 'city', 'Please fill this in.'],
  [422, 'invalid-fields', wrong('accept'), 'accept', 'Please accept the terms.'],
  [422, 'invalid-fields', HEAVY, 'country', 'This is too heavy'],
])('keeps all that was typed, with the fault beside its field: %s %s', async (status, type, more, field, text) => {
  const body = { type: `/problems/${type}`, title: 'No', status, ...more }
  const { buy } = await atCheckout({ status, body, state: inSizes() })
  const response = await buy(TYPED)
  expect(response.status).toBe(status)
  const page = await response.text()
  keeps(page)
  expect(page).toMatch(new RegExp(`fault-${field}" role="alert"( tabindex="-1" autofocus)?>${text}`))
  expect(page.match(/autofocus/g)).toHaveLength(1)
})

it('leads a browser without scripts back to its latest order in the sale', async () => {
  const [sale, other] = await Promise.all([new TestSale().publish(), new TestSale().publish()])
  const [first, latest, elsewhere] = [newOrder(), newOrder(), newOrder()]
  const token = (of: string) => ORDER_TOKEN.replace('.e30.', `.${base64url.encode(JSON.stringify({ sale: of }))}.`)
  const kept =
    `order-${first}=${token(sale.name)}; order-${latest}=${token(sale.name)}; ` +
    `order-${elsewhere}=${token(other.name)}; order-${newOrder()}=none; order-x=${token(sale.name)}`
  const link = async (cookie: string) => {
    const page = await (await sale.line({ cookie })).text()
    return /<noscript><p class="notice row" >[^<]*<a href="([^"]+)"/.exec(page)?.[1]
  }
  const page = `/sales/${sale.name}/order/${latest}`
  expect(await link(kept)).toBe(page)
  expect(await link('')).toBeUndefined()
  expect(await link(`${kept}; admission-${sale.name}=${await admission(sale.name)}`)).toBe(page)
})

it('responds to HEAD as the origin does, without a body to read', async () => {
  const order = newOrder()
  const authorization = `Bearer ${await admission('headed')}`
  const problem = { 'content-type': 'application/problem+json' }
  for (const status of [200, 403, 404, 410])
    for (const accept of ['text/html', 'application/json']) {
      await stub(`/orders/${order}`, status, '', 0, problem)
      const response = await call(`/orders/${order}`, { method: 'HEAD', headers: { authorization, accept } })
      expect([response.status, await response.text()], accept).toEqual([status, ''])
    }
})
