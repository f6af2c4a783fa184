/** The edge reads the catalogue, and operators edit the synonyms. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Listing } from '../../shared/api/front.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { listedSale, plainText, signatureOf } from './catalogue.ts'

const origin = useOrigin()
const listing = async (has = '') =>
  (await origin.call('GET', `/internal/catalogue?has=${has}`, { token: origin.edgeToken })).body as unknown as Listing
const listed = async (sale: string) => (await listing()).catalogue?.sales.find((one) => one.sale === sale)

const SHOE = {
  product_id: 'shoe',
  name: 'Aurora One',
  names: { de: 'Aurora Eins' },
  description: { en: '**Light** & [quick](https://x.example)\n\n- 238 g', ar: 'خفيف' },
  options: [{ name: 'size', values: ['36', '37'] }],
  unit_price_minor: 16_900,
  currency: 'EUR',
  total: 0,
  tags: ['shoe'],
  variants: [
    { variant_id: 'shoe-36', options: { size: '36' }, unit_price_minor: 18_900, total: 5 },
    { variant_id: 'shoe-37', options: { size: '37' }, unit_price_minor: 17_900, total: 3, buffer: 1 },
  ],
}

test('lists a sale with what the front shows and search reads', async () => {
  const about = { venue: 'Grand Hall', names: { de: 'Große Halle' } }
  const sale = await origin.sale({ products: [SHOE], brand: { shop: 'Halfway' }, ...about })
  const { product_id, names, tags } = SHOE
  const product = { product_id, names, tags, description: { en: 'Light & quick 238 g', ar: 'خفيف' } }
  const prices = { price_from_minor: 17_900, prices_differ: true, currency: 'EUR' }
  const wanted = { sale, ...about, ...prices, image: null, shop: 'Halfway', products: [product] }
  await expect.poll(() => listed(sale)).toMatchObject(wanted)
  const state = { phase: 'open', left: 7, tells_restock: false }
  expect((await listing()).states[sale]).toEqual(state)
  const told = (gauges: object) =>
    origin.sql()`
      insert into sale_minutes (sale_id, minute, counts, gauges)
      values (${sale}, date_trunc('minute', now()), '{}', ${origin.sql().json(gauges as never)})
      on conflict (sale_id, minute) do update set gauges = excluded.gauges`
  await told({ waiting: 165, wait_seconds: 90 })
  await expect.poll(async () => (await listing()).states[sale]).toEqual({ ...state, waiting: 165, wait_seconds: 90 })
  await told({ waiting: 0 })
  await expect.poll(async () => (await listing()).states[sale]).toEqual({ ...state, waiting: 0 })
})

test('tells a caller that has the catalogue only how its sales are, and the rest once one has changed', async () => {
  const sale = await origin.sale()
  await expect.poll(() => listed(sale)).toMatchObject({ ends_at: null })
  // The catalogue is polled, because other test files change their sales meanwhile.
  await expect.poll(async () => (await listing((await listing()).version)).catalogue).toBeNull()
  const { version } = await listing()
  await origin.admin('POST', `/sales/${sale}/end`)
  await expect.poll(async () => (await listed(sale))?.ends_at).not.toBeNull()
  expect((await listing()).version).not.toBe(version)
  expect((await listing()).states[sale]?.phase).toBe('ended')
})

test('is made again once the goods of a sale have changed', () => {
  const signed = (goods_version: number) => signatureOf([{ goods_version, products: [] } as unknown as SaleRow], [])
  expect(signed(1)).not.toBe(signed(2))
})

test('leaves out tests, and what search engines may not show', async () => {
  const hidden = [await origin.sale({ indexed: false }), await origin.sale({ test: true })]
  const shown = await origin.sale()
  await expect.poll(() => listed(shown)).toBeDefined()
  const { catalogue, states } = await listing()
  for (const sale of hidden) {
    expect(catalogue?.sales.map((one) => one.sale)).not.toContain(sale)
    expect(states[sale]).toBeUndefined()
  }
})

test('synonyms are the shop’s, and part of the catalogue', async () => {
  const put = (body: unknown) => origin.admin('PUT', '/search/synonyms', body as never)
  const words = [['home', 'house', `w${randomUUID().slice(0, 8)}`]]
  expect(await put(words)).toMatchObject({ status: 200, body: words })
  expect(await origin.admin('GET', '/search/synonyms')).toMatchObject({ status: 200, body: words })
  await expect.poll(async () => (await listing()).catalogue?.synonyms).toEqual(words)
  for (const wrong of [[['alone']], [['home', '']], { home: 'house' }, [['a', 'b'.repeat(61)]]])
    expect((await put(wrong)).status).toBe(422)
  expect(await origin.admin('GET', '/search/synonyms')).toMatchObject({ body: words })
})

test('synonyms are not replaced by somebody who has not seen the latest', async () => {
  const etag = async () =>
    String((await origin.call('GET', '/admin/search/synonyms', { token: ADMIN_TOKEN })).headers.get('etag'))
  const put = (body: unknown, version?: string) =>
    origin.call('PUT', '/admin/search/synonyms', {
      token: ADMIN_TOKEN,
      body: body as never,
      ...(version !== undefined && { headers: { 'if-match': version } }),
    })
  const [mine, theirs] = ['mine', 'theirs'].map((word) => [[word, randomUUID().slice(0, 8)]])
  const read = await etag()
  const first = await put(theirs, read)
  expect([first.status, first.headers.get('etag')]).toEqual([200, await etag()])
  const refused = { type: '/problems/changed-meanwhile', changed: ['synonyms'], by: 'admin', at: expect.any(String) }
  expect(await put(mine, read)).toMatchObject({ status: 412, body: refused })
  expect(await origin.admin('GET', '/search/synonyms')).toMatchObject({ body: theirs })
  const both = await etag()
  const statuses = await Promise.all([put(mine, both), put(theirs, both)]).then((all) =>
    all.map(({ status }) => status),
  )
  expect(statuses.toSorted()).toEqual([200, 412])
  expect((await put(mine)).status).toBe(200)
})

test('makes plain text of markdown, cut', () => {
  expect(plainText('# A <b>\n\n*b*, `c` ![d](e) "f"')).toBe('A <b> b, c "f"')
  expect(plainText('x'.repeat(2_000))).toHaveLength(600)
})

test('shows the sale’s own picture with its words, and no price where nothing is sold', () => {
  const image = { url: '/images/a', alt: 'A shoe', widths: [320] }
  const times = { opens_at: new Date(0), pre_queue_opens_at: new Date(0), ends_at: null }
  const row = { sale_id: 's', name: 'S', ...times, venue: null, names: null, products: [] }
  const goods = { shoe: { images: [{ url: '/images/b', alt: '' }, image] } }
  const of = { ...row, brand: { shop: 'H', hero: '/images/a' }, goods }
  expect(listedSale(of)).toMatchObject({ image, price_from_minor: null, currency: null, prices_differ: false })
})
