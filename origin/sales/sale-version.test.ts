/** If two operators change one sale, neither overwrites the other's change unnoticed. */
import { expect, test } from 'vitest'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()

async function read(sale: string) {
  const { headers, body } = await origin.call('GET', `/admin/sales/${sale}`, { token: ADMIN_TOKEN })
  return { etag: String(headers.get('etag')), body: body as object }
}
const put = (sale: string, etag: string | null, body: object) =>
  origin.call('PUT', `/admin/sales/${sale}`, {
    token: ADMIN_TOKEN,
    ...(etag !== null && { headers: { 'if-match': etag } }),
    body,
  })

test.each([
  ['a restock', 'products', 'POST', 'products/one/restock', { quantity: 5 }],
  ['another rate', 'admission', 'PATCH', 'admission', { rate_per_second: 7 }],
  ['the opening', 'opens_at', 'POST', 'open', {}],
] as const)('%s is not undone by a PUT of the sale as it was read before', async (_, field, method, path, change) => {
  const sale = await origin.sale({ opens_at: '2090-01-01T00:00:00Z' })
  const { etag, body } = await read(sale)
  expect(await origin.admin(method, `/sales/${sale}/${path}`, change)).toMatchObject({ status: 200 })
  const after = await read(sale)
  const refusal = { type: '/problems/changed-meanwhile', changed: [field], by: 'admin', at: expect.any(String) }
  expect(await put(sale, etag, { ...body, name: 'Mine' })).toMatchObject({ status: 412, body: refusal })
  expect((await read(sale)).etag).toBe(after.etag)
  const again = await put(sale, after.etag, { ...after.body, name: 'Mine' })
  expect([again.status, again.headers.get('etag')]).toEqual([200, (await read(sale)).etag])
})

test('of many at once one is written, and what is bought meanwhile is no change', async () => {
  const sale = await origin.sale({ venue: 'The Pier', brand: { shop: 'Tide' }, total: 50 })
  const { etag, body } = await read(sale)
  expect((await origin.checkout(sale)).status).toBe(201)
  const names = Array.from({ length: 6 }, (_, i) => `Name ${i}`)
  const answers = await Promise.all(names.map((name) => put(sale, etag, { ...body, name })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(5).fill(412)])
  for (const { body } of answers.filter(({ status }) => status === 412)) expect(body.changed).toEqual(['name'])
  // A PUT without If-Match overwrites the sale, whichever version was read.
  expect((await put(sale, null, { ...body, name: 'Last' })).status).toBe(200)
  const all = await put(sale, '"foreign"', body)
  expect([all.status, all.body.changed]).toEqual([412, expect.arrayContaining(['name', 'products', 'event'])])
  expect((await put('no-such-sale', etag, body)).status).toBe(404)
})
