/** Visitors see their own orders, whose pages open even if the browser has no cookie for them. */
import { expect, it } from 'vitest'
import { identityOf, visitorKey } from '../http/visitor-secret.ts'
import { edgeEnv, ORDER_TOKEN, orderOf, requestsTo, stub } from '../testing/origin.ts'
import { admission, call, cookiesOf, knownCookie, TestSale } from '../testing/visitors.ts'

const SECRET = 'a-secret-of-the-tests'
const NAME = identityOf(SECRET, visitorKey(JSON.parse(edgeEnv.QUEUE_KEYS))).name
const HTML = { accept: 'text/html' }

async function withOrder(changes: object = {}) {
  const sale = await new TestSale().publish()
  const id = crypto.randomUUID()
  const order = { ...orderOf(sale.name, id), ...changes }
  await stub(`/sales/${sale.name}/orders`, 200, { orders: [order] })
  return { sale, id, path: `/sales/${sale.name}` }
}

it('lists the orders of the visitor by their cookie, with tokens for programs only', async () => {
  const { id, path } = await withOrder()
  const list = async (headers: Record<string, string>) => call(`${path}/orders`, { headers })
  const cookie = knownCookie(SECRET)
  const inBrowser = await list({ cookie, 'sec-fetch-site': 'same-origin' })
  expect(await inBrowser.json()).toMatchObject({ orders: [{ order_id: id, status: 'reserved' }] })
  expect(JSON.stringify(await (await list({ cookie, 'sec-fetch-site': 'none' })).json())).not.toContain(ORDER_TOKEN)
  expect(await (await list({ cookie })).json()).toMatchObject({ orders: [{ order_token: ORDER_TOKEN }] })
  const page = await (await list({ cookie, ...HTML })).text()
  expect(page).toContain(`href="${path}/order/${id}"`)
  const { requests } = await requestsTo(`${path}/orders`)
  for (const { headers } of requests)
    expect(headers).toMatchObject({ 'edge-visitor': NAME, 'edge-token': edgeEnv.EDGE_TOKEN })
})

it('asks nothing of the origin for someone who is not known, or who only says who they are', async () => {
  const { id, path } = await withOrder()
  for (const headers of [{}, { cookie: `visitor-secret=${SECRET}` }, { 'edge-visitor': NAME }])
    expect(await (await call(`${path}/orders`, { headers })).json()).toEqual({ orders: [] })
  expect(await (await call(`${path}/orders`, { headers: HTML })).text()).toContain('No orders here')
  expect((await call(`${path}/order/${id}`, { headers: HTML })).status).toBe(404)
  expect((await requestsTo(`${path}/orders`)).calls).toBe(0)
})

it('tells an admission of another sale, or one that has expired, from a token it cannot read', async () => {
  const { path, sale } = await withOrder()
  const ask = async (token: string) => {
    const response = await call(`${path}/orders`, { headers: { authorization: `Bearer ${token}` } })
    return [response.status, ((await response.json()) as { type?: string }).type]
  }
  expect(await ask(await admission(sale.name))).toEqual([200, undefined])
  expect(await ask(await admission('another-sale'))).toEqual([403, '/problems/wrong-sale'])
  expect(await ask(await admission(sale.name, { ttl: -10 }))).toEqual([429, '/problems/not-admitted'])
  expect(await ask('x')).toEqual([401, '/problems/invalid-token'])
})

it('shows an order without its cookie to the visitor whose it is, and gives their browser the cookie', async () => {
  const { id, path } = await withOrder()
  const shown = await call(`${path}/order/${id}`, { headers: { ...HTML, cookie: knownCookie(SECRET) } })
  expect(shown.status).toBe(200)
  expect(await shown.text()).toContain('Reserved for you')
  expect(cookiesOf(shown)).toContain(`order-${id}=${ORDER_TOKEN}`)
  const other = await call(`${path}/order/${crypto.randomUUID()}`, {
    headers: { ...HTML, cookie: knownCookie(SECRET) },
  })
  expect(other.status).toBe(404)
})

it('has a receipt of an order that is paid, with what was paid back', async () => {
  const paid = { status: 'confirmed', total_minor: 200, quantity: 2, refunded_minor: 50 }
  const { id, path } = await withOrder(paid)
  const headers = { ...HTML, cookie: knownCookie(SECRET) }
  const receipt = await (await call(`${path}/order/${id}/receipt`, { headers })).text()
  for (const text of ['Receipt', id, '€2.00', '€0.50', 'Paid back']) expect(receipt).toContain(text)
  // Tax and seller are those at the time of payment, because the sale has none by now.
  const then = { tax: { name: 'VAT', percent: 20 }, seller: { name: 'Ann Lee', tax_id: 'DE1' } }
  const issued = await withOrder({ ...paid, receipt: then })
  const page = await (await call(`${issued.path}/order/${issued.id}/receipt`, { headers })).text()
  for (const text of ['Ann Lee', 'DE1', 'VAT', '€0.33']) expect(page).toContain(text)
  const open = await withOrder()
  const response = await call(`${open.path}/order/${open.id}/receipt`, { headers })
  expect([response.status, response.headers.get('location')]).toEqual([303, `${open.path}/order/${open.id}`])
})
