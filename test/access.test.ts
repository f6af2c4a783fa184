/** Who may come in, through edge and origin: what an operator decides holds and is counted everywhere within two seconds. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { signedIn } from './lib/shop-session.ts'
import { sharedPart } from './run/shared-part.ts'

const PRODUCT = { product_id: 'one', name: 'One', unit_price_minor: 100, currency: 'EUR', total: 5 }

const system = await sharedPart('system')

type Body = Readonly<Record<string, unknown>>

async function call(method: string, url: string, headers: Record<string, string> = {}, body?: object) {
  const response = await fetch(url, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : { text }) as Body }
}

const admin = (method: string, path: string, body?: object) =>
  call(method, `${system.originUrl}/admin${path}`, { authorization: `Bearer ${system.adminToken}` }, body)

async function openSale(changes: object = {}) {
  const sale = `sale-${randomUUID().slice(0, 8)}`
  const opens_at = new Date(Date.now() - 1_000).toISOString()
  const config = { name: 'Test', opens_at, products: [PRODUCT], admission: { rate_per_second: 100 }, ...changes }
  expect(await admin('PUT', `/sales/${sale}`, config)).toMatchObject({ status: 201 })
  const at = `${system.edgeUrl}/sales/${sale}`
  await expect.poll(async () => (await call('GET', `${at}/schedule`)).status).toBe(200)
  return { sale, at }
}

/** Joins with these headers, and waits for the turn. */
async function admitted(at: string, headers: Record<string, string>): Promise<Body> {
  const { body } = await call('POST', `${at}/queue`, headers)
  const status = () => call('GET', `${at}/queue/status`, { ...headers, authorization: `Bearer ${body.queue_token}` })
  await expect.poll(async () => (await status()).body.status).toBe('ready')
  return { ...body, ...(await status()).body }
}

const checkout = (at: string, token: unknown, headers: Record<string, string>) =>
  call('POST', `${at}/checkout`, { ...headers, authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() }, {})

test('a rule about a claim is in effect soon, and counted', async () => {
  const { sale, at } = await openSale()
  const [silver, gold] = [await signedIn('sam', { tier: 'silver' }), await signedIn('gil', { tier: 'gold' })]
  const when = { claim: { name: 'tier', value: 'silver' } }
  const { body: added } = await admin('POST', `/sales/${sale}/rules`, { when, action: 'refuse', note: 'gold first' })
  // Each try is another account, since who has a place is not asked again.
  let tries = 0
  const newcomer = async () => call('POST', `${at}/queue`, await signedIn(`sam-${tries++}`, { tier: 'silver' }))
  await expect.poll(newcomer).toMatchObject({ status: 403, body: { type: '/problems/refused' } })
  expect(await call('POST', `${at}/queue`, gold)).toMatchObject({ status: 201 })
  expect(await call('POST', `${at}/queue`, silver)).toMatchObject({ status: 403 })
  const rules = async () => (await admin('GET', `/sales/${sale}/rules`)).body.rules
  await expect.poll(rules).toMatchObject([{ rule: added.rule, met: 2 }])
  const metrics = async () => String((await call('GET', `${system.opsUrl}/metrics`)).body.text)
  await expect.poll(metrics).toContain(`edge_refusals_total{sale="${sale}",reason="refused"} 2`)
  expect(await metrics()).toContain(`edge_joins_total{sale="${sale}"} ${tries}`)

  expect(await admin('DELETE', `/sales/${sale}/rules/${added.rule}`)).toMatchObject({ status: 204 })
  await expect.poll(newcomer).toMatchObject({ status: 201 })
})

test('one account has one place and one limit, from wherever it comes', async () => {
  const { at } = await openSale({ access: { sign_in: 'required' }, limit_per_visitor: 1 })
  const back = encodeURIComponent(`${at}/line`)
  const refused = { type: '/problems/sign-in-required', sign_in_url: `${system.signInUrl}?return=${back}` }
  expect(await call('POST', `${at}/queue`)).toMatchObject({ status: 401, body: refused })
  const [phone, laptop] = await Promise.all([signedIn('ada'), signedIn('ada')])
  const [first, second] = [await admitted(at, phone), await admitted(at, laptop)]
  expect(second.number).toBe(first.number)
  const [order, again] = [
    await checkout(at, first.admission_token, phone),
    await checkout(at, second.admission_token, laptop),
  ]
  expect([order.status, again.status]).toEqual([201, 200])
  expect(again.body.order_id).toBe(order.body.order_id)
  // What was made out to an account is of no use to anybody else.
  expect(await checkout(at, first.admission_token, await signedIn('bob'))).toMatchObject({ status: 429 })
})

test('who is blocked is refused everywhere, and what they held can be bought by others', async () => {
  const { sale, at } = await openSale({ products: [{ ...PRODUCT, total: 1 }] })
  const eve = await signedIn('eve')
  const place = await admitted(at, eve)
  const { body: order } = await checkout(at, place.admission_token, eve)
  expect(order.status).toBe('reserved')
  const { body: block } = await admin('POST', '/blocks', { order: order.order_id })
  expect(block).toMatchObject({ account: 'eve' })
  const asEve = (method: string, url: string, token: unknown) =>
    call(method, url, { ...eve, authorization: `Bearer ${token}` })
  const calls = async () => {
    const answers = await Promise.all([
      asEve('GET', `${at}/queue/status`, place.queue_token),
      checkout(at, place.admission_token, eve),
      asEve('GET', `${system.edgeUrl}/orders/${order.order_id}`, order.order_token),
    ])
    return answers.map(({ status }) => status)
  }
  await expect.poll(calls).toEqual([403, 403, 403])
  const stock = async () => (await admin('GET', `/sales/${sale}`)).body.products
  await expect.poll(stock).toMatchObject([{ available: 1, held: 0 }])
  const other = await admitted(at, {})
  expect(await checkout(at, other.admission_token, {})).toMatchObject({ status: 201 })

  await admin('DELETE', `/blocks/${block.block}`)
  await expect.poll(async () => (await asEve('GET', `${at}/queue/status`, place.queue_token)).status).toBe(200)
})

test('the stand-in for the shop is no part of edge and origin', async () => {
  for (const url of [system.edgeUrl, system.originUrl])
    for (const path of ['/demo/sign-in', '/demo/jwks.json'])
      expect(await call('GET', url + path)).toMatchObject({ status: 404 })
})
