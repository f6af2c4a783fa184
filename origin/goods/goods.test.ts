/**
 * An operator reads the goods of a sale as they wrote them and can send them back. The edge reads the goods by their
 * version.
 */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sameName, storedText, textFault } from '../../shared/lib/text.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { setPrice } from '../sales/sale-queries.ts'

const origin = useOrigin()
const read = async (sale: string) => (await origin.admin('GET', `/sales/${sale}`)).body as Record<string, unknown>
const internal = (path: string) => origin.call('GET', `/internal${path}`, { token: origin.edgeToken })

const SHOE = {
  product_id: 'shoe',
  name: 'Aurora One',
  names: { de: 'Aurora Eins' },
  subtitle: { en: 'First edition' },
  description: { en: '**Light**', ar: 'خفيف' },
  options: [{ name: 'size', values: ['36', '37.5'] }],
  unit_price_minor: 18_900,
  currency: 'EUR',
  total: 0,
  limit: 2,
  weight_grams: 900,
  terms: 'No return.',
  tags: ['shoe'],
  variants: [
    { variant_id: 'shoe-36', options: { size: '36' }, total: 5, sku: 'A1-36' },
    { variant_id: 'shoe-375', options: { size: '37.5' }, unit_price_minor: 19_900, total: 3, buffer: 1 },
  ],
}

test('nests variants into their product, and keeps what the pages of a sale show', async () => {
  const time_zone = 'Asia/Tokyo'
  const event = { starts_at: '2026-12-01T19:00:00+09:00', ends_at: null }
  const about = { names: { de: 'Nachtschwimmen' }, event: { ...event, time_zone } }
  const shown = { ...about, brand: { shop: 'Halfway', accent: '#00674b' }, venue: 'Shop' }
  const sale = await origin.sale({ products: [SHOE], ...shown, time_zone, event })
  const { products, ...rest } = await read(sale)
  expect(rest).toMatchObject({ ...shown, goods_version: 1 })
  const [one, other] = SHOE.variants
  const none = { held: 0, sold: 0 }
  expect(products).toEqual([
    {
      ...SHOE,
      ...none,
      ...{ buffer: 0, available: 0, section_type: null, has_terms: true },
      variants: [
        { ...one, ...none, unit_price_minor: 18_900, buffer: 0, available: 5 },
        { ...other, ...none, available: 2 },
      ],
    },
  ])
  // The edge can read the current version only.
  const goods = (version: number, of = sale) => internal(`/sales/${of}/goods?v=${version}`)
  const { names, subtitle, description, options, terms, tags } = SHOE
  expect(await goods(1)).toMatchObject({ status: 200 })
  expect((await goods(1)).body).toEqual({
    version: 1,
    ...shown,
    products: { shoe: { names, subtitle, description, options, terms, tags } },
  })
  expect((await goods(2)).status).toBe(404)
  await origin.admin('PUT', `/sales/${sale}`, { ...(await read(sale)), venue: 'Moved' })
  expect(await goods(2)).toMatchObject({ status: 200, body: { venue: 'Moved' } })
  expect((await goods(1, await origin.sale())).status).toBe(404)
})

test('a variant is restocked by its id, and stays while it has orders', async () => {
  const sale = await origin.sale({ products: [SHOE] })
  const restock = (id: string) => origin.admin('POST', `/sales/${sale}/products/${id}/restock`, { quantity: 4 })
  const conflict = (detail: string) => ({ status: 409, body: { detail } })
  const variants = [{ total: 9 }, { total: 3 }]
  expect(await restock('shoe-36')).toMatchObject({ status: 200, body: { products: [{ variants }] } })
  expect(await restock('shoe')).toMatchObject(conflict('shoe has variants: restock one of them.'))
  const order = await origin.checkoutDecided(sale, { body: { product_id: 'shoe-36', accept: ['terms'] } })
  expect(order).toMatchObject({ status: 201, body: { product_id: 'shoe-36', total_minor: 18_900 } })
  const { products, ...config } = (await read(sale)) as { products: [typeof SHOE] }
  const [shoe] = products
  const without = { ...config, products: [{ ...shoe, variants: shoe.variants.slice(1) }] }
  const refused = await origin.admin('PUT', `/sales/${sale}`, without)
  expect(refused).toMatchObject(conflict('shoe-36 has orders and cannot be removed'))
})

test('the price of a product is that of its variants that have none of their own', async () => {
  const sale = await origin.sale({ products: [SHOE] })
  const prices = async () => {
    const [shoe] = ((await read(sale)) as unknown as { products: [typeof SHOE] }).products
    return [shoe.unit_price_minor, ...shoe.variants.map(({ unit_price_minor }) => unit_price_minor)]
  }
  await setPrice(origin.sql(), sale, 'shoe', 15_000)
  await expect.poll(prices).toEqual([15_000, 15_000, 19_900])
  await setPrice(origin.sql(), sale, 'shoe-375', 50)
  await expect.poll(prices).toEqual([15_000, 15_000, 50])
})

const text = fc
  .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
  .map(storedText)
  .filter((some) => some !== '' && textFault(some) === undefined)
const id = fc.stringMatching(/^[a-z0-9]{6,12}$/)
const texts = fc.dictionary(fc.constantFrom('en', 'de', 'fr', 'es', 'ja', 'ar'), text)
/** A price is zero, or at least the smallest amount that can be paid. */
const price = fc.oneof(fc.constant(0), fc.integer({ min: 50, max: 1_000_000 }))
const percent = fc.nat(100_000).map((thousandths) => thousandths / 1000)
const some = <T extends object>(of: T) => fc.record(of as never, { requiredKeys: [] }) as fc.Arbitrary<object>

const product = fc
  .tuple(
    id,
    text,
    price,
    fc.nat(100),
    fc.uniqueArray(text, { maxLength: 3, selector: sameName }),
    fc.array(price, { maxLength: 3 }),
  )
  .chain(([product_id, name, unit_price_minor, total, values, prices]) => {
    const variants = values.map((value, i) => ({
      variant_id: `${product_id}-${i}`,
      options: { size: value },
      total,
      ...(prices[i] !== undefined && { unit_price_minor: prices[i], sku: `S${i}`, buffer: total }),
    }))
    const own = values.length === 0 ? { total } : { total: 0, variants, options: [{ name: 'size', values }] }
    const fixed = { product_id, name, unit_price_minor, currency: 'EUR', ...own }
    return some({
      names: texts,
      description: fc.oneof(text, texts, fc.constant(null)),
      limit: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant(null)),
      terms: fc.oneof(text, texts, fc.constant(null)),
      tags: fc.array(text, { maxLength: 3 }),
      weight_grams: fc.oneof(fc.nat(10_000), fc.constant(null)),
    }).map((more) => ({ ...fixed, ...more }))
  })
const fee = fc.record({ name: text, per: fc.constantFrom('unit', 'order'), included: fc.boolean() }).chain((of) =>
  fc.oneof(
    percent.map((percent) => ({ ...of, percent })),
    price.map((amount_minor) => ({ ...of, amount_minor })),
  ),
)
const time = fc.constantFrom('2026-12-01T19:00:00Z', '2026-12-01T21:30:00+01:00')
const event = some({ ends_at: fc.constantFrom('2026-12-02T00:00:00Z', null) }).chain((of) =>
  time.map((starts_at) => ({ starts_at, ...of })),
)
const asked = fc.constantFrom('off', 'optional', 'required')
const ask = some({ name: asked, phone: asked, company: asked, note: asked })
const countries = fc.uniqueArray(fc.constantFrom('DE', 'FR', 'JP', 'US'), { minLength: 1 })
const rates = fc.array(
  fc
    .tuple(price, some({ countries, up_to_grams: fc.nat(30_000) }))
    .map(([amount_minor, of]) => ({ amount_minor, ...of })),
  { minLength: 1, maxLength: 3 },
)
const delivery = fc.oneof(
  ask.map((ask) => ({ kind: 'none', ask })),
  fc.tuple(ask, text).map(([ask, pickup]) => ({ kind: 'pickup', ask, pickup })),
  fc.tuple(ask, some({ countries, prices: rates })).map(([ask, of]) => ({ kind: 'address', ask, ...of })),
  ask.map((ask) => ({ kind: 'handover', ask, return_url: 'https://shop.example/paid' })),
)
const words = fc.dictionary(fc.constant('de'), fc.dictionary(id, text))
const brand = fc.tuple(text, some({ accent: fc.constant('#00674B'), words })).map(([shop, of]) => ({ shop, ...of }))
const products = fc.uniqueArray(product, { minLength: 1, maxLength: 3, selector: ({ product_id }) => product_id })
const orNull = <T>(of: fc.Arbitrary<T>) => fc.oneof(of, fc.constant(null))
const limit = fc.integer({ min: 1, max: 10 })
const options = some({
  brand,
  fees: fc.array(fee, { maxLength: 3 }),
  tax: fc.record({ name: text, percent, included: fc.boolean() }),
  venue: orNull(text),
  names: orNull(texts),
  event: orNull(event),
  delivery,
  limit_per_order: limit,
  limit_per_visitor: limit,
})
const config = fc.tuple(products, options).map(([products, of]) => ({ products, ...of }))

/** All that the ledger has of a sale, except the counters of writes. */
const kept = (sale: string) => origin.sql()`
  select to_jsonb(s) as sale, to_jsonb(g) as goods,
    (select jsonb_agg(to_jsonb(p) - 'version' order by p.place) from products p where p.sale_id = s.sale_id) as products
  from sales s left join goods g using (sale_id) where s.sale_id = ${sale}`

test('what an operator reads of a sale can be sent back, and changes nothing', async () => {
  const sendsBack = fc.asyncProperty(config, async (config) => {
    const sale = `sale-${randomUUID().slice(0, 8)}`
    const at = '2026-01-01T00:00:00Z'
    const fixed = { name: 'Rich', pre_queue_opens_at: at, opens_at: at, admission: { rate_per_second: 1 } }
    const created = await origin.admin('PUT', `/sales/${sale}`, { ...fixed, ...config })
    expect(created, JSON.stringify(created.body)).toMatchObject({ status: 201 })
    const before = await kept(sale)
    expect(await origin.admin('PUT', `/sales/${sale}`, await read(sale))).toMatchObject({ status: 200 })
    expect(await kept(sale)).toEqual(before)
    await origin.admin('POST', `/sales/${sale}/end`)
  })
  await fc.assert(sendsBack, { numRuns: 8 })
})
