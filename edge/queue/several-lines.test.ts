/** A sale with several lines: each a waiting room of its own, and who is in which. */
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import type { Policy } from '../../shared/api/access.ts'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { commitmentHolds, positionOf } from '../../shared/draw.ts'
import { stub } from '../testing/origin.ts'
import { OPEN_TO_ALL } from '../testing/simulation.ts'
import { call, cookiesOf, proofFor, TestSale } from '../testing/visitors.ts'

type Access = Policy['lines'][number]['access']

const [{ access: OPEN } = expect.unreachable()] = OPEN_TO_ALL.lines

/** Members, before the public. */
const policyOf = (members: Partial<Access> = {}, changes: Partial<Policy> = {}): Policy => ({
  ...OPEN_TO_ALL,
  version: crypto.randomUUID(),
  lines: [
    { line: 'members', opens_early_seconds: 0, access: { ...OPEN, ...members } },
    { line: 'public', opens_early_seconds: 0, access: OPEN },
  ],
  ...changes,
})

const inviting = { invitation: 'required' } as const

async function saleOf(policy: Policy, opensInMs = -1_000) {
  const sale = await new TestSale(opensInMs).publish({ policy })
  await sale.publishLine('members', { policy, opensInMs })
  await stub(`/internal/sales/${sale.name}/redeem`, 200, { result: 'redeemed' })
  // Two rooms start slowly on a busy machine.
  for (const line of [undefined, 'members']) await sale.until(({ version }) => version > 0, line)
  return sale
}

/** The cookie of a visitor who has been here before. */
async function secretOf(joined: Response | Promise<Response>): Promise<string> {
  const pairs = cookiesOf(await joined).split('; ')
  return pairs.find((pair) => pair.startsWith('visitor-secret=')) ?? expect.unreachable()
}
const knownVisitor = async () => secretOf((await new TestSale().publish()).join())

const answered = async (response: Response | Promise<Response>) => (await response).json<QueueAnswer>()
const asMember = { invitation: 'SUMMER-24' }

it('draws each line by a seed of its own, from its own numbers', async () => {
  const policy = policyOf(inviting)
  const sale = await saleOf(policy, 60_000)
  const join = (body: object) => answered(sale.joinWith(body))
  const members = await Promise.all([asMember, asMember, asMember].map(join))
  const others = await Promise.all([{}, {}].map(join))
  const numbers = (joined: QueueAnswer[]) => joined.map(({ number }) => number).toSorted()
  expect(members.map(({ line }) => line)).toEqual(['members', 'members', 'members'])
  expect(others.map(({ line }) => line)).toEqual(['public', 'public'])
  expect([numbers(members)[0], numbers(others)[0]]).toEqual([1, 1])
  expect(new Set(numbers(members)).size).toBe(3)
  const [before, own] = await Promise.all([sale.schedule(), sale.schedule('members')])
  expect(own.draw_commitment).not.toBe(before.draw_commitment)
  expect([own.sale, own.line, before.line]).toEqual([sale.name, 'members', undefined])
  await sale.publish({ opensInMs: -1_000 })
  await sale.publishLine('members', { policy })
  await Promise.all([sale.push(), sale.push('members')])
  const isDrawn = ({ draw_seed }: { draw_seed: string | null }) => draw_seed !== null
  const [drawn, publicly] = [await sale.until(isDrawn, 'members'), await sale.until(isDrawn)]
  expect(drawn.draw_seed).not.toBe(publicly.draw_seed)
  expect(commitmentHolds(own.draw_commitment, drawn.draw_seed ?? '')).toBe(true)
  // Each member's place is by the members' draw, among all its numbers: a lease that was lost on a busy machine
  // leaves gaps.
  const draw = { seed: drawn.draw_seed ?? '', size: drawn.pre_queue_size, beacon: null }
  for (const { number, queue_token } of members) {
    const { position_in_queue, now_serving } = await sale.statusOf(queue_token ?? '')
    const position = positionOf(draw, number)
    expect(position_in_queue).toBe(position <= now_serving ? 0 : position - now_serving)
  }
})

it('keeps a schedule of each line apart, and has none of an unknown one', async () => {
  const sale = await saleOf(policyOf())
  const at = (query: string, headers = {}) => call(`/sales/${sale.name}/schedule${query}`, { headers })
  const [publicly, members] = [await at(''), await at('?line=members')]
  const etag = members.headers.get('etag') ?? ''
  expect(etag).not.toBe(publicly.headers.get('etag'))
  expect(members.headers.get('cache-control')).toBe('public, max-age=1')
  expect(await (await at('?line=public')).json()).not.toHaveProperty('line')
  expect([(await at('?line=vip')).status, (await at('?line=a%2Fb')).status]).toEqual([404, 404])
})

it('finds the first line of the list that a newcomer may join', async () => {
  const sale = await saleOf(policyOf(inviting))
  expect(await answered(sale.joinWith(asMember))).toMatchObject({ line: 'members' })
  expect(await answered(sale.join())).toMatchObject({ line: 'public' })
  expect(await answered(sale.joinWith({ line: 'public', ...asMember }))).toMatchObject({ line: 'public' })
  const without = await sale.joinWith({ line: 'members' })
  expect([without.status, await without.json()]).toMatchObject([403, { type: '/problems/invitation-required' }])
  const unknown = await sale.joinWith({ line: 'vip' })
  expect([unknown.status, await unknown.json()]).toMatchObject([422, { errors: [{ field: 'line' }] }])

  const signedIn = await saleOf(policyOf({ sign_in: 'required' }))
  expect(await answered(signedIn.join())).toMatchObject({ line: 'public' })
  expect((await signedIn.joinWith({ line: 'members' })).status).toBe(401)

  const rules = [{ rule: '1', when: { line: 'members', user_agent: 'curl' }, action: 'refuse' as const }]
  const ruled = await saleOf(policyOf({}, { rules }))
  expect(await answered(ruled.join())).toMatchObject({ line: 'members' })
  expect(await answered(ruled.join({ 'user-agent': 'curl/8' }))).toMatchObject({ line: 'public' })
})

it('has no public line where the list has none', async () => {
  const policy = policyOf()
  const sale = await saleOf({ ...policy, lines: policy.lines.slice(0, 1) })
  expect(await answered(sale.join())).toMatchObject({ line: 'members' })
  expect((await sale.joinWith({ line: 'public' })).status).toBe(422)
  expect(await sale.schedule()).toMatchObject({ line: 'members' })
  expect((await call(`/sales/${sale.name}/schedule?line=public`)).status).toBe(404)
})

it('gives nobody a place in two lines', async () => {
  const sale = await saleOf(policyOf(), 60_000)
  const secret = await knownVisitor()
  const first = await sale.joinWith({ line: 'members' }, { cookie: secret })
  const place = await first.clone().json<QueueAnswer>()
  // With the place, and without it: the visitor is known by their secret.
  for (const cookie of [`${cookiesOf(first)}; ${secret}`, secret])
    for (const body of [{ line: 'public' }, { line: 'members' }, {}]) {
      const again = await sale.joinWith(body, { cookie })
      expect([again.status, await again.json()]).toMatchObject([200, { line: 'members', number: place.number }])
    }
  // A visitor keeps the draw number after leaving the lobby too.
  const newcomer = await sale.joinWith({ line: 'members' })
  const { queue_token, number } = await newcomer.clone().json<QueueAnswer & { queue_token: string }>()
  expect((await sale.leave(queue_token)).status).toBe(204)
  const back = await answered(sale.joinWith({ line: 'public' }, { cookie: await secretOf(newcomer) }))
  expect(back).toMatchObject({ line: 'members', number })
})

it('lets who has left a line after the draw join the other one', async () => {
  const sale = await saleOf(policyOf())
  const cookie = await knownVisitor()
  const { queue_token } = await answered(sale.joinWith({ line: 'members' }, { cookie }))
  await sale.until(({ draw_seed }) => draw_seed !== null, 'members')
  expect((await sale.leave(queue_token ?? '')).status).toBe(204)
  expect(await answered(sale.joinWith({ line: 'public' }, { cookie }))).toMatchObject({ line: 'public' })
})

it('names the line on the visitor’s page, and only where there are several', async () => {
  const sale = await saleOf(policyOf(), 60_000)
  const cookie = cookiesOf(await sale.joinWith({ line: 'members' }))
  const page = await (await sale.line({ cookie })).text()
  expect(page).toContain('Your line: members')
  expect(page).toContain('data-line="members"')
  expect(page).toContain(`/sales/${sale.name}/schedule?line=members`)
  const single = await new TestSale(60_000).publish()
  expect(await (await single.line({ cookie: cookiesOf(await single.join()) })).text()).not.toContain('Your line')
})

it('calls by the line’s own rate, and for its own share of the units', async () => {
  const policy = policyOf()
  const sale = await new TestSale().publish({ policy, admission: { rate_per_second: 10, max_inside: null } })
  await sale.publishLine('members', { policy, admission: { rate_per_second: 30, max_inside: null }, share: 0 })
  await sale.until(({ version }) => version > 0, 'members')
  const places = await Promise.all(Array.from({ length: 5 }, () => answered(sale.joinWith({ line: 'members' }))))
  const open = await sale.until(({ draw_seed }) => draw_seed !== null, 'members')
  const publicly = await sale.until(({ draw_seed }) => draw_seed !== null)
  expect([open.rate_per_second, publicly.rate_per_second]).toEqual([30, 10])
  for (let refreshes = 0; refreshes < 3; refreshes++) await sale.push('members')
  // None of the units is for this line at the moment.
  expect((await sale.schedule('members')).ceiling).toBe(0)
  await sale.publishLine('members', { policy, admission: { rate_per_second: 30, max_inside: null }, share: 0.5 })
  const now = () => sale.statusOf(places[0]?.queue_token ?? '')
  await expect.poll(async () => (await now()).status).toBe('ready')
  const { admission_token, line } = await now()
  expect(line).toBe('members')
  expect(decodeJwt(admission_token ?? '')).toMatchObject({ sale: sale.name, line: 'members' })
  const { queue_token } = await answered(sale.joinWith({ line: 'public' }))
  expect(decodeJwt(queue_token ?? '')).not.toHaveProperty('line')
})

it('names the challenge of the line that asks for a proof, and not that of another', async () => {
  const sale = await saleOf(policyOf({ ...inviting, proof_of_work: 5_000 }))
  const cookie = await knownVisitor()
  const refused = await sale.joinWith(asMember, { cookie })
  const { challenge: at } = await refused.json<{ challenge: string }>()
  expect([refused.status, at]).toEqual([401, `/sales/${sale.name}/challenge?line=members`])
  const proofFrom = async (path: string) => proofFor(await call(path, { headers: { cookie } }))
  const cheap = await proofFrom(`/sales/${sale.name}/challenge`)
  expect((await sale.joinWith({ ...asMember, altcha: cheap }, { cookie })).status).toBe(401)
  const altcha = await proofFrom(at)
  expect((await answered(sale.joinWith({ ...asMember, altcha }, { cookie }))).line).toBe('members')
})
it('keeps the places of a line that is taken out of the list, and goes on when it comes back', async () => {
  const policy = policyOf()
  const sale = await new TestSale().publish({ policy })
  const slow = { policy, admission: { rate_per_second: 0.01, max_inside: null } }
  await sale.publishLine('members', slow)
  await sale.until(({ draw_seed }) => draw_seed !== null, 'members')
  for (let i = 0; i < 5; i++) await sale.joinWith({ line: 'members' })
  const { queue_token, number } = await answered(sale.joinWith({ line: 'members' }))
  const now = () => sale.statusOf(queue_token ?? '')
  await stub(`/internal/sales/${sale.name}~members`, 404, {})
  await expect.poll(async () => (await now()).status).toBe('paused')
  expect(await now()).toMatchObject({ line: 'members', number })
  await sale.publishLine('members', slow)
  await expect.poll(async () => (await now()).status).toBe('waiting')
})
