/** A signed-in account has one place in every browser, and needs no token of it. */
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { shopEnv, shopSession, signedIn } from '../testing/shop.ts'
import { OPEN_TO_ALL } from '../testing/simulation.ts'
import { call, cookiesOf, TestSale, withShards } from '../testing/visitors.ts'

const BROWSER = { 'sec-fetch-site': 'same-origin' }

/** The two calls that need a place, by a client without its token. */
const status = (sale: TestSale, headers: Record<string, string>, env = shopEnv) => sale.status(null, headers, env)
const leave = (sale: TestSale, headers: Record<string, string>) =>
  call(`/sales/${sale.name}/queue`, { method: 'DELETE', headers }, shopEnv)

const problemOf = async (response: Response) => {
  const { type, detail } = await response.json<{ type: string; detail: string }>()
  return [response.status, type, detail]
}
const NO_PLACE = [401, '/problems/invalid-token', 'You have no place in this sale. Join first.']

it('tells an account its place without a token, and brings the token for the next calls', async () => {
  const sale = await new TestSale().publish()
  const ada = await signedIn('ada')
  const { number } = await sale.joined(ada, shopEnv)
  const found = await (await status(sale, ada)).json<QueueAnswer>()
  expect(found).toMatchObject({ number, queue_token: expect.any(String) })
  expect(decodeJwt(found.queue_token ?? '')).toMatchObject({ sub: 'user:ada', sale: sale.name, num: number })
  const again = await (await sale.status(found.queue_token ?? '', ada, shopEnv)).json<QueueAnswer>()
  expect(again).toMatchObject({ number })
  expect(again).not.toHaveProperty('queue_token')
  expect(await problemOf(await status(sale, await signedIn('grace')))).toEqual(NO_PLACE)
})

it('has one place for an account in two browsers, of which the second has not joined', async () => {
  const sale = await new TestSale().publish()
  const session = { ...BROWSER, cookie: `shop_session=${await shopSession('ada')}` }
  const joined = await sale.join(session, shopEnv)
  const { number } = await joined.json<QueueAnswer>()
  const second = await sale.line(session, shopEnv)
  expect(await second.text()).toContain(`data-number="${number}"`)
  expect(cookiesOf(second)).toContain(`queue-${sale.name}=`)
  const asked = await status(sale, session)
  expect(cookiesOf(asked)).toContain(`queue-${sale.name}=`)
  expect(await asked.json()).toMatchObject({ number })
  expect(await (await sale.line(BROWSER, shopEnv)).text()).not.toContain('data-number')
})

it('gives up the place of an account that leaves without its token', async () => {
  const sale = await new TestSale().publish()
  const ada = await signedIn('ada')
  const { number, queue_token } = await sale.joined(ada, shopEnv)
  expect((await leave(sale, ada)).status).toBe(204)
  expect(await problemOf(await status(sale, ada))).toEqual(NO_PLACE)
  expect(await problemOf(await leave(sale, ada))).toEqual(NO_PLACE)
  // The token is of no use either once its turn has come, and who joins again does so at the end.
  await expect.poll(async () => (await sale.status(queue_token, ada, shopEnv)).status).toBe(401)
  expect((await sale.joined(ada, shopEnv)).number).toBeGreaterThan(number)
})

it('has no place for an account that left the lobby, until it joins again and has its old number', async () => {
  const sale = await new TestSale(600_000).publish()
  const ada = await signedIn('ada')
  const { number } = await sale.joined(ada, shopEnv)
  for (let times = 0; times < 2; times++) {
    expect((await leave(sale, ada)).status).toBe(204)
    expect(await problemOf(await status(sale, ada))).toEqual(NO_PLACE)
    expect((await sale.joined(ada, shopEnv)).number).toBe(number)
    expect(await (await status(sale, ada)).json()).toMatchObject({ number })
  }
})

it('finds the place of an account in the line that it chose', async () => {
  const sale = await new TestSale().publish()
  const [line] = OPEN_TO_ALL.lines
  if (!line) throw new Error('no line')
  const policy = { ...OPEN_TO_ALL, version: 'two lines', lines: [line, { ...line, line: 'members' }] }
  await sale.publish({ policy })
  await sale.publishLine('members', { policy })
  await sale.push()
  const ada = await signedIn('ada')
  await expect
    .poll(async () => {
      const response = await sale.joinWith({ line: 'members' }, ada, shopEnv)
      return response.ok ? response.json<QueueAnswer>() : { line: response.status }
    })
    .toMatchObject({ line: 'members' })
  expect(await (await status(sale, ada)).json()).toMatchObject({ line: 'members', number: expect.any(Number) })
  expect((await leave(sale, ada)).status).toBe(204)
  expect(await problemOf(await status(sale, ada))).toEqual(NO_PLACE)
})

it('keeps the place while it cannot be looked up, and says so', async () => {
  const sale = await new TestSale().publish()
  const ada = await signedIn('ada')
  const { number } = await sale.joined(ada, shopEnv)
  const away = { ...shopEnv, TICKET_SHARD: withShards(() => ({ findAll: () => new Promise(() => {}) })).TICKET_SHARD }
  const response = await status(sale, ada, away)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await problemOf(response)).toEqual([503, '/problems/try-again', 'You keep your place.'])
  expect(await (await status(sale, ada)).json()).toMatchObject({ number })
})

it('says what is wrong with a session, to who asks for a place and to who joins a sale for accounts', async () => {
  const sale = await new TestSale().publish()
  const [line] = OPEN_TO_ALL.lines
  if (!line) throw new Error('no line')
  const lines = [{ ...line, access: { ...line.access, sign_in: 'required' as const } }]
  await sale.publish({ policy: { ...OPEN_TO_ALL, version: 'accounts', lines } })
  await sale.push()
  const faults = [
    [await signedIn('ada', { audience: 'another shop' }), /another audience/],
    [await signedIn('ada', { issuer: 'another shop' }), /another issuer/],
    [await signedIn('ada', { expires: '-1m' }), /has expired/],
    [await signedIn('ada', { expires: null }), /no valid claim exp/],
    [await signedIn('a\nb'), /not plain text/],
    [{ 'x-shop-authorization': 'Bearer junk' }, /no JWT that its keys have signed/],
  ] as const
  const sign_in_url = expect.stringMatching(/^https:\/\/shop\.test\/sign-in/)
  for (const [headers, detail] of faults) {
    const fault = { detail: expect.stringMatching(detail), sign_in_url }
    expect(await (await status(sale, headers)).json()).toMatchObject({ type: '/problems/signed-out', ...fault })
    expect(await (await leave(sale, headers)).json()).toMatchObject({ type: '/problems/signed-out', ...fault })
    const joined = await sale.join(headers, shopEnv)
    expect(await joined.json()).toMatchObject({ type: '/problems/sign-in-required', ...fault })
  }
  expect(await (await status(sale, {})).json()).toMatchObject({ type: '/problems/invalid-token' })
})

it('refuses the token of another sale and unknown fields, whoever is signed in', async () => {
  const [sale, other] = [await new TestSale().publish(), await new TestSale().publish()]
  const ada = await signedIn('ada')
  await sale.joined(ada, shopEnv)
  const { queue_token } = await other.joined(ada, shopEnv)
  expect(await problemOf(await sale.status(queue_token, ada, shopEnv))).toEqual([
    401,
    '/problems/invalid-token',
    'This is the token of another sale.',
  ])
  const joined = await sale.joinWith({ account: 'grace' }, ada, shopEnv)
  expect([joined.status, await joined.json()]).toMatchObject([422, { errors: [{ field: 'account' }] }])
})
