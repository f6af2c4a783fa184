import { expect, it } from 'vitest'
import { requestsTo, stub } from '../testing/origin.ts'
import { call, cookiesOf, knownCookie, TestSale } from '../testing/visitors.ts'

const FORM = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
  const body = new URLSearchParams(fields).toString()
  const sent = { ...FORM, 'content-length': String(body.length), ...headers }
  return call(path, { method: 'POST', headers: sent, body, redirect: 'manual' })
}
const asksOf = async (sale: TestSale) =>
  (await requestsTo(`/internal/sales/${sale.name}/mail-asks`)).requests.map(({ body }) => JSON.parse(String(body)))

it('mails about their turn those who wait and ask for it, in their language', async () => {
  const sale = await new TestSale(600_000).publish({ mails: ['turn'] })
  await stub(`/internal/sales/${sale.name}/mail-asks`, 200, {})
  const cookie = cookiesOf(await sale.join({ 'sec-fetch-site': 'same-origin' }))
  const line = (path = '') => call(`/sales/${sale.name}/line${path}`, { headers: { accept: 'text/html', cookie } })
  expect(await (await line()).text()).toContain(`action="/sales/${sale.name}/mail"`)
  const asked = await send(
    `/sales/${sale.name}/mail`,
    { email: 'ada@example.com' },
    { cookie, 'accept-language': 'de' },
  )
  expect([asked.status, asked.headers.get('location')]).toEqual([303, `/sales/${sale.name}/line?mailed`])
  const visitor = expect.any(String)
  expect(await asksOf(sale)).toEqual([
    { about: 'turn', email: 'ada@example.com', language: 'de', line: 'public', visitor, number: expect.any(Number) },
  ])
  expect(await (await line('?mailed')).text()).toContain('You get an e-mail when your turn is near')
  expect((await send(`/sales/${sale.name}/mail`, { email: 'nobody' }, { cookie })).status).toBe(422)
  // A visitor without a place has no turn.
  expect((await send(`/sales/${sale.name}/mail`, { email: 'ada@example.com' })).status).toBe(401)
  await sale.publish({ mails: [] })
  await sale.push()
  await expect.poll(async () => (await line()).text()).not.toContain(`action="/sales/${sale.name}/mail"`)
})

it('mails about a restock whoever asks when all is sold', async () => {
  const sale = await new TestSale().publish({ mails: ['restocked'], phase: 'sold_out' })
  await stub(`/internal/sales/${sale.name}/mail-asks`, 200, {})
  await sale.until(({ phase }) => phase === 'sold_out')
  expect(await (await sale.page()).text()).toContain(`action="/sales/${sale.name}/mail"`)
  const asked = await send(`/sales/${sale.name}/mail`, { email: 'ada@example.com' })
  expect(asked.headers.get('location')).toBe(`/sales/${sale.name}/mail`)
  expect(await asksOf(sale)).toMatchObject([{ about: 'restock', visitor: null, number: null }])
  const after = await call(`/sales/${sale.name}/mail`, { headers: { accept: 'text/html' } })
  expect(await after.text()).toContain('You get an e-mail if more comes in')
})

it('ends mails with one click of a mail program, and with a button on a page for those who open the link', async () => {
  const id = `${crypto.randomUUID()}/${'A'.repeat(43)}`
  await stub(`/internal/mail/stop/${id}`, 200, {})
  const page = await call(`/mail/stop/${id}`, { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain('<form method="post"')
  expect((await requestsTo(`/internal/mail/stop/${id}`)).calls).toBe(0)
  const click = await send(`/mail/stop/${id}`, { 'List-Unsubscribe': 'One-Click' }, { accept: '*/*' })
  expect([click.status, click.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await click.text()).toContain('You get no more such mails')
  expect((await requestsTo(`/internal/mail/stop/${id}`)).calls).toBe(1)
  for (const other of ['x', crypto.randomUUID(), `${id}x`]) expect((await call(`/mail/stop/${other}`)).status).toBe(404)
})

const push = { endpoint: 'https://push.example/a', keys: { p256dh: 'B'.repeat(87), auth: 'A'.repeat(22) } }

it('subscribes a browser whose turn has come, and that of a known buyer, to messages about orders alone', async () => {
  const sale = await new TestSale().publish({ push: { key: 'a-key', kinds: ['confirmed'] } })
  const path = `/internal/sales/${sale.name}/push-asks`
  await stub(path, 200, {})
  const body = JSON.stringify(push)
  const subscribe = (cookie: string) =>
    call(`/sales/${sale.name}/push`, {
      method: 'POST',
      headers: { 'content-length': String(body.length), cookie },
      body,
    })
  const secret = knownCookie('a-buyer-who-comes-back')
  const { queue_token } = await sale.ready({ cookie: secret })
  const cookie = `queue-${sale.name}=${queue_token}`
  const turn = await call(`/sales/${sale.name}/line`, { headers: { accept: 'text/html', cookie } })
  expect(await turn.text()).toContain('id="notice-push"')
  for (const one of [cookie, secret]) expect((await subscribe(one)).status).toBe(204)
  const asked = (await requestsTo(path)).requests.map(({ body }) => JSON.parse(String(body)))
  const { visitor } = asked[0]
  expect(asked).toEqual(Array(2).fill({ about: 'turn', push, language: 'en', line: 'public', visitor, number: null }))
})

it('subscribes a browser in line, or anybody when all is sold, and ends that', async () => {
  const sale = await new TestSale(600_000).publish({ push: { key: 'a-key', kinds: ['turn', 'restocked'] } })
  const path = `/internal/sales/${sale.name}/push-asks`
  const tell = (method: string, body: string, headers = {}) =>
    call(`/sales/${sale.name}/push`, { method, headers: { 'content-length': String(body.length), ...headers }, body })
  const told = async () => (await requestsTo(path)).requests.map(({ body }) => JSON.parse(String(body)))
  await stub(path, 200, {})
  const cookie = cookiesOf(await sale.join({ 'sec-fetch-site': 'same-origin' }))
  const line = await call(`/sales/${sale.name}/line`, { headers: { accept: 'text/html', cookie } })
  expect(await line.text()).toMatch(/id="notice-push" [^>]*data-key="a-key" [^>]*hidden/)
  const subscribed = JSON.stringify({ ...push, expirationTime: null })
  expect((await tell('POST', subscribed, { cookie, 'accept-language': 'fr' })).status).toBe(204)
  const [visitor, number] = [expect.any(String), expect.any(Number)]
  expect(await told()).toEqual([{ about: 'turn', push, language: 'fr', line: 'public', visitor, number }])
  // A visitor without a place has no turn, and a page of another host cannot subscribe.
  expect((await tell('POST', subscribed)).status).toBe(401)
  expect((await tell('POST', subscribed, { cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  const http = { ...push, endpoint: 'http://push.example/a' }
  for (const [body, status] of [
    ['{}', 422],
    [JSON.stringify(http), 422],
    ['no', 400],
    [' '.repeat(70_000), 413],
  ] as const)
    expect((await tell('POST', body, { cookie })).status).toBe(status)

  const { endpoint } = push
  expect((await tell('DELETE', JSON.stringify({ endpoint }))).status).toBe(204)
  expect((await told()).at(-1)).toEqual({ endpoint })
  const detail = 'push.endpoint: an address of the public Internet is required'
  await stub(path, 422, { type: '/problems/invalid-fields', title: '', status: 422, detail })
  await sale.publish({ phase: 'sold_out' })
  await sale.until(({ phase }) => phase === 'sold_out')
  expect(await (await sale.page()).text()).toContain('id="notice-push"')
  const refused = await tell('POST', subscribed)
  expect([refused.status, await refused.json()]).toEqual([422, expect.objectContaining({ detail })])
  expect((await told()).at(-1)).toMatchObject({ about: 'restock', number: null })
  // The browser is known from now on.
  expect(cookiesOf(refused)).toContain('visitor-secret')
})
