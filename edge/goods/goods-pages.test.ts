/** A sale's pages show its goods: names, brand and words of their version, in the language that the visitor chose. */
import { expect, it } from 'vitest'
import { LANGUAGES } from '../../shared/api/fields.ts'
import type { GoodsDocument } from '../../shared/api/goods.ts'
import { stub } from '../testing/origin.ts'
import { call, cookiesOf, TestSale } from '../testing/visitors.ts'

const GOODS: GoodsDocument = {
  version: 2,
  brand: { shop: 'Halfway', accent: '#ff6600', words: { en: { joinLine: 'Get in line' }, de: { joinLine: 'Rein' } } },
  venue: null,
  products: {},
}

async function saleWithGoods(status = 200) {
  const sale = new TestSale()
  await stub(`/internal/sales/${sale.name}/goods?v=2`, status, GOODS)
  return sale.publish({ goods_version: 2 })
}

const page = async (path: string, headers: Record<string, string> = {}) => {
  const response = await call(path, { headers: { accept: 'text/html', ...headers } })
  return { response, text: await response.text() }
}
const languageIn = (text: string) => /<html lang="(\w+)"/.exec(text)?.[1]

it('shows the brand of a sale, its words and its colours', async () => {
  const { name } = await saleWithGoods()
  const { text } = await page(`/sales/${name}`)
  expect(text).toMatch(/class="brand" [^>]*><bdi>Halfway</)
  expect(text).toContain('>Get in line</button>')
  expect((await page(`/sales/${name}`, { 'accept-language': 'de' })).text).toContain('>Rein</button>')
  const sheet = /<link rel="stylesheet" href="(\/sales\/[^"]+)"/.exec(text)?.[1] ?? ''
  expect(sheet).toBe(`/sales/${name}/brand.css?v=2`)
  const style = await call(sheet)
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
  expect(style.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(await style.text()).toContain('--accent:#ff6600')
  const other = await call(`/sales/${name}/brand.css?v=1`, { redirect: 'manual' })
  expect([other.status, other.headers.get('location')]).toEqual([302, sheet])
})

it('names a sale and its products in the visitor’s language', async () => {
  const sale = new TestSale()
  await stub(`/internal/sales/${sale.name}/goods?v=2`, 200, {
    version: 2,
    brand: null,
    venue: null,
    names: { de: 'Nachtschwimmen' },
    event: { starts_at: '2026-12-12T19:00:00.000Z', ends_at: null, time_zone: 'Europe/Berlin' },
    products: {
      fin: {
        names: { de: 'Flosse' },
        subtitle: { en: 'Signed', de: 'Signiert' },
        options: [{ name: 'Size', values: ['42'] }],
      },
    },
  } satisfies GoodsDocument)
  const fin = { product_id: 'fin', name: 'Fin', unit_price_minor: 100, currency: 'EUR', total: 0, available: 0 }
  const size = { ...fin, product_id: 'fin-42', name: 'Fin, 42', variant_of: 'fin', variant: { Size: '42' } }
  const products = [fin, size].map((one) => ({ ...one, held: 0, sold: 0 }))
  await sale.publish({ name: 'Night Swim', products, goods_version: 2 })
  const { text } = await page(`/sales/${sale.name}`, { 'accept-language': 'de' })
  for (const name of [
    '<title>Nachtschwimmen<',
    '"name":"Nachtschwimmen"',
    '"name":"Flosse, 42"',
    '>Flosse<',
    '>Signiert</p>',
  ])
    expect(text).toContain(name)
  expect(text).not.toMatch(/Night Swim|Fin\b/)
  expect(text).toContain(`href="/sales/${sale.name}/event.ics"`)
  const calendar = await call(`/sales/${sale.name}/event.ics`, { headers: { 'accept-language': 'de' } })
  expect(calendar.headers.get('content-type')).toBe('text/calendar; charset=utf-8')
  expect(await calendar.text()).toMatch(/SUMMARY:Nachtschwimmen\r\n[\s\S]*DTSTART:20261212T190000Z\r\n/)
  const without = await new TestSale().publish()
  expect((await call(`/sales/${without.name}/event.ics`)).status).toBe(404)
  expect((await page(`/sales/${sale.name}`, { 'accept-language': 'fr' })).text).toContain('<title>Night Swim<')
})

it('shows the sale without its goods where they cannot be read', async () => {
  const { name } = await saleWithGoods(503)
  const { response, text } = await page(`/sales/${name}`)
  expect(response.status).toBe(200)
  expect(text).toContain('>Join the line</button>')
  expect((await call(`/sales/${name}/brand.css?v=2`)).status).toBe(404)
})

it('shows a visitor’s own pages in the language that they chose, and says so to no cache', async () => {
  const sale = await new TestSale().publish()
  const path = `/sales/${sale.name}`
  const { response, text } = await page(`${path}?lang=de`, { 'accept-language': 'fr' })
  expect(languageIn(text)).toBe('de')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.has('cache-tag')).toBe(false)
  // Links back to the page keep the language.
  expect(text).toContain(`data-path="${path}?lang=de"`)
  const cookie = cookiesOf(response)
  expect(cookie).toContain('page-language=de')
  expect(languageIn((await page(`${path}/line`, { cookie, 'accept-language': 'fr' })).text)).toBe('de')
  const problem = await page(`${path}/nothing`, { cookie })
  expect(languageIn(problem.text)).toBe('de')
  for (const wrong of ['xx', 'de-AT', '']) {
    const { response, text } = await page(`${path}?lang=${wrong}`, { 'accept-language': 'fr' })
    expect([languageIn(text), response.headers.get('set-cookie')], wrong).toEqual(['fr', null])
  }
})

it('never gives a cache a page in a language that its address and header do not name', async () => {
  for (const phase of ['open', 'sold_out'] as const) {
    const sale = await new TestSale().publish({ phase })
    await sale.until((schedule) => schedule.phase === phase)
    for (const chosen of LANGUAGES)
      for (const asked of ['en', 'ja']) {
        const cookie = `page-language=${chosen}; __Host-page-language=${chosen}`
        const { response, text } = await page(`/sales/${sale.name}`, { cookie, 'accept-language': asked })
        expect(languageIn(text)).toBe(asked)
        expect(response.headers.get('cache-control')).toContain('public')
        expect(response.headers.get('vary')).toContain('accept-language')
      }
  }
})
