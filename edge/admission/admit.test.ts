/** The Worker checks new visitors by a sale's blocks, rules, sign-in, invitations and proofs. */
import type { Challenge } from 'altcha-lib'
import { expect, it } from 'vitest'
import type { Policy } from '../../shared/api/access.ts'
import type { JoinCounts } from '../../shared/api/internal.ts'
import { edgeEnv, orderOf, requestsTo, stub } from '../testing/origin.ts'
import { OPEN_TO_ALL } from '../testing/simulation.ts'
import { call, cookiesOf, proofFor, TestSale } from '../testing/visitors.ts'

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
/** The token has the form of the origin's order tokens. */
const tokenOf = (claims: object) => `e30.${btoa(JSON.stringify(claims)).replaceAll('=', '')}.${'A'.repeat(43)}`

const joinWith = (sale: TestSale, body: unknown, headers?: Record<string, string>) => sale.joinWith(body, headers)

it('refuses who is blocked to join, in their place, at their turn, at checkout and for orders', async () => {
  const sale = await new TestSale().publish()
  const address = from('192.0.2.7')
  const order = crypto.randomUUID()
  await stub(`/sales/${sale.name}/checkout`, 201, orderOf(sale.name, order))
  await stub(`/orders/${order}`, 200, orderOf(sale.name, order))
  await stub(`/orders/${order}/payment`, 202, orderOf(sale.name, order))
  const joined = await sale.join({ ...address, ...BROWSER })
  // The line page sets the admission only once the turn has come.
  await sale.ready({ ...address, cookie: cookiesOf(joined) })
  const line = await sale.line({ ...address, cookie: cookiesOf(joined) })
  const { admission_token, queue_token } = await sale.ready(address)
  const orderToken = tokenOf({ sub: order, sale: sale.name })
  const cookie = `${cookiesOf(joined)}; ${cookiesOf(line)}; order-${order}=${orderToken}`
  const bearer = (token: string) => ({ ...address, authorization: `Bearer ${token}` })
  const html = { ...address, cookie, accept: 'text/html' }
  const key = { 'idempotency-key': 'a-key-of-sixteen-letters' }
  const checkout = {
    method: 'POST',
    headers: { ...bearer(admission_token ?? ''), ...key, 'content-type': 'application/json' },
    body: '{}',
  }
  const statuses = async () => {
    const calls = [
      sale.join(address),
      sale.status(queue_token, address),
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
  const open = [201, 200, 200, 201, 303, 200, 303, 303, 200, 200, 202]
  expect(await statuses()).toEqual(open)
  await sale.publish({ policy: policyOf({}, { blocks: [{ address: '192.0.2.0/24' }] }) })
  await sale.push()
  await expect.poll(statuses).toEqual(open.map(() => 403))
  expect(await (await sale.join(address)).json()).toMatchObject({ type: '/problems/refused' })
  expect((await sale.join(from('198.51.100.7'))).status).toBe(201)
})

it('lets an order through by its token while nothing is known of the sale', async () => {
  const [sale, order] = [new TestSale().name, crypto.randomUUID()]
  await stub(`/orders/${order}`, 200, orderOf(sale, order))
  const headers = { authorization: `Bearer ${tokenOf({ sub: order, sale })}` }
  expect((await call(`/orders/${order}`, { headers })).status).toBe(200)
})

it('knows the network and the country of an applicant by the headers of another front than Cloudflare’s', async () => {
  const env = { ...edgeEnv, ASN_HEADER: 'x-asn', COUNTRY_HEADER: 'x-country' }
  const joined = async (when: object, headers: Record<string, string>) =>
    (await (await ruled(when, 'refuse')).join(headers, env)).status
  expect(await joined({ asn: 64_500 }, { 'x-asn': 'AS64500' })).toBe(403)
  expect(await joined({ asn: 64_500 }, { 'x-asn': '64501' })).toBe(201)
  expect(await joined({ country: 'DE' }, { 'x-country': 'de' })).toBe(403)
  expect(await joined({ country: 'DE' }, { 'x-country': 'AT' })).toBe(201)
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
  expect([(await costly.join(headers)).status, (await costly.join(from('192.0.2.8'))).status]).toEqual([201, 401])
})

it('asks for a session where the sale requires it, and says where to sign in and to come back to', async () => {
  const shop = {
    SHOP_JWKS_URL: `${edgeEnv.ORIGIN_URL}/jwks`,
    SHOP_ISSUER: 'shop',
    SHOP_AUDIENCE: 'sale',
    SHOP_SIGN_IN_URL: 'https://shop.test/sign-in?to={return}',
  }
  const sale = await saleWith({ sign_in: 'required' })
  const url = `https://shop.test/sign-in?to=${encodeURIComponent(`http://edge.test/sales/${sale.name}/line`)}`
  const refused = await sale.join({}, { ...edgeEnv, ...shop })
  expect(refused.status).toBe(401)
  expect(await refused.json()).toMatchObject({ type: '/problems/sign-in-required', sign_in_url: url })
  const landing = await (await sale.page({}, { ...edgeEnv, ...shop })).text()
  expect(landing).toContain(`href="${url.replaceAll('&', '&amp;')}"`)
  const page = await sale.form('/queue', {}, { accept: 'text/html' }, { ...edgeEnv, ...shop })
  expect(await page.text()).toContain(`href="${url}"`)
  const pinned = await sale.join({}, { ...edgeEnv, ...shop, PUBLIC_URL: 'https://queue.shop.test/' })
  expect((await pinned.json<{ sign_in_url: string }>()).sign_in_url).toContain(
    encodeURIComponent(`https://queue.shop.test/sales/${sale.name}`),
  )
  // If the edge has no settings of the shop, nobody can join, and the response says so.
  expect(await (await sale.join()).json()).toMatchObject({ sign_in_url: null })
})

it('lets a visitor in by an invitation, by JSON or form, and says what is wrong with one', async () => {
  const sale = await saleWith({ invitation: 'required' })
  const result = (status: number, body: object) => stub(`/internal/sales/${sale.name}/redeem`, status, body)
  const without = await sale.join()
  expect([without.status, await without.json()]).toMatchObject([403, { type: '/problems/invitation-required' }])
  for (const [answer, detail] of [
    ['unknown', 'no such invitation'],
    ['used_up', 'used by others'],
  ] as const) {
    await result(200, { result: answer })
    const response = await joinWith(sale, { invitation: 'SUMMER-24' })
    expect([response.status, (await response.json<{ detail: string }>()).detail]).toEqual([
      403,
      expect.stringContaining(detail),
    ])
  }
  await result(500, {})
  expect((await joinWith(sale, { invitation: 'SUMMER-24' })).status).toBe(503)
  await result(200, { result: 'redeemed' })
  expect((await joinWith(sale, { invitation: 'SUMMER-24' })).status).toBe(201)
  const form = await sale.form('/queue', { invitation: 'SUMMER-24' }, { accept: '*/*' })
  expect(form.status).toBe(201)
  // A visitor who has a place is not checked again.
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
  expect([(await joinWith(sale, '')).status, (await joinWith(sale, {})).status]).toEqual([201, 201])
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
  const curl = { 'user-agent': 'curl/8' }
  await sale.join(curl)
  const altcha = await proofFor(await challengeFor(sale, curl))
  for (const status of [201, 200]) expect((await joinWith(sale, { altcha }, curl)).status).toBe(status)
  const sent = async () => {
    // A count is sent with a request that is made anyway. A ticket shard that has just made one waits for the next.
    await call(`/sales/${sale.name}/schedule`)
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    const counts = requests.flatMap(({ query }) => JSON.parse(new URLSearchParams(query).get('counts') ?? '[]'))
    const sum = (of: (one: JoinCounts) => number | undefined) => counts.reduce((all, c) => all + (of(c) ?? 0), 0)
    return {
      joins: sum((c) => c.joins),
      crowded: sum((c) => c.crowded),
      solved: sum((c) => c.proofs),
      refused: sum((c) => c.refusals.refused),
      proof: sum((c) => c.refusals['proof-required']),
      met: sum((c) => c.met[refused]),
      asked: sum((c) => c.met[asked]),
    }
  }
  await expect.poll(sent).toEqual({ joins: 3, crowded: 0, solved: 1, refused: 3, proof: 1, met: 3, asked: 3 })
})

// -- Proofs ---------------------------------------------------------------------------------------------------------

const challengeFor = (sale: TestSale, headers = {}) => call(`/sales/${sale.name}/challenge`, { headers })
async function difficultyFor(sale: TestSale, headers = {}) {
  const { parameters } = await (await challengeFor(sale, headers)).json<Challenge>()
  return Number(parameters.data?.difficulty)
}

it('asks a network that takes most challenges for many times as much, and the others for the usual', async () => {
  const sale = await saleWith({ proof_of_work: 'auto' })
  const usual = await difficultyFor(sale, from('192.0.2.7'))
  for (let i = 0; i < 60; i++) await difficultyFor(sale, from('192.0.2.7'))
  const bots = await difficultyFor(sale, from('192.0.2.7'))
  expect(bots).toBeGreaterThan(5 * usual)
  expect(await difficultyFor(sale, from('198.51.100.7'))).toBe(usual)
  const fixed = await saleWith({ proof_of_work: 1_000 })
  for (let i = 0; i < 30; i++) await difficultyFor(fixed, from('192.0.2.7'))
  expect(await difficultyFor(fixed, from('192.0.2.7'))).toBe(1_000)
})

it('spares whoever a rule allows, and gives the widget of their page next to nothing to do', async () => {
  const rules = [{ rule: '1', when: { address: '192.0.2.7' }, action: 'allow' }] as const
  const sale = await saleWith({ proof_of_work: 200_000 }, { rules: [...rules] })
  expect(await difficultyFor(sale, from('192.0.2.7'))).toBe(1)
  expect(await difficultyFor(sale, from('192.0.2.8'))).toBe(200_000)
  expect((await sale.join(from('192.0.2.7'))).status).toBe(201)
})

it('shows whoever a rule asks for a proof a form with the widget, which keeps what was entered', async () => {
  const sale = await saleWith(
    { invitation: 'required' },
    { rules: [{ rule: '1', when: { user_agent: 'curl' }, action: 'prove' }] },
  )
  await stub(`/internal/sales/${sale.name}/redeem`, 200, { result: 'redeemed' })
  const headers = { 'user-agent': 'curl/8' }
  expect(await (await sale.page(headers)).text()).not.toContain('<altcha-widget')
  const refused = await sale.form('/queue', { invitation: 'SUMMER-24' }, headers)
  expect(refused.status).toBe(401)
  const page = await refused.text()
  expect(page).toContain(`<form method="post" action="/sales/${sale.name}/queue"`)
  expect(page).toMatch(/<input name="invitation"[^>]* value="SUMMER-24"/)
  expect(page).toContain(`challenge="/sales/${sale.name}/challenge"`)
})

/** The edge with Turnstile, and a stand-in for siteverify that responds as Cloudflare documents it. */
async function withTurnstile(status: number, body: unknown) {
  const path = `/siteverify-${crypto.randomUUID()}`
  await stub(path, status, body)
  const TURNSTILE = {
    TURNSTILE_SITE_KEY: '1x00000000000000000000AA',
    TURNSTILE_SECRET_KEY: '1x0000000000000000000000000000000AA',
    TURNSTILE_VERIFY_URL: edgeEnv.ORIGIN_URL + path,
  }
  const settings = { ...edgeEnv, ...TURNSTILE }
  const join = (sale: TestSale, turnstile?: string) =>
    turnstile === undefined
      ? sale.join({}, settings)
      : sale.form('/queue', { turnstile }, { accept: '*/*', ...from('192.0.2.7') }, settings)
  return { settings, path, join }
}
const GOOD = {
  success: true,
  'error-codes': [],
  challenge_ts: '2026-11-27T12:00:00.000Z',
  hostname: 'edge.test',
  action: '',
  cdata: '',
}

it("lets a visitor in by a token of Turnstile's that siteverify confirms", async () => {
  const sale = await saleWith({ turnstile: true })
  const { join, path } = await withTurnstile(200, GOOD)
  const refused = await join(sale)
  expect(refused.status).toBe(401)
  expect(await refused.json()).toMatchObject({
    type: '/problems/proof-required',
    kind: 'turnstile',
    challenge: `/sales/${sale.name}`,
  })
  expect((await requestsTo(path)).calls).toBe(0)
  expect((await join(sale, 'the-token')).status).toBe(201)
  const [asked] = (await requestsTo(path)).requests
  expect(asked?.method).toBe('POST')
  expect(asked?.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/)
  expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
    secret: '1x0000000000000000000000000000000AA',
    response: 'the-token',
    remoteip: '192.0.2.7',
    idempotency_key: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
})

it("refuses a token of Turnstile's that is bad or used, and says try again where that cannot be known", async () => {
  const sale = await saleWith({ turnstile: true })
  for (const code of ['invalid-input-response', 'timeout-or-duplicate']) {
    const { join } = await withTurnstile(200, { success: false, 'error-codes': [code] })
    expect((await join(sale, 'the-token')).status, code).toBe(401)
  }
  for (const [status, body] of [
    [200, { success: false, 'error-codes': ['internal-error'] }],
    [400, { success: false, 'error-codes': ['invalid-input-secret'] }],
    [502, '<html>Bad gateway</html>'],
    [0, ''],
  ] as const) {
    const { join, path } = await withTurnstile(status, body)
    expect((await join(sale, 'the-token')).status, String(status)).toBe(503)
    const { requests } = await requestsTo(path)
    const keys = requests.map((one) => new URLSearchParams(one.body).get('idempotency_key'))
    expect([keys.length, new Set(keys).size]).toEqual([2, 1])
  }
})

it("asks for Turnstile's check only if the edge has its keys, and names its address only on such pages", async () => {
  const sale = await saleWith({ turnstile: true })
  expect((await sale.join()).status).toBe(201)
  const { settings } = await withTurnstile(200, GOOD)
  const cloudflare = 'https://challenges.cloudflare.com'
  const policyIn = (response: Response) => response.headers.get('content-security-policy')
  const page = await sale.page({}, settings)
  expect(policyIn(page)).toContain(`script-src 'self' ${cloudflare}; frame-src ${cloudflare};`)
  expect(await page.text()).toContain('<turnstile-widget data-sitekey="1x00000000000000000000AA"')
  const refused = await sale.form('/queue', {}, {}, settings)
  expect(policyIn(refused)).toContain(cloudflare)
  expect(await refused.text()).toContain('<turnstile-widget')
  expect(policyIn(await (await saleWith({ turnstile: true })).page())).not.toContain(cloudflare)
  expect(policyIn(await (await saleWith({})).page({}, settings))).not.toContain(cloudflare)
})

it('shows both widgets again to whoever still lacks the token of Turnstile', async () => {
  const sale = await saleWith({ proof_of_work: 500, turnstile: true })
  const { settings } = await withTurnstile(200, GOOD)
  const asked = await challengeFor(sale)
  const altcha = await proofFor(asked)
  const cookie = cookiesOf(asked)
  const refused = await sale.form('/queue', { altcha }, { cookie }, settings)
  const page = await refused.text()
  expect(page).toMatch(/<altcha-widget[\s\S]*<turnstile-widget/)
  const both = { altcha, turnstile: 'the-token' }
  expect((await sale.form('/queue', both, { cookie, accept: '*/*' }, settings)).status).toBe(201)
})
