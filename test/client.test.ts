/** The published client buys in a whole system, steers it, and verifies what it sends. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { FlashSale, type Order, ProblemError, type QueueAnswer, WaitOver } from '../client/src/index.ts'
import { Operators } from '../client/src/operators.ts'
import { TokenVerifier } from '../client/src/tokens.ts'
import { verifyWebhook } from '../client/src/webhooks.ts'
import { describedFetch } from './lib/described.ts'
import { saleOf } from './lib/samples.ts'
import { sharedPart } from './run/shared-part.ts'
import { type Received, useReceiver } from './stand-ins/receiver.ts'

const { edgeUrl, originUrl, adminToken } = await sharedPart('system')
const receiver = useReceiver()
const shop = new FlashSale(edgeUrl, { fetch: describedFetch })
const operators = new Operators(originUrl, { key: adminToken, fetch: describedFetch })

/** Creates a sale, open by default, and waits until the edge knows it. */
async function openSale(total: number, changes: Parameters<typeof saleOf>[1] = {}): Promise<string> {
  const sale = `sale-${randomUUID().slice(0, 8)}`
  const body = saleOf(total, { admission: { rate_per_second: 100, max_inside: null }, ...changes })
  await operators.call('putSale', { path: { sale }, body })
  await expect.poll(() => shop.sale(sale).catch((error) => error.type)).toMatchObject({ sale })
  return sale
}

const requestOf = ({ body, headers }: Received) =>
  new Request('http://shop.example', { method: 'POST', headers: headers as Record<string, string>, body })

test('a visitor joins by a proof of work, waits, checks out once, pays and follows; the shop hears of it', async () => {
  const sale = await openSale(2, { access: { ...saleOf(1).access, proof_of_work: 1_000 } })
  const path = `/${randomUUID()}`
  const { endpoint, secret } = await operators.call('addWebhook', {
    body: { url: receiver.url(path), events: ['order.confirmed'] },
  })
  const statuses: QueueAnswer['status'][] = []
  const place = await shop.join(sale, { source: { utm_source: 'app' } })
  const resumed = shop.resume(sale, place.token)
  const turn = await resumed.wait({ onStatus: ({ status }) => statuses.push(status) })
  expect(resumed.number).toBe(place.number)
  expect(statuses.at(-1)).toBe('ready')
  expect(turn.expiresAt?.getTime()).toBeGreaterThan(Date.now())

  const key = randomUUID()
  const cart = { lines: [{ product_id: 'one', quantity: 1 }] }
  const order = await turn.checkOut(cart, { key })
  expect((await turn.checkOut(cart, { key })).id).toBe(order.id)
  expect(order.current).toMatchObject({ status: 'reserved', total_minor: 1000 })
  const seen: Order['status'][] = []
  const followed = (async () => {
    for await (const { status } of shop.order(order.id, order.token).follow()) seen.push(status)
  })()
  await order.pay('pm_declined')
  await expect.poll(async () => (await order.read()).payment?.status).toBe('declined')
  await order.pay('pm_ok')
  expect(await order.settled()).toMatchObject({ status: 'confirmed', payment: { status: 'succeeded' } })
  await followed
  expect([seen[0], seen.at(-1)]).toEqual(['reserved', 'confirmed'])

  await expect.poll(() => receiver.at(path).map(({ data }) => data.order_id)).toContain(order.id)
  const [received] = receiver.at(path).filter(({ data }) => data.order_id === order.id) as [Received]
  const message = await verifyWebhook(secret, requestOf(received))
  expect(message).toMatchObject({ type: 'order.confirmed', data: { order_id: order.id, status: 'confirmed' } })
  await operators.call('removeWebhook', { path: { endpoint } })
})

test('a hold that is given back is somebody else’s, and who comes later hears that all is sold', async () => {
  const sale = await openSale(1)
  const first = await (await shop.join(sale)).wait()
  const given = await first.checkOut({ product_id: 'one' })
  expect(await given.cancel()).toMatchObject({ status: 'cancelled', reason: 'given_back' })
  const second = await (await shop.join(sale)).wait()
  const bought = await second.checkOut({ product_id: 'one', payment_method: 'pm_ok' })
  expect(await bought.settled()).toMatchObject({ status: 'confirmed' })
  await expect(second.checkOut({ product_id: 'two' })).rejects.toMatchObject({ type: 'unknown-product', status: 404 })
  const late = async () => (await (await shop.join(sale)).wait()).checkOut({ product_id: 'one' })
  const isOver = (error: unknown) => error instanceof WaitOver || (error as ProblemError).type === 'sold-out'
  await expect(late()).rejects.toThrow(expect.toSatisfy(isOver))
})

test('a wait ends with its signal, and the place is left', async () => {
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const sale = await openSale(1, { opens_at: later, pre_queue_opens_at: new Date(Date.now() - 1000).toISOString() })
  const place = await shop.join(sale)
  const leave = new AbortController()
  const wait = place.wait({ signal: leave.signal, onStatus: () => leave.abort(new Error('enough')) })
  await expect(wait).rejects.toThrow('enough')
  expect(await place.status()).toMatchObject({ status: 'pre_queue', number: place.number })
  await place.leave()
})

test('what a call was refused for is typed', async () => {
  const sale = await openSale(1, { access: { ...saleOf(1).access, sign_in: 'required' } })
  const refused = await shop.join(sale).catch((error) => error)
  expect(refused).toBeInstanceOf(ProblemError)
  expect(refused).toMatchObject({ type: 'sign-in-required', status: 401, fields: { sign_in_url: expect.any(String) } })
  await expect(shop.sale('no-such-sale')).rejects.toMatchObject({ type: 'unknown-sale' })
  await expect(shop.resume(sale, 'none').wait()).rejects.toMatchObject({ type: 'invalid-token' })
})

test('an operator changes a sale that nobody else has changed, and restocks once by a key', async () => {
  const sale = await openSale(5)
  const path = { sale }
  const { headers } = await operators.callWithHeaders('getSale', { path })
  const ifMatch = { 'if-match': headers.get('etag') ?? '' }
  const restock = {
    path: { sale, product: 'one' },
    headers: { 'idempotency-key': randomUUID() },
    body: { quantity: 3 },
  }
  await operators.call('restock', restock)
  const { products } = await operators.call('restock', restock)
  expect(products).toMatchObject([{ total: 8 }])
  const stale = operators.call('putSale', { path, headers: ifMatch, body: saleOf(9) })
  await expect(stale).rejects.toMatchObject({ type: 'changed-meanwhile', fields: { changed: ['products'] } })
  const csv = { file: 'code,percent\nSUMMER,10\n', type: 'text/csv' } as const
  expect(await operators.call('putPromoCodes', { path, body: csv })).toMatchObject({ codes: [{ code: 'SUMMER' }] })
  const file = await operators.call('exportOrders', { path, query: { format: 'csv' } })
  expect(file).toMatch(/^\ufeff?order_id,/)
  expect(await operators.call('listSales')).toMatchObject({ sales: expect.arrayContaining([]) })
  const wrong = new Operators(originUrl, { key: 'none' }).call('listQueues')
  await expect(wrong).rejects.toMatchObject({ type: 'unauthorized' })
})

test('a shop verifies the order that its buyer brings', async () => {
  const handover = { kind: 'handover', return_url: 'https://shop.example/thanks' } as const
  const ask = { name: 'off', phone: 'off', company: 'off', note: 'off' } as const
  const sale = await openSale(1, { delivery: { ...handover, ask } })
  const turn = await (await shop.join(sale)).wait()
  const order = await turn.checkOut({ product_id: 'one', payment_method: 'pm_ok' })
  await order.settled()
  const response = await fetch(`${edgeUrl}/sales/${sale}/order/${order.id}/handover`, {
    redirect: 'manual',
    headers: { authorization: `Bearer ${order.token}`, accept: 'text/html' },
  })
  const token = new URL(response.headers.get('location') ?? '').searchParams.get('order') ?? ''
  const tokens = new TokenVerifier(edgeUrl)
  expect(await tokens.handover(token, sale)).toMatchObject({ sub: order.id, total_minor: 1000, currency: 'EUR' })
  await expect(tokens.handover(token, 'other')).rejects.toThrow('for the sale')
  await expect(tokens.admission(token, sale)).rejects.toThrow()
})
