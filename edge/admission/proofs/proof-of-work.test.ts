import { runInDurableObject } from 'cloudflare:test'
import { type Challenge, solveChallenge } from 'altcha-lib'
import { expect, it, vi } from 'vitest'
import type { Env } from '../../http/config.ts'
import { MAX_SPENT } from '../../queue/numbers/ticket-shard.ts'
import { stopClock } from '../../testing/clocks.ts'
import { edgeEnv } from '../../testing/origin.ts'
import { call, cookiesOf, knownCookie, proofFor, TestSale } from '../../testing/visitors.ts'
import { deriveKey } from './proof-of-work.ts'

const priced: Env = { ...edgeEnv, POW_DIFFICULTY: '2000' }

async function solved(sale: TestSale, headers: Record<string, string> = {}): Promise<string> {
  return proofFor(await call(`/sales/${sale.name}/challenge`, { headers }, priced))
}

const joinWith = (sale: TestSale, proof: string, headers: Record<string, string> = {}) =>
  sale.join({ 'x-proof-of-work': proof, ...headers }, priced)

it('requires a proof of work only where one is configured', async () => {
  const sale = await new TestSale().publish()
  expect((await call(`/sales/${sale.name}/challenge`)).status).toBe(404)
  const unpaid = await sale.join({}, priced)
  expect(unpaid.status).toBe(401)
  expect(await unpaid.json()).toMatchObject({
    type: '/problems/proof-required',
    kind: 'altcha',
    challenge: `/sales/${sale.name}/challenge`,
  })
  const paid = await joinWith(sale, await solved(sale))
  expect(paid.status).toBe(201)
  // A visitor who has a place needs no new proof to see it.
  const { queue_token, number } = await paid.json<{ queue_token: string; number: number }>()
  expect(await sale.joined({ authorization: `Bearer ${queue_token}` }, priced)).toMatchObject({ number })
})

it('accepts a proof in a form field, as the widget sends it', async () => {
  const sale = await new TestSale().publish()
  const response = await sale.form('/queue', { altcha: await solved(sale) }, { accept: '*/*' }, priced)
  expect(response.status).toBe(201)
})

it('knows a browser that has paid by the cookie that came with the challenge', async () => {
  const sale = await new TestSale().publish()
  const asked = await call(`/sales/${sale.name}/challenge`, {}, priced)
  const proof = await proofFor(asked)
  const headers = { cookie: cookiesOf(asked) }
  const { number } = await (await joinWith(sale, proof, headers)).json<{ number: number }>()
  const again = await joinWith(sale, await solved(sale, headers), headers)
  expect([again.status, await again.json()]).toMatchObject([200, { number }])
})

it('gives one number for one proof, however often and by whomever it is sent', async () => {
  const sale = await new TestSale().publish()
  const proof = await solved(sale)
  const answers = await Promise.all(Array.from({ length: 10 }, () => joinWith(sale, proof)))
  const places = await Promise.all(answers.map((a) => a.json<{ number: number; queue_token: string }>()))
  expect(new Set(places.map((place) => place.number)).size).toBe(1)
  expect((await joinWith(sale, proof, { cookie: knownCookie('somebody-else-entirely') })).status).toBe(401)
  await sale.leave(places[0]?.queue_token ?? '')
  expect((await joinWith(sale, proof)).status).toBe(401)
})

it('gives no second number for a proof, even after other proofs', async () => {
  const sale = await new TestSale().publish()
  const cookie = knownCookie('somebody-with-two-proofs')
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

it('remembers used proofs until they expire, and only a bounded number', async () => {
  const sale = await new TestSale().publish()
  const shard = sale.shard(0)
  const visitor = 'somebody-with-many-proofs'
  const pay = async (paid_with: string) => {
    const [joined = expect.unreachable()] = await shard.joinAll([{ queue: sale.name, visitor, paid_with }])
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
  stopClock()
  vi.setSystemTime(Date.now() + 3_600_000)
  expect(await pay('d')).toBe('joined')
  expect(await spent()).toBe(1)
})

it('refuses a proof that is forged, unsolved, or for another sale', async () => {
  const sale = await new TestSale().publish()
  const other = await new TestSale().publish()
  const proof = await solved(sale)
  const { challenge, solution } = JSON.parse(atob(proof))
  const changed = (parameters: object) => ({ ...challenge, parameters: { ...challenge.parameters, ...parameters } })
  const forged = [
    { challenge, solution: { ...solution, derivedKey: '00'.repeat(32) } },
    { challenge: changed({ keyPrefix: '00' }), solution },
    { challenge: changed({ data: { sale: sale.name, visitor: 'me' } }), solution },
    { challenge: { ...challenge, signature: undefined }, solution },
    {},
    null,
  ]
  for (const payload of forged) expect((await joinWith(sale, btoa(JSON.stringify(payload)))).status).toBe(401)
  for (const junk of ['junk', '', 'x'.repeat(10_000)]) expect((await joinWith(sale, junk)).status).toBe(401)
  expect((await joinWith(other, proof)).status).toBe(401)
})

it('asks for a function that is hard on memory, and verifies a solution without computing it', async () => {
  const sale = await new TestSale().publish()
  const challenge = await (await call(`/sales/${sale.name}/challenge`, {}, priced)).json<Challenge>()
  expect(challenge.parameters).toMatchObject({ algorithm: 'SCRYPT', cost: 512, memoryCost: 8 })
  const solution = await solveChallenge({ challenge, deriveKey })
  expect(solution?.counter).toBeLessThanOrEqual(2_000 / 250)
  expect((await joinWith(sale, btoa(JSON.stringify({ challenge, solution })))).status).toBe(201)
})

it('refuses a proof less difficult than the one asked for by now', async () => {
  const sale = await new TestSale().publish()
  const [spared, spent] = [await solved(sale), await solved(sale)]
  expect((await joinWith(sale, spent)).status).toBe(201)
  const dearer = { ...priced, POW_DIFFICULTY: '5000' }
  expect((await sale.join({ 'x-proof-of-work': spared }, dearer)).status).toBe(401)
})

it('gives a client without cookies a new number for a missed turn, for a proof of work', async () => {
  const sale = await new TestSale().publish()
  const paid = await joinWith(sale, await solved(sale))
  const { queue_token, number } = await paid.json<{ queue_token: string; number: number }>()
  await sale.missed(number)
  const headers = { authorization: `Bearer ${queue_token}` }
  expect((await joinWith(sale, await solved(sale, headers), headers)).status).toBe(201)
})
