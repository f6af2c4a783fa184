/**
 * The edge caches a sale's goods permanently under their version and includes them in the public document. A page
 * never fails because of them.
 */
import { expect, it } from 'vitest'
import { requestsTo, stub } from '../testing/origin.ts'
import { product } from '../testing/simulation.ts'
import { call, TestSale } from '../testing/visitors.ts'

const size = (value: string, available: number) => ({
  ...product(available),
  product_id: `shoe-${value}`,
  variant_of: 'shoe',
  variant: { size: value },
})
const SHOE = { goods_version: 4, products: [{ ...product(0), product_id: 'shoe' }, size('36', 3), size('37', 0)] }
const GOODS = {
  version: 4,
  brand: { shop: 'Halfway' },
  venue: null,
  products: { shoe: { description: 'Runs.', options: [{ name: 'size', values: ['36', '37'] }] } },
}
const json = { headers: { accept: 'application/json' } }

it('serves the goods of the current version for good, and leads there from any other address', async () => {
  const sale = await new TestSale().publish(SHOE)
  const path = `/sales/${sale.name}/goods`
  await stub(`/internal${path}`, 200, GOODS)
  for (const wrong of ['', '?v=3', '?v=04']) {
    const redirect = await call(path + wrong)
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, `${path}?v=4`])
  }
  const many = await Promise.all(Array.from({ length: 20 }, () => call(`${path}?v=4`)))
  for (const one of many) expect(await one.json()).toEqual(GOODS)
  const [first] = many as [Response]
  expect(first.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
  expect((await call(`${path}?v=4`, { headers })).status).toBe(304)
  const { calls, requests } = await requestsTo(`/internal${path}`)
  expect([calls, requests[0]?.query]).toEqual([1, 'v=4'])
})

it('nests variants and goods into the public document', async () => {
  const sale = await new TestSale().publish(SHOE)
  await stub(`/internal/sales/${sale.name}/goods`, 200, GOODS)
  expect(await (await call(`/sales/${sale.name}`, json)).json()).toMatchObject({
    brand: { shop: 'Halfway' },
    products: [
      {
        product_id: 'shoe',
        description: 'Runs.',
        variants: [
          { variant_id: 'shoe-36', options: { size: '36' }, available: 3 },
          { variant_id: 'shoe-37', options: { size: '37' }, available: 0 },
        ],
      },
    ],
  })
})

it('answers without them while they cannot be read, and for a while only once the sale is over', async () => {
  const sale = await new TestSale().publish({ ...SHOE, phase: 'ended' })
  await stub(`/internal/sales/${sale.name}/goods`, 503, {})
  const without = await call(`/sales/${sale.name}`, json)
  expect(await without.json()).toMatchObject({ brand: null, products: [{ variants: [{}, {}] }] })
  expect(without.headers.get('cdn-cache-control')).not.toContain('max-age=300')
  await stub(`/internal/sales/${sale.name}/goods`, 200, GOODS)
  const shown = async () => (await call(`/sales/${sale.name}`, json)).json()
  await expect.poll(shown).toMatchObject({ brand: { shop: 'Halfway' } })
})

it('has no goods of a sale without any', async () => {
  const sale = await new TestSale().publish()
  expect((await call(`/sales/${sale.name}/goods`)).status).toBe(404)
  expect((await requestsTo(`/internal/sales/${sale.name}/goods`)).calls).toBe(0)
})
