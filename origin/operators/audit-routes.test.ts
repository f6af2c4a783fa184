import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()

interface Entry extends Readonly<Record<'entry' | 'operator' | 'action', string>> {
  readonly before: unknown
  readonly after: unknown
}
async function log(query: string) {
  const { status, body } = await origin.admin('GET', `/audit?${query}`)
  expect(status).toBe(200)
  return body as unknown as { entries: Entry[]; next: string | null }
}
const entries = async (sale: string) => (await log(`sale=${sale}&limit=200`)).entries.reverse()

test('has an entry for every action about a sale: who, what, before and after', async () => {
  const sale = await origin.sale({ total: 5 })
  const { body } = await origin.admin('GET', `/sales/${sale}`)
  const products = (body.products as object[]).map((product) => ({ ...product, total: 6, buffer: 1 }))
  await origin.admin('PUT', `/sales/${sale}`, { ...body, name: 'Other', products })
  const post = (path: string, sent?: unknown) => origin.admin('POST', `/sales/${sale}/${path}`, sent)
  for (const path of ['pause', 'resume', 'open']) await post(path)
  await origin.admin('PATCH', `/sales/${sale}/admission`, { rate_per_second: 7 })
  await post('products/one/restock', { quantity: 2 })
  const added = await post('rules', { when: { country: 'DE' }, action: 'last', note: 'far' })
  const rule = String(added.body.rule)
  await origin.admin('PATCH', `/sales/${sale}/rules/${rule}`, { note: 'near' })
  await origin.admin('DELETE', `/sales/${sale}/rules/${rule}`)
  const codes = await origin.call('PUT', `/admin/sales/${sale}/invitations`, {
    token: ADMIN_TOKEN,
    body: 'code,uses\nABCDEFGH,1\n',
    headers: { 'content-type': 'text/csv' },
  })
  expect(codes.status).toBe(200)
  await post('invitations/links', { count: 2 })
  await origin.admin('PUT', `/sales/${sale}/announcement`, { text: { en: 'Soon' } })
  await origin.admin('PUT', `/sales/${sale}/announcement`, { level: 'warning', text: { en: 'Soon' } })
  await origin.admin('DELETE', `/sales/${sale}/announcement`)
  await post('reconcile')
  await post('reconcile?oversell=cancel_latest')
  const order = String((await origin.checkout(sale)).body.order_id)
  await origin.admin('POST', `/orders/${order}/notes`, { text: 'called' })
  await origin.admin('POST', `/orders/${order}/cancel`)
  await post('end')
  const product = { name: 'One', unit_price_minor: 1000, currency: 'EUR', place: 0 }
  const seen = await entries(sale)
  expect(new Set(seen.map(({ operator }) => operator))).toEqual(new Set(['admin']))
  expect(seen.map(({ action, before, after }) => ({ action, before, after }))).toMatchObject([
    { action: 'created', before: {}, after: { name: 'Test', hold_seconds: 90, products: { one: { total: 5 } } } },
    {
      action: 'changed',
      before: { name: 'Test', products: { one: { ...product, total: 5, buffer: 0 } } },
      after: { name: 'Other', products: { one: { ...product, total: 6, buffer: 1 } } },
    },
    { action: 'paused', before: { paused: false }, after: { paused: true } },
    { action: 'resumed', before: { paused: true }, after: { paused: false } },
    { action: 'opened' },
    { action: 'rate set', before: { rate_per_second: 100 }, after: { rate_per_second: 7 } },
    { action: 'restocked', before: { total: 6 }, after: { total: 8, quantity: 2 } },
    { action: 'rule added', after: { rule, action: 'last', note: 'far' } },
    { action: 'rule changed', before: { note: 'far' }, after: { note: 'near' } },
    { action: 'rule removed', before: { rule, note: 'near' } },
    { action: 'invitations imported', after: { imported: 1, replace: false } },
    { action: 'invitations signed', after: { count: 2 } },
    { action: 'announced', before: null, after: { level: 'info', text: { en: 'Soon' } } },
    { action: 'announced', before: { level: 'info' }, after: { level: 'warning', text: { en: 'Soon' } } },
    { action: 'announcement ended', before: { level: 'warning', text: { en: 'Soon' } }, after: null },
    { action: 'reconciled', after: { oversell: null, findings: [{ product_id: 'one' }] } },
    { action: 'reconciled', after: { oversell: 'cancel_latest' } },
    { action: 'noted' },
    { action: 'cancelled', before: { status: 'reserved' }, after: { status: 'cancelled' } },
    { action: 'ended', before: { ended_at: null }, after: { ended_at: expect.any(String) } },
  ])
  // The entry contains only what changed. The lobby's time is among it, because the sale is sent back as it was read,
  // with that time filled in.
  const changed = ['name', 'pre_queue_opens_at', 'products']
  expect(Object.keys(seen[1]?.before as object).sort()).toEqual(changed)
})

test('is paged from the newest, and filtered by operator and action', async () => {
  const sale = await origin.sale()
  for (const path of ['pause', 'resume', 'pause']) await origin.admin('POST', `/sales/${sale}/${path}`)
  const first = await log(`sale=${sale}&limit=3`)
  expect(first.entries.map(({ action }) => action)).toEqual(['paused', 'resumed', 'paused'])
  const rest = await log(`sale=${sale}&limit=3&after=${first.next}`)
  expect(rest).toMatchObject({ entries: [{ action: 'created' }], next: null })
  expect((await log(`sale=${sale}&action=resumed`)).entries).toHaveLength(1)
  expect((await log(`sale=${sale}&operator=nobody`)).entries).toEqual([])
  for (const wrong of ['limit=0', 'limit=201', 'after=x', 'sale=!'])
    expect(await origin.admin('GET', `/audit?${wrong}`), wrong).toMatchObject({ status: 422 })
})

test('keeps nobody who was blocked by name', async () => {
  const visitor = randomUUID()
  const { body } = await origin.admin('POST', '/blocks', { visitor, note: 'bot' })
  await origin.admin('DELETE', `/blocks/${body.block}`)
  const { entries } = await log('limit=200')
  const about = ({ before, after }: Entry) => ((before ?? after) as { block?: unknown } | null)?.block
  const all = entries.filter((entry) => about(entry) === body.block)
  const block = { block: body.block, by: 'visitor', note: 'bot' }
  expect(all).toMatchObject([
    { action: 'block removed', sale: null, before: block, after: null },
    { action: 'block added', sale: null, before: null, after: block },
  ])
  expect(JSON.stringify(all)).not.toContain(visitor)
})

const CSV = /^entry,at,operator,action,sale,product_id,order_id,before,after\r\n\d+,2.*,admin,paused,/
test.each([
  ['&format=csv', undefined, CSV],
  ['', 'application/x-ndjson', /^\{"entry":"\d+","at":"2.*"operator":"admin","action":"paused"/],
])('is exported whole: %s %s', async (query, accept, start) => {
  const sale = await origin.sale()
  await origin.admin('POST', `/sales/${sale}/pause`)
  const answer = await origin.call('GET', `/admin/audit?sale=${sale}&limit=1${query}`, {
    token: ADMIN_TOKEN,
    headers: accept ? { accept } : {},
  })
  const text = String(answer.body.text)
  expect(text).toMatch(start)
  expect(text).toContain('created')
})

test('logs who read personal data, by which kind of search, once in a while, and never what was typed', async () => {
  const sale = await origin.sale()
  const id = (await origin.checkout(sale)).body.order_id
  const mail = `eve-${sale}@shop.example`
  for (let i = 0; i < 2; i++) await origin.admin('GET', `/orders?sale=${sale}&q=${mail}`)
  for (let i = 0; i < 2; i++) expect(await origin.admin('GET', `/orders/${id}`)).toMatchObject({ status: 200 })
  expect((await origin.admin('GET', `/sales/${sale}/orders?format=csv`)).status).toBe(200)
  const { entries } = (await origin.admin('GET', `/audit?sale=${sale}`)).body as { entries: { action: string }[] }
  expect(entries.slice(0, 3)).toMatchObject([
    { operator: 'admin', action: 'orders exported' },
    { operator: 'admin', action: 'order read', order_id: id },
    { operator: 'admin', action: 'orders searched', after: { by: 'mail' } },
  ])
  expect(entries.filter(({ action }) => action.startsWith('order'))).toHaveLength(3)
  expect(JSON.stringify(entries)).not.toContain(mail)
  const { history } = (await origin.admin('GET', `/orders/${id}`)).body as { history: { what: string }[] }
  expect(history.map(({ what }) => what)).toEqual(['order.reserved'])
})
