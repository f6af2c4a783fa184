/** Buyers fill a cart of two products in a real browser, with a script and without, while others take of it. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe } from 'vitest'
import { button, heading, storyTest } from '../lib/in-browser.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { buy } from '../lib/shop-stories.ts'
import { admitted, visitorsOf } from '../lib/visitor.ts'
import type { RunSystem } from '../run/one-system.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

/** A browser complains of the refusal of what went meanwhile. */
const test = storyTest(/409 \(Conflict\)/)

describe.skipIf(!hasBrowser)('bought in a browser', () => {
  let system: RunSystem
  let sql: postgres.Sql
  beforeAll(async () => {
    system = await sharedPart('system')
    sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
  })
  afterAll(() => sql?.end({ timeout: 2 }))

  const TOUR = [
    { product_id: 'poster', name: 'Tour poster', unit_price_minor: 1_800, currency: 'EUR', total: 2, buffer: 0 },
    { product_id: 'record', name: 'Record', unit_price_minor: 2_900, currency: 'EUR', total: 20, buffer: 0, limit: 2 },
  ]
  async function tour(sale: string) {
    const admission = { rate_per_second: 50, max_inside: null }
    await createSale(system, sale, saleOf(0, { products: TOUR, limit_per_visitor: 4, admission }))
    const { checkout } = visitorsOf(system.edgeUrl, sale)
    return {
      url: `${system.edgeUrl}/sales/${sale}`,
      /** A second visitor takes one of the two posters. */
      takeOne: async () => checkout(await admitted(system.edgeUrl, sale), { product_id: 'poster', quantity: 1 }),
    }
  }
  const cartOf = async (sale: string) =>
    sql`select status, cart, order_total(unit_price_minor, quantity, cart, bill)::int as total from orders
      where sale_id = ${sale} and status = 'confirmed'`

  test('a cart of two products is bought: a limit is told at its line, and what went meanwhile is named', async ({
    visitorWithTurn,
    expect,
  }) => {
    const { url, takeOne } = await tour('cart-with-script')
    const page = await visitorWithTurn(url)
    const line = (name: string) => page.locator('.cart-lines > li', { hasText: name })
    const more = (name: string) => line(name).getByRole('button', { name: /^One more/ })
    for (const name of ['Tour poster', 'Tour poster', 'Record', 'Record']) await more(name).click()
    expect(await more('Record').isDisabled()).toBe(true)
    expect(await line('Record').locator('.bound').textContent()).toBe('At most 2 per person')
    expect(await page.locator('#bar-sum').textContent()).toBe('€94.00')
    expect((await takeOne()).status).toBe(201)
    await button(page, 'Reserve').click()
    await page.getByText('Only 1 left: Tour poster.').first().waitFor()
    expect(await page.locator('[name="units:poster"]').inputValue()).toBe('1')
    expect(await page.locator('[name="units:record"]').inputValue()).toBe('2')
    expect(await page.locator('#sum-rows').textContent()).toContain('€76.00')
    await buy(page, 'Reserve the rest')
    const [order] = await cartOf('cart-with-script')
    expect(order?.total).toBe(7_600)
    expect(order?.cart).toMatchObject([
      { product: 'poster', quantity: 1 },
      { product: 'record', quantity: 2 },
    ])
  })

  test('a cart of two products is bought without a script, and what went meanwhile is named', async ({
    visitor,
    expect,
  }) => {
    const { url, takeOne } = await tour('cart-without-script')
    const page = await visitor(url, { javaScriptEnabled: false })
    await button(page, 'Join the line').click()
    await heading(page, 'It is your turn').waitFor()
    await page.locator('[name="units:poster"]').fill('2')
    await page.locator('[name="units:record"]').fill('1')
    await button(page, 'Update the sum').click()
    expect(await page.locator('#sum-rows').textContent()).toContain('€65.00')
    expect((await takeOne()).status).toBe(201)
    await button(page, 'Reserve').click()
    await page.getByText('Only 1 left: Tour poster.').first().waitFor()
    expect(await page.locator('#sum-rows').textContent()).toContain('€47.00')
    await buy(page, 'Reserve the rest')
    expect((await cartOf('cart-without-script'))[0]?.total).toBe(4_700)
  })
})
