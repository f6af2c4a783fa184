/** Holds that are handed over to the shop's own checkout: the shop sells one by a signed call, or gives it back. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { requireDescribedToShop } from '../../test/lib/described.ts'
import { eventuallyMatches } from '../../test/lib/eventually.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { PAYMENT_SECRET } from '../../test/lib/payment-server.ts'
import { signedHeaders } from '../lib/http/standard-webhooks.ts'

const origin = useOrigin()
const AT_SHOP = { payment: 'handover', delivery: { kind: 'none', return_url: 'https://shop.example/checkout' } }
const SUM = { amount_minor: 1_000, currency: 'EUR' }
const OTHER_SECRET = `whsec_${Buffer.from('another secret of 24 bytes').toString('base64')}`

interface Signing {
  readonly id?: string
  readonly secret?: string
  readonly at?: Date
}

/** A call of the shop about an order. */
async function byShop(method: string, path: string, id: string, body: string, signing: Signing) {
  const { secret = PAYMENT_SECRET, at = new Date() } = signing
  const headers = { 'content-type': 'application/json', ...signedHeaders([secret], signing.id ?? id, body, at) }
  const response = await fetch(`${origin.url()}${path}`, { method, headers, ...(body !== '' && { body }) })
  const answer = await response.json()
  requireDescribedToShop(method, path, response, answer)
  return { status: response.status, body: answer }
}
const confirm = (order: string, changes: object = {}, signing: Signing = {}) => {
  const body = JSON.stringify({ reference: 'pay_1', ...SUM, ...changes })
  return byShop('POST', `/orders/${order}/confirm`, `confirm-${order}`, body, signing)
}
const release = (order: string, signing: Signing = {}) =>
  byShop('DELETE', `/orders/${order}`, `release-${order}`, '', signing)

async function hold(changes: object = {}) {
  const sale = await origin.sale({ total: 3, ...AT_SHOP, ...changes })
  const token = await origin.token(sale)
  const { status, body } = await origin.checkout(sale, { token })
  expect(status).toBe(201)
  const id = body.order_id ?? ''
  const read = async () => (await origin.call('GET', `/orders/${id}`, { token })).body
  const findings = async () => (await origin.admin('GET', `/sales/${sale}/findings`)).body.findings
  /** The counters, the orders and the gate say the same. */
  const agree = async (counts: { available: number; held: number; sold: number }) => {
    await eventuallyMatches(() => origin.stock(sale), { total: 3, ...counts })
    // The origin compares by itself too, and while it loads the gate again there is nothing to compare.
    const reconciled = async () => (await origin.admin('POST', `/sales/${sale}/reconcile`)).body
    await eventuallyMatches(reconciled, { findings: [{ found: 'ok', drift: 0, recount: { found: 'ok', units: 0 } }] })
  }
  return { sale, token, id, read, findings, agree }
}
const REFUSED = { kind: 'confirmation_refused' }

describe.concurrent('a hold that was handed over', () => {
  test('is sold by the word of the shop, once, however often that comes', async () => {
    const { id, read, findings, agree } = await hold()
    const answers = await Promise.all([confirm(id), confirm(id), confirm(id)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await confirm(id)).toMatchObject({ status: 200, body: { order_id: id, status: 'confirmed' } })
    expect(await read()).toMatchObject({ status: 'confirmed', payment: { status: 'succeeded' } })
    const events = await origin.sql()`select type from events where order_id = ${id} order by seq`
    expect(events.map(({ type }) => type)).toEqual(['order.confirmed'])
    const trail = await origin.sql()`select actor, action, after from audit_log where order_id = ${id}`
    expect(trail).toEqual([{ actor: 'shop', action: 'sold by the shop', after: { reference: 'pay_1' } }])
    await agree({ available: 2, held: 0, sold: 1 })
    expect(await findings()).toEqual([])
  })

  test('is not sold twice: the second payment goes back, and is a finding', async () => {
    const { id, findings, agree } = await hold()
    const answers = await Promise.all([confirm(id), confirm(id, { reference: 'pay_2' })])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    await agree({ available: 2, held: 0, sold: 1 })
    expect(await findings()).toMatchObject([
      { ...REFUSED, subject: id, detail: { order: id, error: expect.stringMatching(/already/) } },
    ])
  })

  test.each([
    ['another sum', { amount_minor: 999 }],
    ['another currency', { currency: 'USD' }],
  ])('is not sold for %s: the hold stays, and it is a finding', async (_, changes) => {
    const { id, read, findings } = await hold()
    const refused = {
      status: 409,
      body: { type: '/problems/conflict', detail: expect.stringMatching(/costs 1000 EUR. Give the money back/) },
    }
    expect(await confirm(id, changes)).toMatchObject(refused)
    expect(await read()).toMatchObject({ status: 'reserved' })
    expect(await findings()).toMatchObject([{ ...REFUSED, detail: { ...SUM, ...changes, reference: 'pay_1' } }])
    expect(await confirm(id)).toMatchObject({ status: 200 })
  })

  test('is sold to nobody after its end: the shop gives the money back, and it is a finding once', async () => {
    const { id, read, findings, agree } = await hold()
    await origin.sql()`update orders set reserved_until = now() where order_id = ${id}`
    const late = {
      status: 409,
      body: { detail: expect.stringMatching(/hold ended at .* Give the money back/), order: { order_id: id } },
    }
    expect(await confirm(id)).toMatchObject(late)
    expect(await release(id)).toMatchObject({ status: 409 })
    await eventuallyMatches(read, { status: 'expired' })
    expect(await confirm(id)).toMatchObject(late)
    await agree({ available: 3, held: 0, sold: 0 })
    expect(await findings()).toMatchObject([{ ...REFUSED, subject: id, seen: 2 }])
  })

  test('is given back by the shop, as often as it says so', async () => {
    const { id, read, findings, agree } = await hold()
    expect(await release(id)).toMatchObject({ status: 200, body: { status: 'cancelled', reason: 'given_back' } })
    expect(await release(id)).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    expect(await read()).toMatchObject({ status: 'cancelled' })
    await agree({ available: 3, held: 0, sold: 0 })
    expect(await findings()).toEqual([])
    expect(await confirm(id)).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/is cancelled. Give the money back/) },
    })
    expect(await findings()).toMatchObject([REFUSED])
  })

  test('is not given back once it is sold, but cancelled by the shop’s operators', async () => {
    const { id, agree } = await hold()
    await confirm(id)
    expect(await release(id)).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/refund it/) } })
    expect(await origin.admin('POST', `/orders/${id}/cancel`)).toMatchObject({
      ...{ status: 200, body: { status: 'cancelled', refunded_minor: 1_000 } },
    })
    await agree({ available: 3, held: 0, sold: 0 })
  })

  test('is left alone by whoever cannot sign for it', async () => {
    const [one, other] = [await hold(), await hold()]
    for (const signing of [
      { secret: OTHER_SECRET },
      { at: new Date(Date.now() - 400_000) },
      { id: `confirm-${other.id}` },
      { id: `release-${one.id}` },
    ])
      expect(await confirm(one.id, {}, signing)).toMatchObject({ status: 401 })
    for (const signing of [{ secret: OTHER_SECRET }, { id: `release-${other.id}` }, { id: `confirm-${one.id}` }])
      expect(await release(one.id, signing)).toMatchObject({ status: 401 })
    expect(await confirm(one.id, { reference: '' })).toMatchObject({ status: 422 })
    expect(await confirm(one.id, { status: 'paid' })).toMatchObject({ status: 422 })
    expect(await confirm(randomUUID())).toMatchObject({ status: 404 })
    expect(await confirm('no-order')).toMatchObject({ status: 404 })
    expect(await one.read()).toMatchObject({ status: 'reserved' })
    expect(await one.findings()).toEqual([])
  })

  test('is not paid here, and a sale that is paid here is not paid there', async () => {
    const { sale, token, id } = await hold()
    const body = { payment_method: 'pm_ok' }
    expect(await origin.call('POST', `/orders/${id}/payment`, { token, body })).toMatchObject({ status: 409 })
    expect(await origin.checkout(sale, { body })).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'payment_method' }] },
    })
    const here = await hold({ payment: 'provider' })
    for (const refused of [await confirm(here.id), await release(here.id)])
      expect(refused).toMatchObject({ status: 409 })
    expect(await here.read()).toMatchObject({ status: 'reserved' })
  })
})

test('a sale says who takes the money when it is created, and where', async () => {
  const sale = await origin.sale(AT_SHOP)
  const { body } = await origin.admin('GET', `/sales/${sale}`)
  expect(body).toMatchObject({ payment: 'handover' })
  const put = (id: string, changes: object) => origin.admin('PUT', `/sales/${id}`, { ...body, ...changes })
  expect(await put(sale, {})).toMatchObject({ status: 200 })
  const wrong = { status: 422, body: { errors: [{ field: 'payment' }] } }
  expect(await put(sale, { payment: 'provider' })).toMatchObject(wrong)
  expect(await put(sale, { delivery: { kind: 'none' } })).toMatchObject(wrong)
  expect(await put(`${sale}-other`, { payment: 'elsewhere' })).toMatchObject(wrong)
})
