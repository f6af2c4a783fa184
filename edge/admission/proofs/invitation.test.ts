/**
 * The Worker handles invitations: to whom they belong when a join fails, and how the page shows a link and a mistyped
 * code.
 */
import { expect, it } from 'vitest'
import type { Env } from '../../http/config.ts'
import type { TicketShard } from '../../queue/numbers/ticket-shard.ts'
import type { SnapshotRequest } from '../../queue/rpc.ts'
import { stopClock } from '../../testing/clocks.ts'
import { edgeEnv, requestsTo, stub } from '../../testing/origin.ts'
import { OPEN_TO_ALL } from '../../testing/simulation.ts'
import { call, cookiesOf, proofFor, TestSale, withShards } from '../../testing/visitors.ts'

const access = { sign_in: 'optional', invitation: 'required', proof_of_work: 'off', turnstile: false } as const
const BY_INVITATION = { ...OPEN_TO_ALL, version: '1', lines: [{ line: 'public', opens_early_seconds: 0, access }] }
const priced = { ...edgeEnv, POW_DIFFICULTY: '500' }
/** The shards know the sale but give no numbers. */
const broken = withShards((name) => {
  const shard = edgeEnv.TICKET_SHARD.getByName(name) as DurableObjectStub<TicketShard>
  return {
    poll: (request: SnapshotRequest) => shard.poll(request),
    take: () => Promise.reject(new Error('no numbers')),
  }
})

const invited = (opensInMs = -1_000) => new TestSale(opensInMs).publish({ policy: BY_INVITATION })
const redeemPath = (sale: TestSale) => `/internal/sales/${sale.name}/redeem`
const result = (sale: TestSale, result: string) => stub(redeemPath(sale), 200, { result })
const JSON_CLIENT = { accept: '*/*' }

async function redeemedFor(sale: TestSale): Promise<string[]> {
  const { requests } = await requestsTo(redeemPath(sale))
  return requests.map(({ body }) => JSON.parse(body).visitor)
}

it('knows a visitor again whose join failed after their invitation was used', async () => {
  const sale = await invited()
  await result(sale, 'redeemed')
  const failed = await sale.form('/queue', { invitation: 'SUMMER-24' }, JSON_CLIENT, broken)
  expect(failed.status).toBe(503)
  const counted = async () => {
    await call(`/sales/${sale.name}/schedule`)
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    return requests.map(({ query }) => new URLSearchParams(query).get('counts')).join()
  }
  await expect.poll(counted).toContain('"refusals":{"try-again":1}')
  const cookie = cookiesOf(failed)
  expect(cookie).toMatch(/^visitor-secret=/)
  expect((await sale.form('/queue', { invitation: 'SUMMER-24' }, { ...JSON_CLIENT, cookie })).status).toBe(201)
  const [first, second] = await redeemedFor(sale)
  expect(second).toBe(first)
})

it('uses an invitation for the visitor that the proof is made out to, and none before the proof', async () => {
  const sale = await invited()
  await result(sale, 'redeemed')
  const join = (fields: Record<string, string>) => sale.form('/queue', fields, JSON_CLIENT, priced)
  expect(await (await join({})).json()).toMatchObject({ type: '/problems/invitation-required', reason: 'none' })
  expect((await join({ invitation: 'SUMMER-24' })).status).toBe(401)
  expect(await redeemedFor(sale)).toEqual([])
  const altcha = await proofFor(await call(`/sales/${sale.name}/challenge`, {}, priced))
  const numbers = []
  for (const _ of [1, 2])
    numbers.push((await (await join({ invitation: 'SUMMER-24', altcha })).json<{ number: number }>()).number)
  expect(numbers[1]).toBe(numbers[0])
  expect(new Set(await redeemedFor(sale)).size).toBe(1)
})

it('refuses an address that guesses, and not one that many invited people share', async () => {
  const env: Env = { ...edgeEnv, ENVIRONMENT: 'production', PAYMENT_PAGE: '/pay/{order}', JOINS_PER_ADDRESS: 'off' }
  const sale = await invited()
  const join = async (address: string) => {
    const headers = { ...JSON_CLIENT, 'cf-connecting-ip': address }
    return (await sale.form('/queue', { invitation: 'SUMMER-24' }, headers, env)).status
  }
  // The clock is stopped, so that all calls are in the same second.
  stopClock()
  await result(sale, 'redeemed')
  for (let i = 0; i < 21; i++) expect(await join('192.0.2.1')).toBe(201)
  await result(sale, 'used_up')
  for (let i = 0; i < 21; i++) expect(await join('192.0.2.1')).toBe(403)
  await stub(redeemPath(sale), 200, { result: 'void' })
  for (let i = 0; i < 21; i++) expect(await join('192.0.2.1')).toBe(403)
  await result(sale, 'unknown')
  for (let i = 0; i < 20; i++) expect(await join('192.0.2.1')).toBe(403)
  await result(sale, 'redeemed')
  expect([await join('192.0.2.1'), await join('192.0.2.2')]).toEqual([429, 201])
})

it('fills the code of a link in, on a page that no cache keeps', async () => {
  const sale = await invited()
  const opened = async (query: string, headers = {}) => {
    const response = await call(`/sales/${sale.name}${query}`, { headers: { accept: 'text/html', ...headers } })
    const page = await response.text()
    return { status: response.status, kept: response.headers.get('cache-control'), page, codes: codesIn(page) }
  }
  expect(await opened('?invitation=SUMMER-24')).toMatchObject({ kept: 'no-store', codes: ['SUMMER-24', 'SUMMER-24'] })
  const plain = await opened('')
  expect(plain).toMatchObject({ status: 200, kept: 'public, max-age=1', codes: [] })
  expect(plain.page).toContain('This sale is for invited people')
  for (const query of [
    '?invitation=',
    '?invitation=a',
    '?invitation=a%20b',
    `?invitation=${'a'.repeat(1_001)}`,
    '?x=1',
  ])
    expect(await opened(query), query).toMatchObject({ kept: 'public, max-age=1', codes: [] })
  const evil = await opened(`?invitation=${encodeURIComponent('"><script>')}`)
  expect(evil).toMatchObject({ status: 200, kept: 'no-store' })
  expect(evil.page).not.toContain('"><script>')
  expect(await opened('?invitation=SUMMER-24', { accept: 'application/json' })).toMatchObject({
    kept: 'public, max-age=1',
  })

  const forAll = await new TestSale().publish()
  const response = await call(`/sales/${forAll.name}?invitation=SUMMER-24`, { headers: { accept: 'text/html' } })
  expect(response.headers.get('cache-control')).toBe('public, max-age=1')
  expect(await response.text()).not.toContain('SUMMER-24')
})

it.each([-1_000, 60_000])(
  'asks again for a code that is not good, in a sale that opens in %i ms',
  async (opensInMs) => {
    const sale = await invited(opensInMs)
    const scripted = { 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' }
    for (const headers of [{}, scripted])
      for (const [answer, text] of [
        ['unknown', 'Diese Einladung gibt es nicht'],
        ['used_up', 'haben schon so viele benutzt'],
      ] as const) {
        await result(sale, answer)
        const sent = { invitation: 'SUMMER-42' }
        const response = await sale.form('/queue', sent, { 'accept-language': 'de', ...headers })
        expect([response.status, response.headers.get('cache-control')]).toEqual([403, 'no-store'])
        const page = await response.text()
        expect(page).toContain(text)
        expect(codesIn(page)).toEqual(['SUMMER-42', 'SUMMER-42'])
        expect(page).toMatch(/aria-invalid="true" aria-describedby="invitation-fault-/)
        // A page with a form does not reload while a visitor types.
        expect(page).not.toContain('http-equiv="refresh"')
      }
    await stub(redeemPath(sale), 200, { result: 'void' })
    const voided = await sale.form('/queue', { invitation: 'SUMMER-42' }, { 'accept-language': 'de' })
    expect(await voided.text()).toContain('Diese Einladung gilt nicht mehr')
    const spaced = await sale.form('/queue', { invitation: 'two words' })
    expect(spaced.status).toBe(422)
    const again = await spaced.text()
    expect(again).toContain('There is no such invitation')
    expect(codesIn(again)).toEqual(['two words', 'two words'])
    expect(await (await sale.form('/queue', {})).text()).toContain('Please enter the code')
  },
)

const codesIn = (page: string) =>
  [...page.matchAll(/<input name="invitation"[^>]* value="([^"]*)"/g)].map(([, code]) => code)
