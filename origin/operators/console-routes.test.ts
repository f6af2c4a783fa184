import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Role } from '../../shared/api/operators/roles.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import { loadConsole } from './console-files.ts'
import { consoleRoutes } from './console-routes.ts'
import { insertSession, revokeOperator, writeOperator } from './operator-queries.ts'
import { newKey, newSecret, Operators } from './operators.ts'

const origin = useOrigin()
const OUR_PAGE = { 'sec-fetch-site': 'same-origin' }

async function operatorKey(name: string, role: Role): Promise<string> {
  const { secret, hash } = newKey()
  await writeOperator(origin.sql(), { name, role }, hash)
  return secret
}

async function signIn(key: string) {
  const answer = await origin.call('POST', '/console/session', { body: { key }, headers: OUR_PAGE })
  const set = answer.headers.get('set-cookie') ?? ''
  return { answer, set, headers: { ...OUR_PAGE, cookie: set.split(';')[0] ?? '' } }
}

test('an operator signs in, steers sales by the cookie, and signs out', async () => {
  const { answer, set, headers } = await signIn(await operatorKey('ada', 'operator'))
  expect(answer).toMatchObject({ status: 201, body: { name: 'ada', role: 'operator' } })
  expect(set).toMatch(/; HttpOnly; SameSite=Strict$/)
  const sale = await origin.sale()
  expect(await origin.call('POST', `/admin/sales/${sale}/pause`, { headers })).toMatchObject({ status: 200 })
  expect((await origin.call('GET', '/console/session', { headers })).body).toMatchObject({ operator: { name: 'ada' } })
  expect(await origin.call('DELETE', '/console/session', { headers })).toMatchObject({ status: 204 })
  expect(await origin.call('GET', '/admin/sales', { headers })).toMatchObject({ status: 401 })
})

test('in production the cookie is for https, whatever the front says, and browsers come back by https', async () => {
  const operators = new Operators(origin.sql(), () => false, [ADMIN_TOKEN])
  const sales = { find: async () => undefined }
  for (const NODE_ENV of [undefined, 'development'] as const) {
    const config = { NODE_ENV, ADMIN_TOKEN }
    const app = consoleRoutes({ config, operators, files: await loadConsole(true), sales } as never)
    const headers = { ...OUR_PAGE, 'x-forwarded-proto': 'http', 'content-type': 'application/json' }
    const body = JSON.stringify({ key: ADMIN_TOKEN })
    const signedIn = await app.request('/session', { method: 'POST', headers, body })
    expect(signedIn.status).toBe(201)
    const isProduction = NODE_ENV === undefined
    expect(/^__Host-operator=.*; Secure/.test(signedIn.headers.get('set-cookie') ?? '')).toBe(isProduction)
    expect(signedIn.headers.has('strict-transport-security')).toBe(isProduction)
  }
})

test('a page of another site can do nothing with the cookie', async () => {
  const { headers } = await signIn(ADMIN_TOKEN)
  const sale = await origin.sale()
  for (const site of ['cross-site', 'same-site', '']) {
    const call = { headers: { ...headers, 'sec-fetch-site': site } }
    expect(await origin.call('POST', `/admin/sales/${sale}/end`, call), site).toMatchObject({ status: 403 })
  }
})

test('a revoked key opens nothing, and neither does a session that it began', async () => {
  const key = await operatorKey('rob', 'owner')
  const { headers } = await signIn(key)
  const statuses = async () => [
    (await origin.call('GET', '/admin/sales', { token: key })).status,
    (await origin.call('GET', '/admin/sales', { headers })).status,
  ]
  expect(await statuses()).toEqual([200, 200])
  await revokeOperator(origin.sql(), 'rob')
  await expect.poll(statuses).toEqual([401, 401])
})

test('a session has the role that its operator has now', async () => {
  const name = `ria-${randomUUID()}`
  await operatorKey(name, 'viewer')
  const { secret, hash } = newSecret()
  await insertSession(origin.sql(), hash, { name, role: 'owner' }, true, 60)
  const { body } = await origin.call('GET', '/console/session', { headers: { cookie: `operator=${secret}` } })
  expect(body.operator).toEqual({ name, role: 'viewer' })
})

test('keys and sessions are kept as hashes only', async () => {
  const key = await operatorKey('kim', 'viewer')
  const { headers } = await signIn(key)
  const kept = await origin.sql()`
    select key_hash as text from operators union all select session_hash from operator_sessions`
  const texts = kept.map(({ text }) => String(text)).join()
  expect(texts).not.toContain(key)
  expect(texts).not.toContain(headers.cookie.split('=')[1])
})

test('serves its page under a strict policy, whatever the address below it; of a sale that is not there as 404', async () => {
  const paths = { '/console': 200, '/console/orders': 200, '/console/sales/new': 200, '/console/sales/nope': 404 }
  const sale = await origin.sale()
  for (const [path, wanted] of Object.entries({ ...paths, [`/console/sales/${sale}/report`]: 200 })) {
    const { status, headers, body } = await origin.call('GET', path)
    expect(status, path).toBe(wanted)
    const strict = /default-src 'none'; script-src 'self';.*frame-ancestors 'none'/
    expect(headers.get('content-security-policy')).toMatch(strict)
    const script = /src="([^"]+)"/.exec((body as unknown as { text: string }).text)?.[1] ?? ''
    expect((await origin.call('GET', script)).headers.get('cache-control')).toContain('immutable')
  }
})

test('an owner names operators: the key comes once, and others may not', async () => {
  const [olga, vic] = ['olga', 'vic'].map((name) => `${name}-${randomUUID()}`) as [string, string]
  const owner = await operatorKey(olga, 'owner')
  const made = await origin.call('POST', '/admin/operators', { token: owner, body: { name: vic, role: 'viewer' } })
  expect(made).toMatchObject({ status: 201, body: { name: vic, role: 'viewer', key: expect.stringMatching(/^op_/) } })
  const token = String(made.body.key)
  expect(await origin.call('GET', '/admin/sales', { token })).toMatchObject({ status: 200 })
  const owners = { type: '/problems/forbidden', detail: `This takes the role owner, and ${vic} is viewer.` }
  expect(await origin.call('GET', '/admin/operators', { token })).toMatchObject({ status: 403, body: owners })
  const { body } = await origin.call('GET', '/admin/operators', { token: owner })
  const listed = { name: vic, role: 'viewer', created_at: expect.any(String), revoked_at: null }
  expect(body.operators).toContainEqual(listed)
  expect(JSON.stringify(body)).not.toContain('key')
  expect(await origin.call('DELETE', `/admin/operators/${vic}`, { token: owner })).toMatchObject({ status: 204 })
  await expect.poll(() => origin.call('GET', '/admin/sales', { token })).toMatchObject({ status: 401 })
  const { entries } = (await origin.admin('GET', `/audit?operator=${olga}`)).body as { entries: object[] }
  expect(entries).toMatchObject([
    { action: 'operator revoked', sale: null, before: { name: vic, role: 'viewer' } },
    { action: 'operator added', sale: null, after: { name: vic, role: 'viewer' } },
  ])
})
