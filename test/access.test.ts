/**
 * An operator's decision about who may join holds at edge and origin, and is counted everywhere within two seconds.
 */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Order } from '../shared/api/public.ts'
import { admin } from './lib/operator.ts'
import { createSale } from './lib/origin-process.ts'
import { saleOf } from './lib/samples.ts'
import { signedIn } from './lib/shop-session.ts'
import { admitted, call, visitorsOf } from './lib/visitor.ts'
import { sharedPart } from './run/shared-part.ts'

const system = await sharedPart('system')
const { edgeUrl, originUrl, opsUrl } = system

async function openSale(changes: Parameters<typeof saleOf>[1] = {}, total = 5) {
  const sale = `sale-${randomUUID().slice(0, 8)}`
  await createSale(system, sale, saleOf(total, { admission: { rate_per_second: 100, max_inside: null }, ...changes }))
  return { sale, ...visitorsOf(edgeUrl, sale) }
}

test('a rule about a claim is in effect soon, and counted', async () => {
  const { sale, join } = await openSale()
  const [silver, gold] = [await signedIn('sam', { tier: 'silver' }), await signedIn('gil', { tier: 'gold' })]
  const rules = `/sales/${sale}/rules`
  const rule = { when: { claim: { name: 'tier', value: 'silver' } }, action: 'refuse', note: 'gold first' }
  const added = await admin(system, 'POST', rules, rule)
  // Each attempt uses another account, because a visitor with a place is not checked again.
  let tries = 0
  const newcomer = async () => join({ headers: await signedIn(`sam-${tries++}`, { tier: 'silver' }) })
  await expect.poll(newcomer).toMatchObject({ status: 403, body: { type: '/problems/refused' } })
  expect(await join({ headers: gold })).toMatchObject({ status: 201 })
  expect(await join({ headers: silver })).toMatchObject({ status: 403 })
  await expect.poll(() => admin(system, 'GET', rules)).toMatchObject({ rules: [{ rule: added.rule, met: 2 }] })
  const metrics = async () => String((await call('GET', `${opsUrl}/metrics`)).body.text)
  await expect.poll(metrics).toContain(`edge_refusals_total{sale="${sale}",reason="refused"} 2`)
  expect(await metrics()).toContain(`edge_joins_total{sale="${sale}"} ${tries}`)

  await admin(system, 'DELETE', `${rules}/${added.rule}`)
  await expect.poll(newcomer).toMatchObject({ status: 201 })
})

test('one account has one place and one limit, from wherever it comes', async () => {
  const { at, join, called, checkout } = await openSale({ access: { ...saleOf(1).access, sign_in: 'required' } })
  const back = encodeURIComponent(at('/line'))
  const refused = { type: '/problems/sign-in-required', sign_in_url: `${system.signInUrl}?return=${back}` }
  expect(await join()).toMatchObject({ status: 401, body: refused })
  const devices = await Promise.all([signedIn('ada'), signedIn('ada')])
  const places = await Promise.all(devices.map(async (headers) => called((await join({ headers })).body, headers)))
  expect(places[1]?.number).toBe(places[0]?.number)
  const orders: Awaited<ReturnType<typeof checkout>>[] = []
  for (const [i, headers] of devices.entries()) orders.push(await checkout(places[i]?.admission_token, {}, headers))
  expect(orders.map(({ status }) => status)).toEqual([201, 200])
  expect(orders[1]?.body.order_id).toBe(orders[0]?.body.order_id)
  // An admission that belongs to an account is of no use to another one.
  expect(await checkout(places[0]?.admission_token, {}, await signedIn('bob'))).toMatchObject({ status: 429 })
})

test('a sold admission buys nothing, with another session at the edge or directly at the origin', async () => {
  const { sale, checkout } = await openSale()
  const token = await admitted(edgeUrl, sale, await signedIn('cat'))
  const sold = { status: 429, body: { type: '/problems/not-admitted' } }
  expect(await checkout(token, {}, await signedIn('mallory'))).toMatchObject(sold)
  const pretended = { 'edge-token': 'edge', ...(await signedIn('cat')) }
  for (const headers of [{}, pretended])
    expect(await visitorsOf(originUrl, sale).checkout(token, {}, headers)).toMatchObject({
      status: 403,
      body: { type: '/problems/edge-only' },
    })
  expect(await checkout(token, {}, await signedIn('cat'))).toMatchObject({ status: 201 })
})

test('who is blocked is refused everywhere, and what they held can be bought by others', async () => {
  const { sale, at, join, called, checkout } = await openSale({}, 1)
  const eve = await signedIn('eve')
  const { body: place } = await join({ headers: eve })
  const { admission_token } = await called(place, eve)
  const { body: order } = await checkout(admission_token, {}, eve)
  expect(order.status).toBe('reserved')
  const block = await admin(system, 'POST', '/blocks', { order: order.order_id })
  expect(block).toMatchObject({ account: 'eve' })
  const status = async (url: string, token: string | undefined) =>
    (await call<Order>('GET', url, { token, headers: eve })).status
  const inLine = () => status(at('/queue/status'), place.queue_token)
  const calls = async () => [
    await inLine(),
    (await checkout(admission_token, {}, eve)).status,
    await status(`${edgeUrl}/orders/${order.order_id}`, order.order_token),
  ]
  await expect.poll(calls).toEqual([403, 403, 403])
  const stock = () => admin(system, 'GET', `/sales/${sale}`)
  await expect.poll(stock).toMatchObject({ products: [{ available: 1, held: 0 }] })
  expect(await checkout(await admitted(edgeUrl, sale))).toMatchObject({ status: 201 })

  await admin(system, 'DELETE', `/blocks/${block.block}`)
  await expect.poll(inLine).toBe(200)
})

test('the stand-in for the shop is no part of edge and origin', async () => {
  for (const url of [edgeUrl, originUrl])
    for (const path of ['/demo/sign-in', '/demo/jwks.json'])
      expect(await call('GET', url + path)).toMatchObject({ status: 404 })
})
