/** Where the shop takes the money, buyers go to it with their hold, which the shop can verify without a call. */
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { expect, it } from 'vitest'
import { edgeEnv, orderOf, stub } from '../testing/origin.ts'
import { admission, call, knownCookie, TestSale } from '../testing/visitors.ts'

const returnUrl = 'https://shop.example/checkout?from=drop'
const ask = { name: 'off', phone: 'off', company: 'off', note: 'off' } as const
const atShop = { payment: 'handover', delivery: { kind: 'none', return_url: returnUrl, ask } } as const
const cookie = knownCookie('a-secret-of-the-tests')

async function orderIn(changes: object, state: Parameters<TestSale['publish']>[0] = atShop) {
  const sale = await new TestSale().publish(state)
  const id = crypto.randomUUID()
  await stub(`/sales/${sale.name}/orders`, 200, { orders: [{ ...orderOf(sale.name, id), ...changes }] })
  const path = `/sales/${sale.name}/order/${id}`
  const get = (to: string) => call(`${path}${to}`, { headers: { accept: 'text/html', cookie } }, edgeEnv)
  return { sale, id, path, get }
}

it('sends the buyer of a hold to the shop, with the hold and its end, signed as nothing else is', async () => {
  const reserved_until = '2026-11-27T12:01:30.500Z'
  const { sale, id, path, get } = await orderIn({ status: 'reserved', reserved_until, short_number: 'K7Q-4MX' })
  expect(await (await get('')).text()).toContain(`href="${path}/pay"`)
  const response = await get('/pay')
  expect(response.status).toBe(303)
  const to = new URL(response.headers.get('location') ?? '')
  const token = to.searchParams.get('order') ?? ''
  to.searchParams.delete('order')
  expect(to.href).toBe(returnUrl)
  const published: JSONWebKeySet = await (await call('/.well-known/handover-keys.json', {}, edgeEnv)).json()
  const verify = (audience: string) =>
    jwtVerify(token, createLocalJWKSet(published), {
      ...{ issuer: 'flash-sale-edge', audience, currentDate: new Date('2026-11-27T12:00:00Z') },
    })
  const { payload } = await verify('hold')
  const lines = [{ product_id: 'lamp', quantity: 1 }]
  expect(payload).toMatchObject({
    sub: id,
    sale: sale.name,
    status: 'reserved',
    reserved_until,
    lines,
    currency: 'EUR',
  })
  expect(payload.exp).toBe(Math.floor(Date.parse(reserved_until) / 1000))
  // A shop that asks for the address of paid orders takes no hold for one.
  await expect(verify('handover')).rejects.toThrow('"aud"')
})

it('leads to the page of an order that cannot be paid, and nowhere where a provider takes the money', async () => {
  for (const status of ['confirmed', 'expired']) {
    const { path, get } = await orderIn({ status })
    expect((await get('/pay')).headers.get('location')).toBe(path)
  }
  const { get } = await orderIn({ status: 'reserved' }, {})
  expect((await get('/pay')).status).toBe(404)
})

it('has the page go to the shop once the units are reserved', async () => {
  const sale = await new TestSale().publish(atShop)
  const order = crypto.randomUUID()
  await stub(`/sales/${sale.name}/checkout`, 201, orderOf(sale.name, order))
  const own = { cookie: `admission-${sale.name}=${await admission(sale.name)}`, accept: 'text/html' }
  const path = `/sales/${sale.name}/order/${order}`
  const byScript = await sale.form('/buy', { product_id: 'lamp' }, { ...own, 'sec-fetch-dest': 'empty' })
  expect([byScript.status, byScript.headers.get('content-location'), await byScript.text()]).toEqual([
    ...[200, `${path}/pay`, ''],
  ])
  // A form that is not sent by the script gets a page with a link: no redirect to another host may follow it.
  expect((await sale.form('/buy', { product_id: 'lamp' }, own)).headers.get('location')).toBe(path)
})
