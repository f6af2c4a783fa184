/** Mails before and beside an order: asked for on a page, switched on by the sale, ended by their reader. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleSchedule } from '../../bench/lib/sample-schedule.ts'
import { DEFAULT_MAILS } from '../../shared/api/mails.ts'
import type { Schedule } from '../../shared/schedule.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { useOwnOrigin } from '../../test/lib/origin-process.ts'
import { startSmtp } from '../../test/stand-ins/smtp.ts'
import { advanceOrders } from '../ledger/order-statements.ts'

/** The schedules that the edge publishes, by sale. */
const schedules = new Map<string, object>()
const edge = createServer((request, response) => {
  const schedule = schedules.get(String(request.url?.split('/')[2]))
  response.statusCode = schedule ? 200 : 404
  response.end(JSON.stringify(schedule ?? {}))
})
beforeAll(async () => {
  edge.listen(0, '127.0.0.1')
  await once(edge, 'listening')
})
const smtp = await startSmtp()
const origin = useOwnOrigin(undefined, () => ({
  SMTP_URL: smtp.url,
  MAIL_FROM: 'The shop <shop@example.com>',
  PUBLIC_URL: 'https://drop.example',
  EDGE_URL: `http://127.0.0.1:${(edge.address() as AddressInfo).port}`,
}))
afterAll(async () => {
  edge.close()
  await smtp.stop()
})

const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email))
const subjectsTo = (email: string) =>
  mailsTo(email).map(({ raw }) => /^Subject: (.+)\r$/m.exec(raw)?.[1]?.replace(/: Drop$/, ''))
const isMailed = (email: string, subjects: readonly string[]) =>
  expect.poll(() => subjectsTo(email), { timeout: 30_000 }).toEqual(subjects)
const someone = () => `${randomUUID()}@example.com`
const asks = (sale: string, body: object) =>
  origin.call('POST', `/internal/sales/${sale}/mail-asks`, { token: origin.edgeToken, body })
const inLine = (number: number, email: string) =>
  ({ about: 'turn', email, language: 'en', line: 'public', visitor: randomUUID(), number }) as const
const restock = (email: string) =>
  ({ about: 'restock', email, language: 'en', line: 'public', visitor: null, number: null }) as const
const stop = (id: string) => origin.call('POST', `/internal/mail/stop/${id}`, { token: origin.edgeToken })

/** The public schedule of a sale that opened without a lobby and has called so many. */
const schedule = (sale: string, called: number, changes: Partial<Schedule> = {}): Schedule =>
  sampleSchedule({
    sale,
    anchor_at_ms: Date.now(),
    anchor_position: called,
    rate_per_second: 0.1,
    ceiling: 1_000,
    server_time_ms: Date.now(),
    ...changes,
  })

test('whoever asks in line is mailed as their turn comes near, as it comes, or once all is sold', async () => {
  const sale = await origin.sale({ name: 'Drop' })
  const [soon, late] = [someone(), someone()]
  schedules.set(sale, schedule(sale, 2))
  await asks(sale, inLine(20, soon))
  await asks(sale, inLine(500, late))
  await isMailed(soon, ['Your turn is near'])
  schedules.set(sale, schedule(sale, 25))
  await isMailed(soon, ['Your turn is near', 'It is your turn'])
  expect(mailsTo(soon)[0]?.raw).toMatch(/List-Unsubscribe: <https:\/\/drop.example\/mail\/stop\/[0-9a-f-]{36}>/)
  schedules.set(sale, schedule(sale, 25, { phase: 'sold_out' }))
  await isMailed(late, ['Sold out'])
  expect(subjectsTo(soon)).toHaveLength(2)
})

test('a restock is mailed once to each who asked, and not to who wants no mail', async () => {
  const sale = await origin.sale({ name: 'Drop', total: 1 })
  const { token } = await soldOut(sale)
  const [first, second] = [someone(), someone()]
  for (const email of [first, first.toUpperCase(), second])
    expect(await asks(sale, restock(email))).toMatchObject({ status: 204 })
  const [{ ask_id }] = (await origin.sql()`select ask_id from mail_asks where email = ${second}`) as unknown as [
    { ask_id: string },
  ]
  expect(await stop(ask_id)).toMatchObject({ status: 204 })
  expect(await stop(ask_id)).toMatchObject({ status: 404 })
  await asks(sale, restock(second))
  await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })
  await isMailed(first, ['More has come in'])
  expect([subjectsTo(first.toUpperCase()), subjectsTo(second)]).toEqual([[], []])
  expect(token).toBeDefined()
  for (const body of [restock('nobody'), { ...restock(first), about: 'all' }, {}])
    expect(await asks(sale, body)).toMatchObject({ status: 422 })
})

async function soldOut(sale: string) {
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token, body: { payment_method: 'pm_ok' } })
  await eventually(
    () => origin.sql()`select published_phase as phase from sales where sale_id = ${sale}`,
    ([row]) => row?.phase === 'sold_out',
  )
  return { token, order: body.order_id ?? '' }
}

test('mails about holds and what was sent as the sale says, an abandoned cart once', async () => {
  const mails = [...DEFAULT_MAILS, 'hold_ends', 'hold_ended']
  const delivery = { kind: 'handover', return_url: 'https://shop.example/back' }
  const sale = await origin.sale({ name: 'Drop', contact: { email: 'optional' }, mails, hold_seconds: 31, delivery })
  const quiet = await origin.sale({ name: 'Drop', contact: { email: 'optional' }, hold_seconds: 1 })
  const [email, none] = [someone(), someone()]
  const reserve = async (of: string, to: string, more: object = {}) =>
    (await origin.checkout(of, { token: await origin.token(of), body: { contact: { email: to }, ...more } })).body
      .order_id ?? ''
  const [first, second, ignored] = [await reserve(sale, email), await reserve(sale, email), await reserve(quiet, none)]
  await isMailed(email, Array(2).fill('What you reserved goes back on sale soon'))
  await advanceOrders(origin.sql(), [{ order: first }], {
    from: ['reserved'],
    to: 'expired',
    type: 'order.expired',
  })
  await advanceOrders(origin.sql(), [{ order: second }], {
    from: ['reserved'],
    to: 'expired',
    type: 'order.expired',
  })
  await expect.poll(() => subjectsTo(email).at(-1), { timeout: 30_000 }).toBe('What you reserved is back on sale')
  const bought = someone()
  const paid = await reserve(sale, bought, { payment_method: 'pm_ok' })
  await expect.poll(() => subjectsTo(bought), { timeout: 30_000 }).toContain('Your order is confirmed')
  await origin.admin('POST', `/orders/${paid}/fulfil`)
  await expect.poll(() => subjectsTo(bought).at(-1), { timeout: 30_000 }).toBe('Your order is on its way')
  expect(subjectsTo(email).filter((one) => one === 'What you reserved is back on sale')).toHaveLength(1)
  await eventually(
    () => origin.sql()`select status from orders where order_id = ${ignored}`,
    ([row]) => row?.status === 'expired',
  )
  expect(subjectsTo(none)).toEqual([])
})
