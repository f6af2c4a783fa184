import { expect, it } from 'vitest'
import { LANGUAGES } from '../../shared/api/fields.ts'
import { previewQuery } from '../../shared/preview-link.ts'
import { WORDS } from '../pages/words/words.ts'
import { edgeEnv } from '../testing/origin.ts'
import { call, TestSale } from '../testing/visitors.ts'

const CONSOLE = 'https://console.example'
const HOUR_MS = 3_600_000

function queryFor(sale: string, changes: { expiresMs?: number; secret?: string } = {}) {
  const { expiresMs = Date.now() + HOUR_MS, secret = edgeEnv.EDGE_TOKEN } = changes
  return new URLSearchParams(previewQuery(secret, { sale, expiresMs, from: CONSOLE }))
}
const open = (sale: string, state: string, query: URLSearchParams, more = '') =>
  call(`/sales/${sale}/preview${state && `/${state}`}?${query}${more}`, { headers: { accept: 'text/html' } })

it('shows each page in every language with what is sold, for the console to frame and for nobody to keep', async () => {
  const { name: sale } = await new TestSale(60_000).publish({ name: 'Night Swim' })
  const query = queryFor(sale)
  const { states } = await (await open(sale, '', query)).json<{ states: string[] }>()
  expect(states).toEqual(expect.arrayContaining(['sale-open', 'line', 'turn', 'order-reserved', 'problem-refused']))
  for (const lang of LANGUAGES) {
    const response = await open(sale, 'sale-open', query, `&lang=${lang}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toContain(`frame-ancestors ${CONSOLE}`)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const page = await response.text()
    expect(page).toContain(`<html lang="${lang}"`)
    expect(page).toContain(WORDS[lang].saleOpen)
    expect(page).toContain('Night Swim')
  }
  expect((await open(sale, 'nothing', query)).status).toBe(404)
})

it('shows pages that do nothing, in the look asked for', async () => {
  const { name: sale } = await new TestSale(60_000).publish()
  const query = queryFor(sale)
  const { states } = await (await open(sale, '', query)).json<{ states: string[] }>()
  for (const state of states) {
    const page = await (await open(sale, state, query, '&look=dark')).text()
    expect(page, state).not.toMatch(/<script|<noscript|http-equiv|<a [^>]*href="[^#]/)
    expect(page, state).toContain('<meta name="color-scheme" content="dark">')
  }
})

it('refuses a link that is wrong, of another sale, or expired', async () => {
  const { name: sale } = await new TestSale(60_000).publish()
  const framedByAnother = queryFor(sale)
  framedByAnother.set('from', 'https://evil.example')
  const later = queryFor(sale)
  later.set('expires', String(Date.now() + 48 * HOUR_MS))
  const wrong = {
    none: new URLSearchParams(),
    'signed by another': queryFor(sale, { secret: 'another-secret-of-32-characters-0000' }),
    'of another sale': queryFor('another'),
    expired: queryFor(sale, { expiresMs: Date.now() - 1 }),
    'framed by another': framedByAnother,
    'made to last': later,
  }
  for (const [why, query] of Object.entries(wrong))
    for (const state of ['', 'sale-open']) expect((await open(sale, state, query)).status, why).toBe(403)
})

it('shows what an operator has not saved, of a sale that does not exist yet, to the origin alone', async () => {
  const size = {
    product_id: 'fin-42',
    name: 'Fin, 42',
    unit_price_minor: 4_900,
    currency: 'EUR',
    total: 9,
    available: 9,
  }
  const terms = { hold_seconds: 90, limit_per_visitor: 1, fees: [], delivery: { kind: 'none' }, mails: [] }
  const draft = {
    sale: { ...terms, name: 'Day Swim', payment: 'provider', test: false, products: [size] },
    goods: { version: 0, brand: null, venue: null, products: {} },
  }
  const post = (body: object, state = 'sale-open', token = edgeEnv.EDGE_TOKEN) =>
    call(`/internal/sales/new/preview/${state}?lang=de&look=dark`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const page = await (await post(draft)).text()
  expect(page).toContain('<html lang="de"')
  for (const text of ['Day Swim', 'Fin, 42']) expect(page).toContain(text)
  expect(page).not.toContain('<script')
  expect((await post(draft, 'nothing')).status).toBe(404)
  expect((await post({ ...draft, sale: { name: 1 } })).status).toBe(422)
  expect((await post(draft, 'sale-open', 'another-secret-of-32-characters-0000')).status).toBe(401)
})

it('says so where the Worker that renders previews is not deployed', async () => {
  const { name: sale } = await new TestSale(60_000).publish()
  const { PREVIEW: _, ...env } = edgeEnv
  const response = await call(`/sales/${sale}/preview?${queryFor(sale)}`, {}, env as typeof edgeEnv)
  expect(response.status).toBe(409)
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining('docs/deploying.md') })
})
