/**
 * The mailer sends mails about orders, and mails that were requested on a page or switched on by the sale. Each is
 * sent once, whatever fails meanwhile.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import { DEFAULT_MAILS } from '../../shared/api/mails.ts'
import { importSecrets, type SecretJwkSet } from '../../shared/keys.ts'
import { sampleSchedule } from '../../shared/testing/sample-schedule.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { endLeases, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { reservationOf } from '../../test/lib/samples.ts'
import { ORDER_KEYS } from '../../test/run/one-origin.ts'
import { useReceiver } from '../../test/stand-ins/receiver.ts'
import { type Received, startSmtp } from '../../test/stand-ins/smtp.ts'
import { advanceOrders, moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { stopMac } from './template.ts'

/** The schedules that the edge publishes, by sale. */
const schedules = new Map<string, object>()
const edge = await serveOnLoopback(({ url }, response) => {
  const schedule = schedules.get(String(url?.split('/')[2]))
  response.writeHead(schedule ? 200 : 404).end(JSON.stringify(schedule ?? {}))
})
let smtp = await startSmtp()
const receiver = useReceiver()
const origin = useOwnOrigin(undefined, {
  SMTP_URL: smtp.url,
  MAIL_FROM: 'The shop <shop@example.com>',
  PUBLIC_URL: 'https://drop.example',
  EDGE_URL: edge.url,
  MAILS_PER_ADDRESS: '5',
})
afterAll(async () => {
  edge.stop()
  await smtp.stop()
})

const saleOf = (more: object = {}) => origin.sale({ name: 'Trainers & more', contact: { email: 'optional' }, ...more })

const someone = () => `${randomUUID()}@example.com`
async function buy(sale: string, payment_method: string, email = someone()) {
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token, body: { payment_method, contact: { email } } })
  return { order: body.order_id ?? '', token, email }
}

const to = (email: string) => smtp.mails.filter((mail) => mail.to.includes(email))
const mailsTo = (email: string, atLeast = 1) =>
  eventually(
    async () => to(email),
    (mails) => mails.length >= atLeast,
  )
const header = ({ raw }: Received, name: string) => new RegExp(`^${name}: (.+)\r$`, 'm').exec(raw)?.[1]
const stateOf = async (order: string) =>
  (
    await origin.sql()`
      select data ->> 'type' as type, state, attempts, error from jobs
        where queue = 'mail' and lane = ${order} order by job_id`
  ).at(-1)
const isSent = (order: string) =>
  eventually(
    () => stateOf(order),
    (row) => row?.state === 'done',
  )
/** The subjects of the mails to an address, without the name of the sale. */
const subjectsTo = (email: string) => to(email).map((mail) => header(mail, 'Subject')?.replace(/: [^:]+$/, ''))
const isMailed = (email: string, subjects: readonly string[]) => expect.poll(() => subjectsTo(email)).toEqual(subjects)

test('reports a confirmed order, and a refund', async () => {
  const sale = await saleOf()
  const { order, email } = await buy(sale, 'pm_ok')
  const [mail] = (await mailsTo(email)) as [Received]
  expect(header(mail, 'Subject')).toBe('Your order is confirmed: Trainers & more')
  expect(header(mail, 'From')).toBe('The shop <shop@example.com>')
  expect(header(mail, 'Auto-Submitted')).toBe('auto-generated')
  const text = mail.raw.replace(/=\r\n/g, '').replace(/=E2=82=AC/g, '€')
  expect(text).toContain(`https://drop.example/sales/${sale}/order/${order}`)
  expect(text).toContain('€10.00')
  expect(text).toContain('Trainers &amp; more')
  expect(await isSent(order)).toMatchObject({ type: 'order.confirmed', attempts: 1 })

  await advanceOrders(origin.sql(), [{ order, refundedMinor: 400 }], { from: ['confirmed'], type: 'order.refunded' })
  const [, refund] = (await mailsTo(email, 2)) as [Received, Received]
  expect(header(refund, 'Subject')).toBe('A part of your order was refunded: Trainers & more')
  expect(refund.messageId).not.toBe(mail.messageId)
  expect(origin.log()).not.toContain(email)
})

test('names the sale and what was bought in the language of the buyer', async () => {
  const about = { names: { de: 'Schuhe' }, options: [{ name: 'Size', values: ['42'] }] }
  const shoe = { product_id: 'shoe', name: 'Shoe', unit_price_minor: 100, currency: 'EUR', total: 0, ...about }
  const sale = await origin.sale({
    name: 'Trainers',
    names: { de: 'Turnschuhe' },
    contact: { email: 'required' },
    products: [{ ...shoe, variants: [{ variant_id: 'shoe-42', options: { Size: '42' }, total: 9 }] }],
  })
  const buyIn = async (language: string) => {
    const email = someone()
    await origin.call('POST', `/sales/${sale}/checkout`, {
      token: await origin.token(sale),
      headers: { 'accept-language': language, 'idempotency-key': randomUUID() },
      body: { product_id: 'shoe-42', payment_method: 'pm_ok', contact: { email } },
    })
    const [mail] = (await mailsTo(email)) as [Received]
    return mail.raw.replace(/=\r\n/g, '')
  }
  const german = await buyIn('de')
  for (const text of ['>Turnschuhe</p>', 'Produkt: Schuhe, 42']) expect(german).toContain(text)
  const french = await buyIn('fr')
  for (const text of ['>Trainers</p>', ': Shoe, 42']) expect(french).toContain(text)
})

test('reports a decline only when it is final, to a proven address, and nothing to a buyer without one', async () => {
  const sale = await saleOf({ limit_per_visitor: 2 })
  const silent = await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  const { token, email } = await buy(sale, 'pm_ok')
  const declined = async (token: string) => {
    const body = { payment_method: 'pm_declined', contact: { email } }
    const order = (await origin.checkout(sale, { token, body })).body.order_id ?? ''
    for (let attempt = 2; attempt <= 3; attempt++) {
      await eventually(
        () => origin.call('GET', `/orders/${order}`, { token }),
        ({ body }) => body.payment?.status === 'declined',
      )
      await origin.call('POST', `/orders/${order}/payment`, { token, body: { payment_method: 'pm_declined' } })
    }
    return order
  }
  await isMailed(email, ['Your order is confirmed'])
  const stranger = await declined(await origin.token(sale))
  const order = await declined(token)
  await isMailed(email, ['Your order is confirmed', 'Your order could not be paid'])
  expect(await stateOf(stranger)).toBeUndefined()
  expect(await origin.sql()`select data ->> 'type' as type from jobs where lane = ${order}`).toEqual([
    { type: 'order.cancelled' },
  ])
  expect(await stateOf(silent.body.order_id ?? '')).toBeUndefined()
})

test('says why an order ended that its buyer did not give back, even one refused after acceptance', async () => {
  const sale = await saleOf({ limit_per_visitor: 1 })
  const [sql, givesBack] = [origin.sql(), someone()]
  const end = async (email: string, reason: string) => {
    const { body } = await origin.checkout(sale, { body: { contact: { email } } })
    await moveOrders(sql, [body.order_id ?? ''], { from: ['reserved'], to: 'cancelled', reason })
  }
  await end(givesBack, 'given_back')
  for (const [reason, text] of [
    ['payment_timeout', 'did not answer in time'],
    ['not_authenticated', 'was not confirmed with your bank'],
    ['oversold', 'more was sold than there was'],
    ['limit', 'more than one person can have'],
  ] as const) {
    const email = someone()
    const refused = {
      ...reservationOf(sale),
      quantity: 2,
      contact: { email, address: null, language: 'en' },
    }
    if (reason === 'limit') expect(await record(sql, sale, [refused], true)).toMatchObject([{ verdict: reason }])
    else await end(email, reason)
    await isMailed(email, ['Your order did not go through'])
    expect(to(email)[0]?.raw.replace(/=\r\n/g, '')).toContain(text)
  }
  expect(to(givesBack)).toEqual([])
})

test('sends later, and once, what failed or was refused because of a sender that can be corrected', async () => {
  const { port } = smtp
  const sale = await saleOf()
  const isNotSent = (order: string, error: unknown) =>
    expect.poll(() => stateOf(order)).toMatchObject({ state: 'pending', attempts: 1, error })
  const again = (order: string) => origin.sql()`update jobs set run_at = now() where lane = ${order}`

  await smtp.stop()
  const away = await buy(sale, 'pm_ok')
  await isNotSent(away.order, expect.any(String))
  smtp = await startSmtp(port)
  smtp.refuseSender(true)
  const refused = await buy(sale, 'pm_ok')
  await isNotSent(refused.order, expect.stringContaining('550'))
  smtp.refuseSender(false)
  for (const { order, email } of [away, refused]) {
    await again(order)
    expect(await isSent(order)).toMatchObject({ attempts: 2, error: null })
    expect(to(email)).toHaveLength(1)
  }
})

test('gives up a mailbox that does not exist, and says so without naming it', async () => {
  const email = `nobody@${randomUUID()}.example.com`
  const sale = await saleOf()
  const { order } = await buy(sale, 'pm_ok', email)
  const dead = await eventually(
    () => stateOf(order),
    (row) => row?.state === 'dead',
  )
  expect(dead).toMatchObject({ state: 'dead', attempts: 1 })
  expect(dead?.error).toContain('550')
  expect(dead?.error).not.toContain(email)
  const found = () => origin.sql()`select kind from findings where sale_id = ${sale}`
  expect(await eventually(found, (rows) => rows.length > 0)).toEqual([{ kind: 'mail_failed' }])
  expect(origin.log()).not.toContain(email)
})

const asks = (sale: string, body: object) =>
  origin.call('POST', `/internal/sales/${sale}/mail-asks`, { token: origin.edgeToken, body })
/** A request for a mail about a turn, or without a number about a restock. */
const ask = (email: string, number: number | null = null) => ({
  about: number === null ? 'restock' : 'turn',
  ...{ email, language: 'en', line: 'public', number },
  visitor: number === null ? null : randomUUID(),
})

test('whoever asks in line is mailed as their turn comes near, as it comes, or once all is sold', async () => {
  const sale = await saleOf()
  const [soon, late] = [someone(), someone()]
  const publish = (anchor_position: number, phase: 'open' | 'sold_out' = 'open') => {
    const at = { anchor_at_ms: Date.now(), server_time_ms: Date.now() }
    schedules.set(sale, sampleSchedule({ sale, ...at, anchor_position, rate_per_second: 0.1, ceiling: 1_000, phase }))
  }
  publish(2)
  await asks(sale, ask(soon, 20))
  await asks(sale, ask(late, 500))
  await isMailed(soon, ['Your turn is near'])
  publish(25)
  await isMailed(soon, ['Your turn is near', 'It is your turn'])
  expect(to(soon)[0]?.raw).toMatch(/List-Unsubscribe: <https:\/\/drop.example\/mail\/stop\/[0-9a-f-]{36}\/[\w-]{43}>/)
  publish(25, 'sold_out')
  await isMailed(late, ['Sold out'])
  expect(subjectsTo(soon)).toHaveLength(2)
})

test('nobody moves what another visitor asked for, and an address is mailed so often at most', async () => {
  const sale = await saleOf()
  const [victim, many] = [someone(), someone()]
  const publish = (anchor_position: number) => {
    const at = { anchor_at_ms: Date.now(), server_time_ms: Date.now() }
    schedules.set(sale, sampleSchedule({ sale, ...at, anchor_position, rate_per_second: 0.1, ceiling: 1_000 }))
  }
  publish(2)
  await asks(sale, ask(victim, 20))
  await asks(sale, ask(victim.toUpperCase(), 900))
  for (let number = 20; number < 28; number++) await asks(sale, ask(many, number))
  await isMailed(victim, ['Your turn is near'])
  await isMailed(many, Array(5).fill('Your turn is near'))
  publish(40)
  await isMailed(victim, ['Your turn is near', 'It is your turn'])
  const left = () =>
    origin.sql()`select from mail_asks where sale_id = ${sale} and email = ${many} and next is not null`
  await expect.poll(left).toEqual([])
  expect(subjectsTo(many)).toHaveLength(5)
})

test('a restock is mailed once to each who asked, and not to who wants no mail', async () => {
  const sale = await saleOf({ total: 1 })
  await buy(sale, 'pm_ok')
  const phase = () => origin.sql()`select published_phase as phase from sales where sale_id = ${sale}`
  await expect.poll(phase).toEqual([{ phase: 'sold_out' }])
  const [first, second] = [someone(), someone()]
  for (const email of [first, first.toUpperCase(), second])
    expect(await asks(sale, ask(email))).toMatchObject({ status: 204 })
  const [row] = await origin.sql()`select ask_id from mail_asks where email = ${second}`
  const stop = async (mac: string) =>
    (await origin.call('POST', `/internal/mail/stop/${row?.ask_id}/${mac}`, { token: origin.edgeToken })).status
  const mac = stopMac(importSecrets(ORDER_KEYS as SecretJwkSet), row?.ask_id)
  // An id alone, which others may know, does not stop mails to an address.
  expect([await stop('A'.repeat(43)), await stop(mac), await stop(mac)]).toEqual([404, 204, 404])
  await asks(sale, ask(second))
  await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })
  await isMailed(first, ['More has come in'])
  expect([subjectsTo(first.toUpperCase()), subjectsTo(second)]).toEqual([[], []])
  for (const body of [ask('nobody'), { ...ask(first), about: 'all' }, {}])
    expect(await asks(sale, body)).toMatchObject({ status: 422 })
})

test('mails about holds and what was sent as the sale says, an abandoned cart once', async () => {
  const mails = [...DEFAULT_MAILS, 'hold_ends', 'hold_ended']
  const delivery = { kind: 'handover', return_url: 'https://shop.example/back' }
  // The mail about the end of a hold is due 30 seconds before it.
  const [sale, quiet] = [await saleOf({ mails, delivery, hold_seconds: 30 }), await saleOf()]
  const [email, none, bought] = [someone(), someone(), someone()]
  const reserve = async (of: string, to: string, more: object = {}) =>
    (await origin.checkout(of, { body: { contact: { email: to }, ...more } })).body.order_id ?? ''
  const abandoned = [await reserve(quiet, none), await reserve(sale, email), await reserve(sale, email)]
  await isMailed(email, Array(2).fill('What you reserved goes back on sale soon'))
  for (const order of abandoned)
    await advanceOrders(origin.sql(), [{ order }], { from: ['reserved'], to: 'expired', type: 'order.expired' })
  await isMailed(email, [
    ...Array(2).fill('What you reserved goes back on sale soon'),
    'What you reserved is back on sale',
  ])
  const later = await saleOf({ mails, delivery })
  const token = await origin.token(later)
  const { body } = await origin.checkout(later, { token, body: { contact: { email: bought } } })
  const paid = body.order_id ?? ''
  const reminder = origin.sql()`data ->> 'order' = ${paid} and data ->> 'type' = 'order.reserved'`
  const reminders = () => origin.sql()`select from jobs where state = 'pending' and ${reminder}`
  await expect.poll(reminders).toHaveLength(1)
  await origin.call('POST', `/orders/${paid}/payment`, { token, body: { payment_method: 'pm_ok' } })
  await isMailed(bought, ['Your order is confirmed'])
  await origin.sql()`update jobs set run_at = now() where ${reminder}`
  await expect.poll(reminders).toEqual([])
  await origin.admin('POST', `/orders/${paid}/fulfil`)
  await isMailed(bought, ['Your order is confirmed', 'Your order is on its way'])
  expect(subjectsTo(email)).toHaveLength(3)
  expect(subjectsTo(none)).toEqual([])
})

test('a mail and a webhook message that a killed worker was sending are sent again, as the same ones', async () => {
  const sale = await saleOf()
  const [path, events] = [`/${randomUUID()}`, ['order.confirmed']]
  await origin.admin('POST', '/webhooks', { url: receiver.url(path), events })
  const killed = Promise.withResolvers<void>()
  receiver.answers(() => killed.promise)
  smtp.beforeAck(async () => {
    smtp.beforeAck(async () => {})
    await eventually(
      async () => receiver.at(path),
      (messages) => messages.length > 0,
    )
    await origin.kill()
    killed.resolve()
  })
  const { order, email } = await buy(sale, 'pm_ok')
  await killed.promise
  receiver.answers(undefined)
  await origin.restart()
  // No other worker takes the jobs while the first attempt may be in progress.
  const jobs = () => origin.sql()`
    select queue, state, attempts, leased as "isLeased" from jobs
    where queue in ('mail', 'webhook') and lane = ${order} order by queue`
  const unknown = { state: 'pending', attempts: 1, isLeased: true }
  expect(await jobs()).toEqual([
    { queue: 'mail', ...unknown },
    { queue: 'webhook', ...unknown },
  ])
  expect(to(email)).toHaveLength(1)
  await endLeases(origin.sql())
  await isSent(order)
  const [first, second, ...more] = to(email)
  expect(second?.messageId).toBe(first?.messageId)
  expect(more).toEqual([])
  await expect.poll(() => receiver.at(path)).toHaveLength(2)
  expect(new Set(receiver.at(path).map(({ id }) => id)).size).toBe(1)
  await expect.poll(jobs).toContainEqual({ queue: 'webhook', ...unknown, state: 'done', attempts: 2, isLeased: false })
})
