/** Rate limits, and the price of entry. */
import { runInDurableObject } from 'cloudflare:test'
import { type Challenge, solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/web/sha'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Env } from '../config.ts'
import { MAX_SPENT } from '../queue/ticket-shard.ts'
import { call, cookiesOf, edgeEnv, requestsTo, TestSale } from '../testing/visitors.ts'
import { addressKey, Limiter } from './rate-limits.ts'

it('limits joins and status per address', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '5/60', STATUS_PER_ADDRESS: '3/60' }
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  const from = { 'cf-connecting-ip': '192.0.2.1' }
  const join = (headers: Record<string, string>) =>
    call(`/sales/${sale.name}/queue`, { method: 'POST', headers }, env)
  const status = (headers: Record<string, string>) =>
    call(
      `/sales/${sale.name}/queue/status`,
      { headers: { authorization: `Bearer ${queue_token}`, ...headers } },
      env,
    )
  for (let i = 0; i < 5; i++) expect((await join(from)).status).toBe(201)
  const refused = await join(from)
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ type: '/problems/too-many-requests' })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await join({ 'cf-connecting-ip': '192.0.2.2' })).status).toBe(201)
  for (let i = 0; i < 3; i++) expect((await status(from)).status).toBe(200)
  expect((await status(from)).status).toBe(429)
})

it('counts those who come without an address as one', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '5/60' }
  const sale = await new TestSale().publish()
  const join = (headers: Record<string, string> = {}) =>
    call(`/sales/${sale.name}/queue`, { method: 'POST', headers }, env)
  for (let i = 0; i < 5; i++) expect((await join()).status).toBe(201)
  expect((await join()).status).toBe(429)
  expect((await join({ 'cf-connecting-ip': '192.0.2.3' })).status).toBe(201)
})

it('limits joins and status per visitor', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_VISITOR: '2/60', STATUS_PER_VISITOR: '3/60' }
  const sale = await new TestSale().publish()
  const headers = { cookie: 'visitor-secret=somebody-who-hammers' }
  const join = () => call(`/sales/${sale.name}/queue`, { method: 'POST', headers }, env)
  const first = await join()
  expect(first.status).toBe(201)
  const { queue_token } = await first.json<{ queue_token: string }>()
  expect([(await join()).status, (await join()).status]).toEqual([200, 429])
  const authorization = `Bearer ${queue_token}`
  const status = () => call(`/sales/${sale.name}/queue/status`, { headers: { authorization } }, env)
  for (let i = 0; i < 3; i++) expect((await status()).status).toBe(200)
  expect((await status()).status).toBe(429)
})

it('limits leaving as it does joining, and what an address may ask of orders as its questions for a place', async () => {
  const env: Env = {
    ...edgeEnv,
    JOINS_PER_ADDRESS: '3/60',
    JOINS_PER_VISITOR: '2/60',
    STATUS_PER_ADDRESS: '3/60',
  }
  const sale = await new TestSale().publish()
  const statuses = async (path: string, token: string, method: string) => {
    const headers = { authorization: `Bearer ${token}`, 'cf-connecting-ip': '192.0.2.4' }
    return (await call(path, { method, headers }, env)).status
  }
  const [one, other] = [await sale.joined(), await sale.joined()]
  const left = []
  for (const { queue_token } of [one, one, one, other])
    left.push(await statuses(`/sales/${sale.name}/queue`, queue_token, 'DELETE'))
  expect(left).toEqual([204, 204, 429, 429])
  const order = crypto.randomUUID()
  const [path, page] = [`/orders/${order}`, `/sales/${sale.name}/order/${order}`]
  const token = `e30.e30.${'A'.repeat(43)}`
  const orders = []
  for (let i = 0; i < 4; i++) orders.push(await statuses(path, token, 'GET'))
  orders.push(await statuses(page, token, 'GET'), await statuses(`${page}/cancel`, token, 'POST'))
  expect(orders).toEqual([404, 404, 404, 429, 429, 429])
  expect((await requestsTo(path)).calls).toBe(3)
})

it('lets through, in any period, no more than a burst and what the rate adds', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200, size: 'max' }),
      (calls, seconds, gaps) => {
        const limiter = new Limiter()
        let nowMs = 1_000_000
        const passed: number[] = []
        for (const gap of gaps) {
          nowMs += gap
          if (limiter.take('one', { calls, seconds }, nowMs) === 0) passed.push(nowMs)
        }
        for (const [i, from] of passed.entries()) {
          const within = passed.filter((at) => at >= from && at <= from + seconds * 1000).length
          expect(within).toBeLessThanOrEqual(2 * calls + 1)
          if (i < calls) expect(passed.length).toBeGreaterThanOrEqual(Math.min(calls, gaps.length))
        }
      },
    ),
  )
})

it('counts a subscriber’s whole IPv6 network as one address', () => {
  expect(addressKey('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
  expect(addressKey('2001:db8:1:2::1')).toBe('2001:db8:1:2')
  expect(addressKey('2001:db8::1')).toBe('2001:db8:0:0')
  expect(addressKey('::1')).toBe('0:0:0:0')
  expect(addressKey('192.0.2.1')).toBe('192.0.2.1')
  expect(addressKey('::ffff:192.0.2.1')).toBe('192.0.2.1')
})

const priced: Env = { ...edgeEnv, POW_DIFFICULTY: '2000' }

async function solved(sale: TestSale, headers: Record<string, string> = {}): Promise<string> {
  const response = await call(`/sales/${sale.name}/challenge`, { headers }, priced)
  expect(response.status).toBe(200)
  const challenge = await response.json<Challenge>()
  const solution = await solveChallenge({ challenge, deriveKey })
  return btoa(JSON.stringify({ challenge, solution }))
}

const joinWith = (sale: TestSale, proof: string, headers: Record<string, string> = {}) =>
  call(
    `/sales/${sale.name}/queue`,
    { method: 'POST', headers: { 'x-proof-of-work': proof, ...headers } },
    priced,
  )

it('asks for a proof of work where one is configured, and nowhere else', async () => {
  const sale = await new TestSale().publish()
  expect((await call(`/sales/${sale.name}/challenge`)).status).toBe(404)
  const unpaid = await call(`/sales/${sale.name}/queue`, { method: 'POST' }, priced)
  expect(unpaid.status).toBe(401)
  expect(await unpaid.json()).toMatchObject({
    type: '/problems/proof-of-work-required',
    challenge: `/sales/${sale.name}/challenge`,
  })
  const paid = await joinWith(sale, await solved(sale))
  expect(paid.status).toBe(201)
  // Whoever has a place need not pay again to be told so.
  const { queue_token, number } = await paid.json<{ queue_token: string; number: number }>()
  const headers = { authorization: `Bearer ${queue_token}` }
  const again = await call(`/sales/${sale.name}/queue`, { method: 'POST', headers }, priced)
  expect(await again.json()).toMatchObject({ number })
})

it('takes a proof sent by form, as the widget does', async () => {
  const sale = await new TestSale().publish()
  const body = new URLSearchParams({ altcha: await solved(sale) }).toString()
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
  }
  const response = await call(`/sales/${sale.name}/queue`, { method: 'POST', headers, body }, priced)
  expect(response.status).toBe(201)
})

it('knows a browser again that has paid: by the cookie that came with the challenge', async () => {
  const sale = await new TestSale().publish()
  const asked = await call(`/sales/${sale.name}/challenge`, {}, priced)
  const challenge = await asked.json<Challenge>()
  const proof = btoa(JSON.stringify({ challenge, solution: await solveChallenge({ challenge, deriveKey }) }))
  const headers = { cookie: cookiesOf(asked) }
  const { number } = await (await joinWith(sale, proof, headers)).json<{ number: number }>()
  const again = await joinWith(sale, await solved(sale, headers), headers)
  expect(again.status).toBe(200)
  expect(await again.json()).toMatchObject({ number })
})

it('gives one number for one proof, however often and for whomever it is sent', async () => {
  const sale = await new TestSale().publish()
  const proof = await solved(sale)
  const answers = await Promise.all(Array.from({ length: 10 }, () => joinWith(sale, proof)))
  const places = await Promise.all(answers.map((a) => a.json<{ number: number; queue_token: string }>()))
  expect(new Set(places.map((place) => place.number)).size).toBe(1)
  expect((await joinWith(sale, proof, { cookie: 'visitor-secret=somebody-else-entirely' })).status).toBe(401)
  await sale.leave(places[0]?.queue_token ?? '')
  expect((await joinWith(sale, proof)).status).toBe(401)
})

it('gives no second number for a proof, whatever was paid with in between', async () => {
  const sale = await new TestSale().publish()
  const cookie = 'visitor-secret=somebody-with-two-proofs'
  const [first, second] = [await solved(sale, { cookie }), await solved(sale, { cookie })]
  const joinAndLeave = async (proof: string) => {
    const joined = await joinWith(sale, proof, { cookie })
    if (joined.status === 201) await sale.leave((await joined.json<{ queue_token: string }>()).queue_token)
    return joined.status
  }
  const statuses = []
  for (const proof of [first, second, first, second, first]) statuses.push(await joinAndLeave(proof))
  expect(statuses).toEqual([201, 201, 401, 401, 401])
})

it('remembers what was paid with for as long as it is good, and only so much of it', async () => {
  const sale = await new TestSale().publish()
  const shard = sale.shard(0)
  const visitor = 'somebody-with-many-proofs'
  const pay = async (paid_with: string) => {
    const joined = await shard.join({ sale: sale.name, visitor, paid_with })
    await shard.leave({ visitor })
    return joined.joined ? 'joined' : joined.reason
  }
  const spent = () =>
    runInDurableObject(shard, (_, { storage }) => storage.sql.exec('select * from spent').toArray().length)
  for (const payment of ['a', 'b', 'c']) expect(await pay(payment)).toBe('joined')
  expect(await pay('a')).toBe('paid-already')
  expect(await spent()).toBe(2)
  await runInDurableObject(shard, (_, { storage }) =>
    storage.sql.exec(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?)
      insert into spent select 'another ' || i, ? from n`,
      MAX_SPENT - 2,
      Date.now() + 60_000,
    ),
  )
  expect(await pay('d')).toBe('try-again')
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  vi.setSystemTime(Date.now() + 3_600_000)
  expect(await pay('d')).toBe('joined')
  expect(await spent()).toBe(1)
})

it('refuses a proof that is forged, for another sale, or not worked for', async () => {
  const sale = await new TestSale().publish()
  const other = await new TestSale().publish()
  const proof = await solved(sale)
  const { challenge, solution } = JSON.parse(atob(proof))
  const forged = [
    { challenge, solution: { ...solution, derivedKey: '00'.repeat(32) } },
    {
      challenge: { ...challenge, parameters: { ...challenge.parameters, keyPrefix: '00' } },
      solution,
    },
    { challenge: { ...challenge, signature: undefined }, solution },
    {
      challenge: {
        ...challenge,
        parameters: { ...challenge.parameters, data: { sale: sale.name, visitor: 'me' } },
      },
      solution,
    },
    {},
    null,
  ]
  for (const payload of forged) expect((await joinWith(sale, btoa(JSON.stringify(payload)))).status).toBe(401)
  for (const junk of ['junk', '', 'x'.repeat(10_000)]) expect((await joinWith(sale, junk)).status).toBe(401)
  expect((await joinWith(other, proof)).status).toBe(401)
})

it('gives who keeps no cookies a new number instead of one whose turn has passed, for a proof of work', async () => {
  const sale = await new TestSale().publish()
  const paid = await joinWith(sale, await solved(sale))
  const { queue_token, number } = await paid.json<{ queue_token: string; number: number }>()
  await sale.until((schedule) => schedule.missed_through >= number, 8_000)
  const headers = { authorization: `Bearer ${queue_token}` }
  expect((await joinWith(sale, await solved(sale, headers), headers)).status).toBe(201)
}, 10_000)
