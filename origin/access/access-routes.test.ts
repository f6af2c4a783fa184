import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()

const RULE = { when: { address: '192.0.2.0/24' }, action: 'refuse', note: 'a hosting company' }

async function policy(sale: string, version = '') {
  const answer = await origin.call('GET', `/internal/sales/${sale}?policy=${version}`, { token: origin.edgeToken })
  return answer.body.policy as { version: string; rules: object[]; blocks: object[]; lines: object[] } | null
}

test('tells the edge what a sale asks of its visitors, and only what is new', async () => {
  const asked = { sign_in: 'required', proof_of_work: 2000 }
  const lines = [
    { line: 'members', name: { en: 'Club members' }, weight: 3, opens_early_seconds: 60 },
    { line: 'public', access: {} },
  ]
  const sale = await origin.sale({ access: asked, lines })
  const told = await policy(sale)
  const open = { sign_in: 'optional', invitation: 'off', proof_of_work: 'off', turnstile: false }
  expect(told?.lines).toEqual([
    { line: 'members', name: { en: 'Club members' }, opens_early_seconds: 60, access: { ...open, ...asked } },
    { line: 'public', opens_early_seconds: 0, access: open },
  ])
  expect(await policy(sale, told?.version)).toBeNull()
})

test('fixes the number of ticket shards when the sale is created', async () => {
  const shards = async (sale: string) =>
    (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.ticket_shards
  const sale = await origin.sale({ expected_visitors: 500_000 })
  expect(await shards(sale)).toBe(50)
  const { body } = await origin.admin('GET', `/sales/${sale}`)
  await origin.admin('PUT', `/sales/${sale}`, { ...body, expected_visitors: 10 })
  expect(await shards(sale)).toBe(50)
  expect(await shards(await origin.sale())).toBeNull()
})

test('adds, changes and removes rules, in their order', async () => {
  const sale = await origin.sale()
  const rules = (method: string, path = '', body?: object) => origin.admin(method, `/sales/${sale}/rules${path}`, body)
  const added = await rules('POST', '', RULE)
  expect(added).toMatchObject({ status: 201, body: { ...RULE, met: 0 } })
  await rules('POST', '', { when: { country: 'de', claim: { name: 'tier', value: 'gold' } }, action: 'allow' })
  const { rule } = added.body
  const changed = await rules('PATCH', `/${rule}`, { action: 'prove' })
  expect(changed.body).toMatchObject({ ...RULE, action: 'prove' })
  expect((await policy(sale))?.rules).toMatchObject([
    { rule, action: 'prove' },
    { when: { country: 'DE', claim: { name: 'tier', value: 'gold' } }, action: 'allow' },
  ])
  for (const wrong of [{ when: {} }, { action: 'shoot' }, { when: { adress: '::1' } }])
    expect(await rules('POST', '', { ...RULE, ...wrong })).toMatchObject({ status: 422 })
  expect((await rules('DELETE', `/${rule}`)).status).toBe(204)
  expect((await rules('DELETE', `/${rule}`)).status).toBe(404)
  expect((await rules('PATCH', '/nonsense', {})).status).toBe(404)
  expect((await rules('GET')).body.rules).toMatchObject([{ action: 'allow' }])
})

test('blocks a visitor, an account or an address in all sales, until unblocked', async () => {
  const sale = await origin.sale()
  const block = (method: string, path = '', body?: object) => origin.admin(method, `/blocks${path}`, body)
  const account = randomUUID()
  const { status, body } = await block('POST', '', { account, note: 'resold her tickets' })
  expect(status).toBe(201)
  expect((await policy(sale))?.blocks).toContainEqual({ account })
  const blocks = (await block('GET')).body.blocks
  expect(blocks).toContainEqual(expect.objectContaining({ account, note: 'resold her tickets' }))
  expect(await block('POST', '', { account, visitor: 'eve' })).toMatchObject({ status: 422 })
  expect((await block('DELETE', `/${body.block}`)).status).toBe(204)
  expect((await policy(sale))?.blocks).not.toContainEqual({ account })
})

const checkout = async (sale: string, visitor: string, body = {}) =>
  origin.checkout(sale, { token: await origin.token(sale, visitor), body })

test('gives back what a blocked visitor holds, refuses them everywhere, and writes it down', async () => {
  const sale = await origin.sale({ limit_per_visitor: 2 })
  const account = randomUUID()
  const held = await checkout(sale, `user:${account}`)
  const other = await checkout(sale, 'ada')
  const { status, body } = await origin.admin('POST', '/blocks', { account })
  expect(status).toBe(201)
  expect(await origin.stock(sale)).toMatchObject({ held: 1, available: 9 })
  const { body: findings } = await origin.admin('GET', `/sales/${sale}/findings`)
  const change = { actor: 'admin', action: 'blocked', order_id: held.body.order_id }
  expect(findings.changes).toMatchObject([change])
  const read = ({ body: { order_id, order_token = '' } }: typeof held) =>
    origin.call('GET', `/orders/${order_id}`, { token: order_token })
  const refused = { status: 403, body: { type: '/problems/refused' } }
  expect(await read(held)).toMatchObject(refused)
  expect(await checkout(sale, `user:${account}`)).toMatchObject(refused)
  expect(await read(other)).toMatchObject({ status: 200, body: { status: 'reserved' } })
  await origin.admin('DELETE', `/blocks/${body.block}`)
  expect(await checkout(sale, `user:${account}`)).toMatchObject({ status: 201 })
})

test('blocks a visitor by an order of theirs, and lets one that is being paid finish', async () => {
  const sale = await origin.sale()
  const visitor = randomUUID()
  const { body: order } = await checkout(sale, visitor, { payment_method: 'pm_slow' })
  const status = async () => {
    const [row] = await origin.sql()`select status from orders where order_id = ${order.order_id ?? null}`
    return row?.status
  }
  await expect.poll(status).toBe('paying')
  const block = await origin.admin('POST', '/blocks', { order: order.order_id })
  expect(block).toMatchObject({ status: 201, body: { visitor } })
  await expect.poll(status).toMatch(/confirmed|fulfilled/)
  expect(await origin.admin('POST', '/blocks', { order: crypto.randomUUID() })).toMatchObject({ status: 404 })
  await origin.admin('DELETE', `/blocks/${block.body.block}`)
})

test('refuses text that the ledger cannot hold', async () => {
  const sale = await origin.sale()
  const refused = { status: 400, body: { type: '/problems/invalid-request' } }
  expect(await origin.admin('DELETE', '/blocks/%00')).toMatchObject(refused)
  expect(await origin.admin('POST', '/blocks', { visitor: 'a\0b' })).toMatchObject({ status: 422 })
  const rule = { when: { user_agent: 'a\0b' }, action: 'refuse' }
  expect(await origin.admin('POST', `/sales/${sale}/rules`, rule)).toMatchObject({ status: 422 })
})
