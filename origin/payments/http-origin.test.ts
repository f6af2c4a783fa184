/** An origin whose provider is the shop's own payment server; between them answers may be lost or changed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requireDescribedToShop } from '../../test/lib/described.ts'
import { eventuallyMatches } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { examplePaymentServer, freePaymentServer, PAYMENT_SECRET, postSigned } from '../../test/lib/payment-server.ts'

const shop = await examplePaymentServer(() => `${line.url}/webhooks/payment`)
const line = await freePaymentServer()
/** What the shop says of an order in place of the truth. */
const lies = new Map<string, object>()
const lostWebhooks = new Set<string>()
line.answers(async (request, response, body) => {
  const isWebhook = request.url === '/webhooks/payment'
  const { order } = JSON.parse(body)
  if (isWebhook && lostWebhooks.has(order)) return response.writeHead(503).end()
  const names = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature']
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]))
  const to = isWebhook ? `${origin.url()}/webhooks/payment` : shop.url
  const answer = await fetch(to, { method: 'POST', headers, body })
  const text = await answer.text()
  const lie = isWebhook ? undefined : lies.get(order)
  response.writeHead(answer.status).end(lie ? JSON.stringify({ ...JSON.parse(text), ...lie }) : text)
})
beforeAll(() => shop.server.start())
afterAll(async () => {
  line.stop()
  await shop.server.stop()
})
const origin = useOwnOrigin(undefined, { PAYMENT_PROVIDER: 'http', PAYMENT_URL: line.url, PAYMENT_SECRET })

async function buy(payment_method?: string, sale: object = {}) {
  const saleId = await origin.sale({ total: 3, ...sale })
  const token = await origin.token(saleId)
  const { body } = await origin.checkout(saleId, { token, body: payment_method ? { payment_method } : {} })
  const id = body.order_id ?? ''
  const read = async () => (await origin.call('GET', `/orders/${id}`, { token })).body
  const until = (wanted: object) => eventuallyMatches(read, wanted)
  const atShop = (wanted: object) => eventuallyMatches(() => shop.state(`${id}-1`), wanted)
  const pay = (method: string) =>
    origin.call('POST', `/orders/${id}/payment`, { token, body: { payment_method: method } })
  const findings = async () => (await origin.admin('GET', `/sales/${saleId}/findings`)).body.findings
  return { saleId, id, read, until, atShop, pay, findings }
}
async function webhook(body: object | string, secret?: string) {
  const response = await postSigned(`${origin.url()}/webhooks/payment`, body, undefined, secret)
  requireDescribedToShop('POST', '/webhooks/payment', response, await response.clone().json())
  return response
}

describe.concurrent("an origin with the shop's own payment server", () => {
  test('confirms and captures an order with one charge, and gives its money back', async () => {
    const { saleId, id, until, atShop, findings } = await buy('pm_ok')
    await until({ status: 'confirmed', payment: { status: 'succeeded' } })
    await atShop({ status: 'captured', amount_minor: 1_000, currency: 'EUR', refunds: [] })
    expect(await origin.stock(saleId)).toMatchObject({ available: 2, held: 0, sold: 1 })
    const headers = { 'idempotency-key': id }
    const refund = { token: ADMIN_TOKEN, headers, body: { amount_minor: 400 } }
    expect((await origin.call('POST', `/admin/orders/${id}/refund`, refund)).status).toBe(202)
    await until({ status: 'confirmed', refunded_minor: 400 })
    await shop.call({ call: 'refund', charge: `${id}-1`, order: id, amount_minor: 600, currency: 'EUR' })
    await until({ status: 'refunded', refunded_minor: 1_000 })
    await eventuallyMatches(findings, [{ kind: 'refunded_outside' }])
  })

  test.each([
    ['approve', { status: 'confirmed' }, { status: 'captured' }],
    ['decline', { status: 'reserved', payment: { code: 'authentication_failed' } }, { status: 'declined' }],
  ] as const)('sends its buyer to the shop, who decides: %s', async (decision, order, charge) => {
    const { until, atShop, read } = await buy('pm_3ds')
    await until({ status: 'paying', payment: { status: 'requires_action' } })
    const { url = '' } = (await read()).payment?.next_action ?? {}
    const decided = await shop.decide(url, decision)
    expect(decided.headers.get('location')).toMatch(/\/order\//)
    await until(order)
    await atShop(charge)
  })

  test('declines by the word of the shop, and takes another attempt', async () => {
    const { until, pay, id } = await buy('pm_insufficient_funds')
    await until({ status: 'reserved', payment: { status: 'declined', code: 'insufficient_funds', attempts_left: 2 } })
    expect(await pay('pm_ok')).toMatchObject({ status: 202 })
    await until({ status: 'confirmed' })
    expect(await shop.state(`${id}-2`)).toMatchObject({ amount_minor: 1_000 })
  })

  test('sells nothing for another sum: the charge is voided, its unit comes back, and a finding says so', async () => {
    const { id, saleId, until, atShop, pay, findings } = await buy()
    lies.set(id, { amount_minor: 10 })
    // The webhook says the truth, and would confirm the order.
    lostWebhooks.add(id)
    await pay('pm_ok')
    await eventuallyMatches(findings, [{ kind: 'payment_answer_invalid', subject: 'another_amount' }])
    await origin.sql()`update orders set reserved_until = now() where order_id = ${id}`
    await until({ status: 'cancelled', reason: 'payment_timeout' })
    await atShop({ status: 'cancelled' })
    expect(await origin.stock(saleId)).toMatchObject({ available: 3, held: 0, sold: 0 })
    const kinds = (await findings()) as { kind: string }[]
    expect(kinds.map(({ kind }) => kind).sort()).toEqual(['payment_answer_invalid', 'wrong_amount'])
  })

  test('sells nothing for an answer that nobody understands, and goes on asking about the charge', async () => {
    const { id, saleId, until, pay, findings } = await buy()
    lies.set(id, { status: 'paid' })
    lostWebhooks.add(id)
    await pay('pm_ok')
    await eventuallyMatches(findings, [{ kind: 'payment_answer_invalid', subject: 'unknown_status' }])
    await origin.sql()`update orders set reserved_until = now() where order_id = ${id}`
    await until({ status: 'cancelled', reason: 'payment_timeout' })
    expect(await origin.stock(saleId)).toMatchObject({ available: 3, held: 0, sold: 0 })
    const open = await origin.sql()`select next_check_at is not null as open from shop_charges where order_id = ${id}`
    expect(open).toEqual([{ open: true }])
  })

  test('takes a webhook as often as it comes, and none that it cannot believe', async () => {
    const { id, saleId, until } = await buy('pm_3ds')
    await until({ payment: { status: 'requires_action' } })
    const charge = `${id}-1`
    const other = `whsec_${Buffer.from('another secret of 24 bytes').toString('base64')}`
    expect((await webhook({ charge, status: 'authorized' }, other)).status).toBe(401)
    expect((await webhook({ charge, status: 'authorized', amount_minor: 1 })).status).toBe(409)
    expect((await webhook({ charge: 'of-nobody', status: 'authorized' })).status).toBe(404)
    expect((await webhook({ charge, status: 'paid' })).status).toBe(422)
    expect((await webhook('nonsense')).status).toBe(400)
    expect((await webhook(JSON.stringify({ charge, message: 'x'.repeat(100_000) }))).status).toBe(413)
    await until({ status: 'paying' })
    const twice = [1, 2].map(() => webhook({ charge, status: 'authorized' }))
    expect((await Promise.all(twice)).map(({ status }) => status)).toEqual([200, 200])
    await until({ status: 'confirmed' })
    expect(await origin.stock(saleId)).toMatchObject({ available: 2, held: 0, sold: 1 })
  })

  test('has the sandbox take the payment of a test sale', async () => {
    const { id, until } = await buy('pm_ok', { test: true })
    await until({ status: 'confirmed' })
    expect(await shop.state(`${id}-1`)).toMatchObject({ status: 'unknown' })
  })
})
