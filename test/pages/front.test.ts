/** The shop front's search in a real browser, while one types; front.long.test.ts has the latest searches. */
import { describe, expect, test } from 'vitest'
import { entriesOf } from '../../shared/search/entries.ts'
import { useSamplePages } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

const sale = (name: string) => ({
  sale: name.toLowerCase(),
  name,
  opens_at: '2026-11-27T12:00:00.000Z',
  pre_queue_opens_at: '2026-11-27T11:00:00.000Z',
  ends_at: null,
  image: null,
  price_from_minor: 100,
  currency: 'EUR',
  prices_differ: false,
  venue: null,
  shop: null,
  products: [],
})
const INDEX = { entries: entriesOf({ sales: [sale('Aurora'), sale('Orchestra')] }), synonyms: [] }

describe.skipIf(!hasBrowser)('the search of the front', () => {
  const open = useSamplePages({ width: 1280, height: 900 })
  async function openFront() {
    const page = await open('front')
    let loads = 0
    await page.route('**/search/index*', (route) => {
      loads++
      return route.fulfill({ json: INDEX })
    })
    const told = { phase: 'open', opens_at: '2026-11-27T12:00:00.000Z', left: 3, prices_differ: true }
    const list = { sales: [{ sale: 'aurora', ...told, price_from_minor: 4_200, currency: 'EUR' }] }
    await page.route(
      ({ pathname }) => pathname === '/',
      (route) => route.fulfill({ json: list }),
    )
    await page.route('**/search?*', (route) => route.fulfill({ body: '', contentType: 'text/html' }))
    return { page, field: page.getByRole('searchbox'), loads: () => loads }
  }

  test('suggests as one types, marks what fits, and asks whether a typing error was meant', async () => {
    const { page, field, loads } = await openFront()
    expect(loads()).toBe(0)
    await field.click()
    await field.pressSequentially('auro')
    const first = page.locator('.typed a').last()
    await expect.poll(() => first.innerHTML()).toContain('<mark>Auro</mark>ra')
    expect(await first.textContent()).toContain('3 left from €42.00')
    await field.fill('orchestro')
    const guess = page.locator('.typed p a')
    await expect.poll(() => guess.textContent()).toBe('orchestra')
    expect(await guess.getAttribute('href')).toBe('/search?q=orchestra')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toContain('Orchestra')
    await page.keyboard.press('Escape')
    expect(await page.evaluate('document.activeElement.name')).toBe('q')
    expect(loads()).toBe(1)
    await page.close()
  })
})
