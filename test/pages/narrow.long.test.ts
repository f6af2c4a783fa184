/** Checks a sale's pages on narrow screens, where long texts must stay within their line. */
import { describe } from 'vitest'
import { button, heading, link, storyTest } from '../lib/in-browser.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const ONE_LINE = 30
const NARROW = { width: 320, height: 844 }
const test = storyTest()

describe.skipIf(!hasBrowser)('on a narrow screen', () => {
  test('a long price leaves room for the name, and the number of an order is not broken', async ({
    visitorWithTurn,
    expect,
  }) => {
    const system = await sharedPart('system')
    const sale = 'long-price'
    const product = { product_id: 'one', name: 'Trainers', unit_price_minor: 250_000_000, currency: 'IDR' }
    const products = [{ ...product, total: 5, buffer: 0 }]
    await createSale(system, sale, saleOf(0, { products, admission: { rate_per_second: 50, max_inside: null } }))
    const url = `${system.edgeUrl}/sales/${sale}`
    const page = await visitorWithTurn(url, { viewport: NARROW, locale: 'en' })
    const boxOf = (text: string | RegExp) => page.getByText(text).first().boundingBox()
    const [name, price] = [await page.locator('.item').getByText('Trainers').boundingBox(), await boxOf('2,500,000.00')]
    expect(name?.height).toBeLessThan(ONE_LINE)
    expect((price?.x ?? 0) + (price?.width ?? 0)).toBeLessThan(NARROW.width)

    await button(page, 'Reserve').click()
    await heading(page, 'Reserved for you').waitFor()
    await button(page, /^Pay/).click()
    await heading(page, 'It is yours').waitFor()
    await link(page, 'Receipt').click()
    await heading(page, 'Receipt').waitFor()
    const receipt = page.url()
    await page.setExtraHTTPHeaders({ 'accept-language': 'fr' })
    for (const address of [receipt, receipt.replace('/receipt', '')])
      for (const width of [320, 390]) {
        await page.setViewportSize({ ...NARROW, width })
        await page.goto(address)
        expect((await boxOf(/^[0-9a-f]{8}-[0-9a-f-]{27}$/))?.height).toBeLessThan(ONE_LINE)
      }
  })
})
