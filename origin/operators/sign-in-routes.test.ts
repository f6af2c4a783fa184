/** Operators sign in at the company's own service by OpenID Connect. */
import { Hono } from 'hono'
import type { JWTPayload } from 'jose'
import { pino } from 'pino'
import { beforeAll, expect, test } from 'vitest'
import { ADMIN_TOKEN, counted, useOrigin } from '../../test/lib/origin-process.ts'
import { CLIENT, useSignInService } from '../../test/stand-ins/sign-in-service.ts'
import { createApp } from '../app.ts'
import { loadConsole } from './console-files.ts'
import { consoleRoutes } from './console-routes.ts'
import { operatorOf, requireOperator } from './operator-auth.ts'
import { insertSession, writeOperator } from './operator-queries.ts'
import { ADMIN, newKey, newSecret, Operators } from './operators.ts'
import { signInRoutes } from './sign-in-routes.ts'
import { operatorIn } from './sign-in-service.ts'

const origin = useOrigin()
const service = useSignInService()
const CONSOLE = 'https://ops.shop.example'

/** The console of a second origin on the same ledger, whose operators may sign in at the service. */
let console: Hono
beforeAll(async () => {
  const oidc = {
    OIDC_ISSUER: service.url(),
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    CONSOLE_URL: CONSOLE,
    OIDC_ROLE_CLAIM: 'roles',
    OIDC_ROLES: { staff: 'viewer', 'drop-team': 'operator' },
  } as const
  const deps = {
    config: { ADDRESS_HEADER: 'x-forwarded-for', ADMIN_TOKEN, EDGE_URL: undefined, PUBLIC_URL: undefined, oidc },
    operators: new Operators(origin.sql(), () => false, [ADMIN_TOKEN]),
    files: await loadConsole(true),
    sales: { find: async () => undefined },
    log: pino({ level: 'silent' }),
  }
  console = createApp({ log: deps.log, routes: { '/console': signInRoutes(deps).route('/', consoleRoutes(deps)) } })
})

async function visit(path: string, headers: Record<string, string> = {}, key?: string) {
  const init = {
    headers: { 'x-forwarded-proto': 'https', 'content-type': 'application/json', ...headers },
    ...(key !== undefined && { method: 'POST', body: JSON.stringify({ key }) }),
  }
  const response = await console.request(path, init, {})
  const { status } = response
  return { status, headers: response.headers, text: await response.text() }
}
const cookieIn = (headers: Headers, name: string) =>
  headers.getSetCookie().find((one) => one.startsWith(`${name}=`) && !one.includes('Max-Age=0')) ?? ''

/** Begins a sign-in, signs in at the service with these claims, and follows the redirect back. */
async function signIn(claims: JWTPayload, change: (back: URL) => void = () => {}, keep = true) {
  const begun = await visit('/console/sign-in')
  expect(begun.status).toBe(302)
  const set = cookieIn(begun.headers, '__Host-sign-in')
  const kept = set.split(';')[0] ?? ''
  expect(set).toMatch(/; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
  const back = service.signIn(begun.headers.get('location') ?? '', claims)
  expect(back.href).toMatch(`${CONSOLE}/console/signed-in?`)
  change(back)
  const answer = await visit(back.pathname + back.search, keep ? { cookie: kept } : {})
  return { answer, back, kept, session: cookieIn(answer.headers, '__Host-operator').split(';')[0] ?? '' }
}
const ADA = { email: 'ada@shop.example', roles: ['staff', 'drop-team', 'other'] }

test('a person with a role signs in, under their name and with their highest role', async () => {
  const { answer, session } = await signIn(ADA)
  expect(answer).toMatchObject({ status: 302 })
  expect(answer.headers.get('location')).toBe('/console')
  const sale = await origin.sale()
  const headers = { cookie: session, 'sec-fetch-site': 'same-origin' }
  expect(JSON.parse((await visit('/console/session', headers)).text)).toEqual({
    oidc: true,
    shop: null,
    operator: { name: 'ada@shop.example', role: 'operator' },
  })
  expect(await origin.call('POST', `/admin/sales/${sale}/pause`, { headers })).toMatchObject({ status: 200 })
  const { entries } = (await origin.admin('GET', `/audit?sale=${sale}`)).body as { entries: object[] }
  expect(entries[0]).toMatchObject({ operator: 'ada@shop.example', action: 'paused' })
})

test('a person who comes back without the role for it has their scheduled actions suspended', async () => {
  const sale = await origin.sale()
  const { session } = await signIn({ email: 'kim@shop.example', roles: 'drop-team' })
  const headers = { cookie: session, 'sec-fetch-site': 'same-origin' }
  const at = new Date(Date.now() + 600_000).toISOString()
  const body = { at, action: 'end' }
  expect(await origin.call('POST', `/admin/sales/${sale}/scheduled`, { headers, body })).toMatchObject({ status: 201 })
  expect((await signIn({ email: 'kim@shop.example', roles: 'staff' })).answer.status).toBe(302)
  expect((await origin.admin('GET', `/sales/${sale}/scheduled`)).body.scheduled).toMatchObject([
    { next_at: null, suspended: { by: 'sign-in service', reason: 'demoted', due_at: at } },
  ])
})

test('who is called as somebody else is somebody else: under another name, and without a hold on their actions', async () => {
  const sale = await origin.sale()
  const alice = { email: 'alice@shop.example', roles: 'drop-team', sub: 'alice' }
  const { session } = await signIn(alice)
  const body = { at: new Date(Date.now() + 600_000).toISOString(), action: 'end' }
  const headers = { cookie: session, 'sec-fetch-site': 'same-origin' }
  expect(await origin.call('POST', `/admin/sales/${sale}/scheduled`, { headers, body })).toMatchObject({ status: 201 })
  const nameIn = async (claims: JWTPayload) => {
    const { session } = await signIn(claims)
    return JSON.parse((await visit('/console/session', { cookie: session })).text).operator?.name
  }
  expect(await nameIn({ ...alice, sub: 'mallory', roles: 'staff' })).toBe('alice@shop.example#mallory')
  expect(await nameIn({ sub: 'mallory', preferred_username: 'alice@shop.example', roles: 'staff' })).not.toBe(
    alice.email,
  )
  const suspended = async () => {
    const { scheduled } = (await origin.admin('GET', `/sales/${sale}/scheduled`)).body as { scheduled: object[] }
    return scheduled.map((one) => (one as { suspended?: object | null }).suspended ?? null)
  }
  expect(await suspended()).toEqual([null])
  await signIn({ ...alice, email: 'alice.lee@shop.example', roles: 'staff' })
  expect(await suspended()).toMatchObject([{ reason: 'demoted' }])
})

test('a person without a role is told so, and gets no session', async () => {
  for (const roles of [[], ['other', 'constructor']]) {
    const claims = { email: 'eve@shop.example', ...(roles.length > 0 && { roles }) }
    const { answer, session } = await signIn(claims)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('eve@shop.example is signed in, but may not use this console')
    expect(session).toBe('')
  }
})

const past = () => Math.floor(Date.now() / 1000) - 3600
test.each<[string, () => JWTPayload, ((back: URL) => void)?]>([
  ['another state', () => ADA, (back) => back.searchParams.set('state', 'forged')],
  ['no state', () => ADA, (back) => back.searchParams.delete('state')],
  ['another nonce', () => ({ ...ADA, nonce: 'forged' })],
  ['an expired token', () => ({ ...ADA, iat: past() - 60, exp: past() })],
  ["another client's token", () => ({ ...ADA, aud: 'other' })],
  ["another issuer's token", () => ({ ...ADA, iss: 'https://other.example' })],
  ['an unknown code', () => ADA, (back) => back.searchParams.set('code', 'guessed')],
])('refuses %s', async (_, claims, change) => {
  const { answer, session } = await signIn(claims(), change)
  expect(answer.status).toBe(400)
  expect(session).toBe('')
})

test('refuses whoever did not begin here, and an answer that comes twice', async () => {
  expect((await signIn(ADA, undefined, false)).answer.status).toBe(400)
  const { answer, back, kept } = await signIn(ADA)
  expect(answer.status).toBe(302)
  expect((await visit(back.pathname + back.search, { cookie: kept })).status).toBe(400)
})

test('nobody is called as the admin token or this system is', () => {
  const config = { OIDC_ROLE_CLAIM: 'roles', OIDC_ROLES: { owner: 'owner' } } as const
  expect(operatorIn({ email: 'ADMIN', sub: 's1', roles: 'owner' }, config)).toEqual({ name: 's1', role: 'owner' })
  expect(operatorIn({ email: 'a@b.example', email_verified: false, sub: 's1' }, config)).toEqual({ name: 's1' })
  expect(() => operatorIn({ sub: 'reconciler' }, config)).toThrow()
})

test('ten wrong keys from an address are too many, and never keep out the right one', async () => {
  const from = async (address: string, key: string) =>
    (await visit('/console/session', { 'x-forwarded-for': address }, key)).status
  const statuses: number[] = []
  for (let i = 0; i < 11; i++) statuses.push(await from('203.0.113.1', `wrong-${i}`))
  expect(statuses).toEqual([...Array(10).fill(401), 429])
  const { secret, hash } = newKey()
  await writeOperator(origin.sql(), { name: 'bo', role: 'viewer' }, hash)
  expect(await from('203.0.113.1', newKey().secret)).toBe(429)
  expect(await from('203.0.113.1', secret)).toBe(201)
  expect(await from('203.0.113.1', ADMIN_TOKEN)).toBe(201)
  expect(await from('203.0.113.2', 'wrong')).toBe(401)
})

test('another admin token ends the sessions that the one before began, and no others', async () => {
  const sql = origin.sql()
  const [before, after] = ['one', 'other'].map((token) => new Operators(sql, () => false, [token]))
  const [admin, bo] = [ADMIN, { name: 'bo', role: 'viewer' } as const]
  const cookies = await Promise.all([admin, bo].map((one) => before?.beginSession(one, false) ?? ''))
  const found = (operators?: Operators) => Promise.all(cookies.map((cookie) => operators?.bySession(cookie)))
  expect(await found(before)).toEqual([admin, bo])
  expect(await found(after)).toEqual([undefined, bo])
  // A session of the admin's name that is not keyed by the token is none.
  const { secret, hash } = newSecret()
  await insertSession(sql, hash, admin, false, 60)
  expect(await before?.bySession(secret)).toBeUndefined()
  await before?.endSession(cookies[0] ?? '')
  expect(await new Operators(sql, () => false, ['one']).bySession(cookies[0] ?? '')).toBeUndefined()
})

test('while the admin token is changed, each process accepts both, and the sessions of both', async () => {
  // One process has been restarted with the two swapped.
  const processes = [['one', 'other'] as const, ['other', 'one'] as const].map((tokens) => {
    const operators = new Operators(origin.sql(), () => false, tokens)
    const admin = new Hono().use(requireOperator(tokens, operators)).get('/', (c) => c.text(operatorOf(c)))
    return { operators, app: createApp({ log: pino({ level: 'silent' }), routes: { '/admin': admin } }) }
  })
  for (const { app } of processes)
    for (const token of ['one', 'other', 'neither']) {
      const { status } = await app.request('/admin', { headers: { authorization: `Bearer ${token}` } })
      expect(status).toBe(token === 'neither' ? 401 : 200)
    }
  const cookies = await Promise.all(processes.map(({ operators }) => operators.beginSession(ADMIN, false)))
  for (const { operators } of processes)
    for (const cookie of cookies) expect(await operators.bySession(cookie)).toEqual(ADMIN)
  // The sessions of the old one end with it.
  const changed = new Operators(origin.sql(), () => false, ['other'])
  expect(await Promise.all(cookies.map((cookie) => changed.bySession(cookie)))).toEqual([undefined, ADMIN])
})

test('invented cookies cost the ledger one query together, and push out none that is known', async () => {
  const { sql, statements } = counted(origin.sql())
  let isLedgerAway = false
  const operators = new Operators(sql, () => isLedgerAway, [ADMIN_TOKEN])
  const [bo, cy] = [{ name: 'bo', role: 'viewer' } as const, { name: 'cy', role: 'viewer' } as const]
  const cookie = await operators.beginSession(bo, false)
  const late = await operators.beginSession(cy, false)
  expect(await operators.bySession(cookie)).toEqual(bo)
  const before = statements()
  for (const wrong of ['', 'x', `${cookie}x`, cookie.slice(1), cookie.replace(/./, '+')])
    expect(await operators.bySession(wrong)).toBeUndefined()
  expect(statements()).toBe(before)
  const invented = Array.from({ length: 3_000 }, () => newSecret().secret)
  for (const _ of [1, 2]) {
    const found = await Promise.all([...invented, late].map((one) => operators.bySession(one)))
    expect(found.filter((operator) => operator)).toEqual([cy])
    await Promise.all(invented.map((one) => operators.endSession(one)))
  }
  // A late cookie may be looked up again a second later.
  expect(statements() - before).toBeLessThanOrEqual(2)
  isLedgerAway = true
  const known = statements()
  expect(await operators.bySession(cookie)).toEqual(bo)
  expect(statements()).toBe(known)
})
