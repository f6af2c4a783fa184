/** What a sale asks of newcomers, over the Worker: blocks, rules, sign-in, invitations, proof. */
import { expect, it } from 'vitest'
import { OPEN_TO_ALL, type Policy } from '../../shared/api/access.ts'
import type { JoinCounts } from '../../shared/api/internal.ts'
import { call, cookiesOf, edgeEnv, orderOf, requestsTo, stub, TestSale } from '../testing/visitors.ts'

type Access = Policy['lines'][number]['access']

function policyOf(access: Partial<Access>, changes: Partial<Policy> = {}): Policy {
  const [line] = OPEN_TO_ALL.lines
  if (!line) throw new Error('no line')
  return {
    ...OPEN_TO_ALL,
    version: crypto.randomUUID(),
    lines: [{ ...line, access: { ...line.access, ...access } }],
    ...changes,
  }
}

const saleWith = (access: Partial<Access>, changes?: Partial<Policy>) =>
  new TestSale().publish({ policy: policyOf(access, changes) })

const ruled = (when: Policy['rules'][number]['when'], action: Policy['rules'][number]['action']) =>
  saleWith({}, { rules: [{ rule: '1', when, action }] })

const from = (address: string) => ({ 'cf-connecting-ip': address })
const BROWSER = { 'sec-fetch-site': 'same-origin' }
/** It has the form of the origin's order tokens. */
const tokenOf = (claims: object) => `e30.${btoa(JSON.stringify(claims)).replaceAll('=', '')}.${'A'.repeat(43)}`
const JSON_BODY = { 'content-type': 'application/json' }

function joinWith(sale: TestSale, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const length = { 'content-length': String(text.length) }
  const init = { method: 'POST', headers: { ...JSON_BODY, ...length, ...headers }, body: text }
  return call(`/sales/${sale.name}/queue`, init)
}

it('refuses who is blocked, also in their place, and within two seconds of the block', async () => {
  const sale = await new TestSale().publish({ policy: policyOf({}) })
  const address = from('192.0.2.7')
  const { queue_token } = await sale.joined(address)
  await sale.publish({ policy: policyOf({}, { blocks: [{ address: '192.0.2.0/24' }] }) })
  await sale.push()
  await expect.poll(async () => (await sale.status(queue_token, address)).status, { timeout: 2_000 }).toBe(403)
  const refused = await sale.join(address)
  expect(refused.status).toBe(403)
  expect(await refused.json()).toMatchObject({ type: '/problems/refused' })
  expect((await sale.join(from('198.51.100.7'))).status).toBe(201)
})

it('refuses who is blocked at their page, at their turn, at checkout and for orders', async () => {
  const sale = await new TestSale().publish()
  const address = from('192.0.2.7')
  const order = crypto.randomUUID()
  await stub(`/sales/${sale.name}/checkout`, 201, orderOf(sale.name, order))
  await stub(`/orders/${order}`, 200, orderOf(sale.name, order))
  await stub(`/orders/${order}/payment`, 202, orderOf(sale.name, order))
  const joined = await sale.join({ ...address, ...BROWSER })
  const line = await sale
    .until(({ ceiling }) => ceiling > 0)
    .then(() => sale.line({ ...address, cookie: cookiesOf(joined) }))
  const { admission_token } = await sale.ready(address)
  const orderToken = tokenOf({ sub: order, sale: sale.name })
  const cookie = `${cookiesOf(joined)}; ${cookiesOf(line)}; order-${order}=${orderToken}`
  const bearer = (token: string) => ({ ...address, authorization: `Bearer ${token}` })
  const html = { ...address, cookie, accept: 'text/html' }
  const key = { 'idempotency-key': 'a-key-of-sixteen-letters' }
  const checkout = { method: 'POST', headers: { ...bearer(admission_token ?? ''), ...key, ...JSON_BODY }, body: '{}' }
  const statuses = async () => {
    const calls = [
      sale.line(html),
      call(`/sales/${sale.name}/checkout`, checkout),
      sale.form('/buy', { product_id: 'lamp' }, html),
      call(`/sales/${sale.name}/order/${order}`, { headers: html }),
      sale.form(`/order/${order}/payment`, { payment_method: 'pm_ok' }, html),
      sale.form(`/order/${order}/cancel`, {}, html),
      call(`/orders/${order}`, { headers: bearer(orderToken) }),
      call(`/orders/${order}`, { headers: bearer(admission_token ?? '') }),
      call(`/orders/${order}/payment`, { ...checkout, headers: bearer(orderToken) }),
    ]
    return (await Promise.all(calls)).map(({ status }) => status)
  }
  const open = [200, 201, 303, 200, 303, 303, 200, 200, 202]
  expect(await statuses()).toEqual(open)
  await sale.publish({ policy: policyOf({}, { blocks: [{ address: '192.0.2.0/24' }] }) })
  await sale.push()
  await expect.poll(statuses, { timeout: 2_000 }).toEqual(open.map(() => 403))
})

it('lets an order through by its token while nothing is known of the sale', async () => {
  const [sale, order] = [new TestSale().name, crypto.randomUUID()]
  await stub(`/orders/${order}`, 200, orderOf(sale, order))
  const headers = { authorization: `Bearer ${tokenOf({ sub: order, sale })}` }
  expect((await call(`/orders/${order}`, { headers })).status).toBe(200)
})

it('lets a rule refuse, ask for a proof, send to the end, and allow', async () => {
  const headers = { ...from('192.0.2.7'), 'user-agent': 'curl/8' }
  const refused = await (await ruled({ address: '192.0.2.0/24' }, 'refuse')).join(headers)
  expect([refused.status, (await refused.json<{ type: string }>()).type]).toEqual([403, '/problems/refused'])
  const proving = await ruled({ user_agent: 'curl' }, 'prove')
  const proof = await proving.join(headers)
  expect(await proof.json()).toMatchObject({
    type: '/problems/proof-required',
    kind: 'altcha',
    challenge: `/sales/${proving.name}/challenge`,
  })
  expect((await call(`/sales/${proving.name}/challenge`, { headers })).status).toBe(200)
  expect((await proving.join(from('192.0.2.7'))).status).toBe(201)

  const lobby = new TestSale(60_000)
  await lobby.publish({
    policy: policyOf({}, { rules: [{ rule: '1', when: { address: '192.0.2.7' }, action: 'last' }] }),
  })
  const last = await lobby.join(headers)
  expect(last.status).toBe(425)
  expect(await last.json()).toMatchObject({
    type: '/problems/not-open',
    detail: expect.stringContaining('end of the line'),
  })
  expect((await lobby.join(from('192.0.2.8'))).status).toBe(201)
  await lobby.publish({ opensInMs: -1_000 })
  await lobby.push()
  await lobby.until(({ draw_seed }) => draw_seed !== null)
  expect((await lobby.join(headers)).status).toBe(201)

  const costly = await saleWith(
    { proof_of_work: 5_000 },
    { rules: [{ rule: '1', when: { address: '192.0.2.7' }, action: 'allow' }] },
  )
  expect((await costly.join(headers)).status).toBe(201)
  expect((await costly.join(from('192.0.2.8'))).status).toBe(401)
})

it('asks for a session where the sale requires it, and says where to sign in and to come back to', async () => {
  const shop = {
    SHOP_JWKS_URL: `${edgeEnv.ORIGIN_URL}/jwks`,
    SHOP_ISSUER: 'shop',
    SHOP_AUDIENCE: 'sale',
    SHOP_SIGN_IN_URL: 'https://shop.test/sign-in?to={return}',
  }
  const sale = await saleWith({ sign_in: 'required' })
  const url = `https://shop.test/sign-in?to=${encodeURIComponent(`http://edge.test/sales/${sale.name}`)}`
  const refused = await sale.join({}, { ...edgeEnv, ...shop })
  expect(refused.status).toBe(401)
  expect(await refused.json()).toMatchObject({ type: '/problems/sign-in-required', sign_in_url: url })
  const landing = await (await sale.page({}, { ...edgeEnv, ...shop })).text()
  expect(landing).toContain(`href="${url.replaceAll('&', '&amp;')}"`)
  const page = await sale.form('/queue', {}, { accept: 'text/html' }, { ...edgeEnv, ...shop })
  expect(await page.text()).toContain(`href="${url}"`)
  // Without the shop's settings nobody can come in, and hears so.
  expect(await (await sale.join()).json()).toMatchObject({ sign_in_url: null })
})

it('lets a visitor in by an invitation, by JSON or form, and says what is wrong with one', async () => {
  const sale = await saleWith({ invitation: 'required' })
  const verdict = (status: number, body: object) => stub(`/internal/sales/${sale.name}/redeem`, status, body)
  const without = await sale.join()
  expect(without.status).toBe(403)
  expect(await without.json()).toMatchObject({ type: '/problems/invitation-required' })
  for (const [answer, detail] of [
    ['unknown', 'no such invitation'],
    ['used_up', 'used by others'],
  ] as const) {
    await verdict(200, { verdict: answer })
    const response = await joinWith(sale, { invitation: 'SUMMER-24' })
    expect([response.status, (await response.json<{ detail: string }>()).detail]).toEqual([
      403,
      expect.stringContaining(detail),
    ])
  }
  await verdict(500, {})
  expect((await joinWith(sale, { invitation: 'SUMMER-24' })).status).toBe(503)
  await verdict(200, { verdict: 'redeemed' })
  expect((await joinWith(sale, { invitation: 'SUMMER-24' })).status).toBe(201)
  const form = await sale.form('/queue', { invitation: 'SUMMER-24' }, { accept: '*/*' })
  expect(form.status).toBe(201)
  // Whoever has a place is not asked again.
  expect((await sale.join({ cookie: cookiesOf(form) })).status).toBe(200)
  expect(await (await sale.page()).text()).toContain('name="invitation"')
})

it('refuses a body that cannot be read, before anything is done', async () => {
  const sale = await new TestSale().publish()
  for (const [status, body] of [
    [400, '{'],
    [400, '[]'],
    [422, { line: 'no such/line' }],
    [422, { invitation: 7 }],
    [422, { surprise: true }],
    [413, { altcha: 'x'.repeat(100_000) }],
  ] as const)
    expect((await joinWith(sale, body)).status, JSON.stringify(body).slice(0, 40)).toBe(status)
  expect((await joinWith(sale, '')).status).toBe(201)
  expect((await joinWith(sale, {})).status).toBe(201)
})

it('sends the origin what was counted of those who join, once', async () => {
  const [refused, asked] = ['1', '2'] as const
  const rules: Policy['rules'] = [
    { rule: refused, when: { address: '192.0.2.0/24' }, action: 'refuse' },
    { rule: asked, when: { user_agent: 'curl' }, action: 'prove' },
  ]
  const sale = await saleWith({}, { rules })
  const one = await sale.joined()
  await sale.joined()
  await sale.join({ authorization: `Bearer ${one.queue_token}` })
  for (let i = 0; i < 3; i++) await sale.join(from('192.0.2.7'))
  await sale.join({ 'user-agent': 'curl/8' })
  const sent = async () => {
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    const counts = requests.flatMap(({ query }) => JSON.parse(new URLSearchParams(query).get('counts') ?? '[]'))
    const sum = (of: (one: JoinCounts) => number | undefined) => counts.reduce((all, c) => all + (of(c) ?? 0), 0)
    return {
      joins: sum((c) => c.joins),
      refused: sum((c) => c.refusals.refused),
      proof: sum((c) => c.refusals['proof-required']),
      met: sum((c) => c.met[refused]),
      asked: sum((c) => c.met[asked]),
    }
  }
  // Nobody asks for anything meanwhile.
  await expect
    .poll(sent, { timeout: 3_000, interval: 200 })
    .toEqual({ joins: 2, refused: 3, proof: 1, met: 3, asked: 1 })
})
