/** A shop without a mail server sends the messages by push to the browsers that subscribed. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { newVapidKeys } from '../../dev/lib/data-folder.ts'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import { temporaryFolder } from '../../dev/lib/processes.ts'
import { DEFAULT_MAILS } from '../../shared/api/mails.ts'
import { sampleSchedule } from '../../shared/testing/sample-schedule.ts'
import { useOwnOrigin } from '../../test/lib/origin-process.ts'
import { CERTIFICATE, startPushService } from '../../test/stand-ins/push-service.ts'
import { advanceOrders } from '../ledger/order-statements.ts'
import { forgetVisitor } from '../retention/retention-queries.ts'

/** The number of visitors that the edge has called, by sale, and the sales in which it calls nobody any more. */
const called = new Map<string, number>()
const soldOut = new Set<string>()
const edge = await serveOnLoopback(({ url }, response) => {
  const sale = String(url?.split('/')[2])
  const at = { anchor_at_ms: Date.now(), server_time_ms: Date.now() }
  const anchor = { anchor_position: called.get(sale) ?? 0, rate_per_second: 0.1, ceiling: 1_000 }
  const schedule = sampleSchedule({ sale, ...at, ...anchor, phase: soldOut.has(sale) ? 'sold_out' : 'open' })
  response.end(JSON.stringify(schedule))
})
const keys = newVapidKeys()
const service = await startPushService(keys.public)
const folder = temporaryFolder('push-test')
const NODE_EXTRA_CA_CERTS = join(folder.path, 'certificate.pem')
writeFileSync(NODE_EXTRA_CA_CERTS, CERTIFICATE)
const origin = useOwnOrigin(undefined, {
  VAPID_PUBLIC_KEY: keys.public,
  VAPID_PRIVATE_KEY: keys.private,
  VAPID_SUBJECT: 'mailto:shop@example.com',
  PUBLIC_URL: 'https://drop.example',
  EDGE_URL: edge.url,
  NODE_EXTRA_CA_CERTS,
})
afterAll(() => {
  edge.stop()
  service.stop()
  folder.remove()
})
beforeEach(() => service.answers({ status: 201 }))
afterEach(() => expect(service.wrong).toEqual([]))

type Browser = ReturnType<typeof service.subscribe>
const path = (sale: string) => `/internal/sales/${sale}/push-asks`
const asks = (sale: string, body: object) => origin.call('POST', path(sale), { token: origin.edgeToken, body })
const ends = (sale: string, endpoint: string) =>
  origin.call('DELETE', path(sale), { token: origin.edgeToken, body: { endpoint } })
/** Subscribes a browser of a visitor who waits in the queue. */
async function inLine(sale: string, number: number, { visitor = randomUUID() as string, language = 'en' } = {}) {
  const browser = service.subscribe()
  const asked = { about: 'turn', push: browser.push, language, line: 'public', visitor, number }
  expect(await asks(sale, asked)).toMatchObject({ status: 204 })
  return { ...browser, visitor, asked }
}
const titles = ({ pushed }: Pick<Browser, 'pushed'>) =>
  pushed.map(({ message }) => message.title?.replace(/\s?: Drop$/, ''))
const isPushed = (browser: Pick<Browser, 'pushed'>, wanted: readonly string[]) =>
  expect.poll(() => titles(browser)).toEqual(wanted)
const askOf = async ({ push }: Pick<Browser, 'push'>) =>
  (await origin.sql()`select ask_id from mail_asks where push ->> 'endpoint' = ${push.endpoint}`)[0]?.ask_id
const jobsOf = (ask: string) =>
  origin.sql()`select state, attempts, error from jobs where lane = ${ask} order by job_id`

test('notifies visitors in their language when a turn is near and has come, and of a requested restock', async () => {
  const sale = await origin.sale({ name: 'Drop', total: 1 })
  called.set(sale, 2)
  const [browser, other] = [await inLine(sale, 20, { language: 'de' }), await inLine(sale, 30)]
  await isPushed(browser, ['Du bist bald dran'])
  const [{ message, headers, claims }] = browser.pushed as [(typeof browser.pushed)[number]]
  expect(message).toEqual({
    title: 'Du bist bald dran: Drop',
    body: expect.stringMatching(/^In etwa 3 Minuten bist du dran/),
    lang: 'de',
    url: `https://drop.example/sales/${sale}/line`,
    tag: expect.stringMatching(/^turn_near\.[0-9a-f-]{36}$/),
  })
  expect([headers.urgency, claims.sub]).toEqual(['high', 'mailto:shop@example.com'])
  expect(Number(headers.ttl)).toBeGreaterThan(0)
  expect(Number(headers.ttl)).toBeLessThanOrEqual(300)
  // The browser must get the message while its turn is at least a minute away.
  await isPushed(other, ['Your turn is near'])
  called.set(sale, 25)
  await isPushed(browser, ['Du bist bald dran', 'Du bist dran'])

  const restock = { ...other.asked, about: 'restock', number: null }
  await asks(sale, restock)
  await asks(sale, { ...browser.asked, about: 'restock', number: null })
  expect(await ends(sale, browser.push.endpoint)).toMatchObject({ status: 204 })
  await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  const phase = () => origin.sql()`select published_phase as phase from sales where sale_id = ${sale}`
  await expect.poll(phase).toEqual([{ phase: 'sold_out' }])
  await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })
  await isPushed(other, ['Your turn is near', 'More has come in'])
  expect(titles(browser)).toHaveLength(2)
})

test('notifies buyers of orders on each of their browsers, and of an abandoned cart once', async () => {
  const mails = [...DEFAULT_MAILS, 'hold_ends', 'hold_ended']
  // The mail about the end of a hold is due 30 seconds before it.
  const options = { name: 'Drop', limit_per_visitor: 9, hold_seconds: 30, max_unpaid_orders: 9 }
  const delivery = { kind: 'handover', return_url: 'https://shop.example/back' }
  const sale = await origin.sale({ ...options, mails, delivery })
  const quiet = await origin.sale({ ...options, mails: [] })
  const phone = await inLine(sale, 900)
  const { visitor } = phone
  const [desk, silent] = [await inLine(sale, 901, { visitor, language: 'fr' }), await inLine(quiet, 1, { visitor })]
  const reserve = async (of: string, body = {}) =>
    (await origin.checkout(of, { token: await origin.token(of, visitor), body })).body.order_id ?? ''
  const abandoned = [await reserve(sale), await reserve(sale)]
  await isPushed(phone, Array(2).fill('What you reserved goes back on sale soon'))
  for (const order of abandoned)
    await advanceOrders(origin.sql(), [{ order }], { from: ['reserved'], to: 'expired', type: 'order.expired' })
  const isLast = (browser: Browser, title: string) => expect.poll(() => titles(browser).at(-1)).toBe(title)
  await isLast(phone, 'What you reserved is back on sale')
  await reserve(quiet, { payment_method: 'pm_ok' })
  const paid = await reserve(sale, { payment_method: 'pm_ok' })
  await isLast(phone, 'Your order is confirmed')
  expect(phone.pushed.at(-1)?.message).toMatchObject({ url: `https://drop.example/sales/${sale}/order/${paid}` })
  await origin.admin('POST', `/orders/${paid}/fulfil`)
  await isLast(phone, 'Your order is on its way')
  const refunded = { from: ['fulfilled'], type: 'order.refunded' } as const
  await advanceOrders(origin.sql(), [{ order: paid, refundedMinor: 400 }], refunded)
  await isLast(desk, 'Une partie de votre commande a été remboursée')
  expect(titles(phone).filter((title) => title === 'What you reserved is back on sale')).toHaveLength(1)
  expect(silent.pushed).toEqual([])
  // A mail would need an address and a mail server, and neither exists.
  const mailed = origin.sql()`
    select from jobs where queue = 'mail' and data ->> 'push' is null and data ? 'order'`
  expect(await mailed).toEqual([])
})

test('notifies a browser of a sell-out and of a final decline, unless it has ended its messages', async () => {
  const sale = await origin.sale({ name: 'Drop' })
  const visitor = randomUUID()
  const [browser, ended] = [await inLine(sale, 900, { visitor }), await inLine(sale, 901, { visitor })]
  await ends(sale, ended.push.endpoint)
  // This visitor has bought already, so no message about the turn follows.
  const bought = service.subscribe()
  await asks(sale, { ...browser.asked, push: bought.push, number: null })
  const { body } = await origin.checkout(sale, { token: await origin.token(sale, visitor) })
  const declined = { from: ['reserved'], to: 'cancelled', reason: 'declined' } as const
  await advanceOrders(origin.sql(), [{ order: body.order_id ?? '' }], declined)
  await isPushed(browser, ['Your order could not be paid'])
  soldOut.add(sale)
  await isPushed(browser, ['Your order could not be paid', 'Sold out'])
  expect([titles(bought), titles(ended)]).toEqual([['Your order could not be paid'], []])
})

test('sends a message again if the push service failed, and forgets a browser that it no longer knows', async () => {
  const sale = await origin.sale({ name: 'Drop' })
  const [browser, gone] = [await inLine(sale, 200), await inLine(sale, 201)]
  const [ask, lost] = [await askOf(browser), await askOf(gone)]
  service.answers({ status: 429, retryAfter: '200' })
  service.unsubscribe(gone.push)
  called.set(sale, 182)
  const failed = { state: 'pending', attempts: 1, error: 'the push service answered 429' }
  await expect.poll(() => jobsOf(ask)).toEqual([failed])
  // The next attempt is not made before the time that the push service requests.
  const waiting = origin.sql()`select from jobs where lane = ${ask} and run_at > created_at + interval '200 seconds'`
  expect(await waiting).toHaveLength(1)
  await expect.poll(() => askOf(gone)).toBeUndefined()
  expect(await jobsOf(lost)).toEqual([])
  service.answers({ status: 201 })
  await origin.sql()`update jobs set run_at = now() where lane = ${ask}`
  await isPushed(browser, ['Your turn is near'])

  // The turn will be over by the time that the push service requests.
  service.answers({ status: 503, retryAfter: new Date(Date.now() + 3_600_000).toUTCString() })
  called.set(sale, 205)
  const dead = { state: 'dead', attempts: 1, error: 'the push service answered 503' }
  await expect.poll(async () => (await jobsOf(ask))[1]).toEqual(dead)
  for (const { push } of [browser, gone])
    for (const secret of [push.endpoint, push.keys.auth]) expect(origin.log()).not.toContain(secret)
})

test('a visitor has five browsers at most, the latest, and none once they are forgotten', async () => {
  const sale = await origin.sale({ name: 'Drop' })
  const visitor = randomUUID()
  const browsers: Browser[] = []
  for (let i = 0; i < 6; i++) browsers.push(await inLine(sale, 900, { visitor }))
  const known = async () => (await Promise.all(browsers.map(askOf))).map((ask) => ask !== undefined)
  expect(await known()).toEqual([false, true, true, true, true, true])
  await forgetVisitor(origin.sql(), visitor, 'test')
  expect(await known()).toEqual(Array(6).fill(false))
})

test('endpoints and keys that nothing can be sent to are refused', async () => {
  const sale = await origin.sale({ name: 'Drop' })
  const { push, asked } = await inLine(sale, 200)
  const wrong = async (changes: object) => {
    const { status, body } = await asks(sale, { ...asked, push: { ...push, ...changes } })
    return [status, body.errors?.map(({ field }) => field).join()]
  }
  for (const endpoint of ['http://push.example/a', 'https://me@push.example/a', `https://a/${'b'.repeat(2_000)}`, 7])
    expect(await wrong({ endpoint }), String(endpoint)).toEqual([422, 'push.endpoint'])
  for (const p256dh of ['A'.repeat(87), `${push.keys.p256dh}A`])
    expect(await wrong({ keys: { ...push.keys, p256dh } }), p256dh).toEqual([422, 'push.keys.p256dh'])
  expect(await wrong({ keys: { ...push.keys, auth: 'short' } })).toEqual([422, 'push.keys.auth'])
  expect(await asks('none', asked)).toMatchObject({ status: 404 })
})
