/**
 * Buyers use a real browser on a whole system: one clicks a seat on the map, one chooses a size with code, terms and
 * delivery. In buying.long.test.ts two fill a cart.
 */
import postgres from 'postgres'
import { afterAll, beforeAll, describe } from 'vitest'
import { addHall } from '../../origin/seats/testing.ts'
import { numberOf } from '../../shared/format.ts'
import { button, heading, storyTest } from '../lib/in-browser.ts'
import { admin } from '../lib/operator.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { buy } from '../lib/shop-stories.ts'
import type { RunSystem } from '../run/one-system.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const SIZES = ['41', '42', '43']
const SHOE = {
  product_id: 'shoe',
  name: 'Aurora One',
  unit_price_minor: 18_900,
  currency: 'EUR',
  total: 0,
  buffer: 0,
  weight_grams: 900,
  terms: 'No return of worn shoes.',
  options: [{ name: 'Size', values: SIZES }],
  variants: SIZES.map((size) => ({ variant_id: `shoe-${size}`, options: { Size: size }, total: 5, buffer: 0 })),
}
const test = storyTest()

describe.skipIf(!hasBrowser)('bought in a browser', () => {
  let system: RunSystem
  let sql: postgres.Sql
  beforeAll(async () => {
    system = await sharedPart('system')
    sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
  })
  afterAll(() => sql?.end({ timeout: 2 }))

  const orderOf = async (sale: string) => {
    const [order] = await sql`
      select status, number::int, quantity, cart -> 0 ->> 'seat_id' as seat, cart -> 0 ->> 'product' as product,
        order_total(unit_price_minor, quantity, cart, bill)::int as total, (select c.delivery from contacts c
          where c.order_id = orders.order_id) as delivery
      from orders where sale_id = ${sale}`
    return order
  }

  test('a seat that is clicked on the map goes into the cart with a standing place, and both are paid', async ({
    visitorWithTurn,
    expect,
  }) => {
    const sale = 'seat-by-click'
    await createSale(
      system,
      sale,
      saleOf(5, { limit_per_visitor: 2, admission: { rate_per_second: 50, max_inside: null } }),
    )
    await addHall(sql, sale)
    const chart = async () => (await fetch(`${system.edgeUrl}/sales/${sale}/chart`)).status
    await expect.poll(chart).toBe(200)
    const page = await visitorWithTurn(`${system.edgeUrl}/sales/${sale}`, { viewport: { width: 1280, height: 900 } })
    const canvas = page.locator('.hall-plan canvas')
    const box = await canvas.boundingBox()
    if (!box) throw new Error('there is no map')
    // The first press zooms to the section; later ones are on seats or next to them.
    const chosen = page.locator('#cart-choice li')
    for (let press = 0; press < 100 && (await chosen.count()) === 0; press++) {
      const [x, y] = [0.5 + 0.04 * (press % 10), 0.5 + 0.04 * Math.floor(press / 10)]
      await canvas.click({ position: { x: box.width * x, y: box.height * y } })
    }
    const seat = /seat (\d+)/.exec((await chosen.first().textContent()) ?? '')?.[1]
    await page.reload()
    await expect.poll(() => chosen.count()).toBe(1)
    await button(page, 'Take these').click()
    await page.locator('[name="places:floor-1"]').fill('1')
    // The way back to the hall keeps both.
    await button(page, 'Change seats').click()
    await expect.poll(() => chosen.count()).toBe(1)
    await button(page, 'Take these').click()
    await expect.poll(() => page.locator('[name="places:floor-1"]').inputValue()).toBe('1')
    const shown = await buy(page)
    expect(shown).toMatch(new RegExp(`Row \\d+, seat ${seat}`))
    expect(shown).toContain('Floor 1')
    expect(await orderOf(sale)).toMatchObject({
      status: 'confirmed',
      quantity: 2,
      seat: expect.stringMatching(/^S\d+$/),
    })
  })

  test('a size is bought with code, terms and an address filled in ahead, at the sum that the form showed', async ({
    visitor,
    expect,
  }) => {
    const sale = 'size-with-code'
    await createSale(
      system,
      sale,
      saleOf(0, {
        opens_at: new Date(Date.now() + 600_000).toISOString(),
        products: [SHOE],
        contact: { email: 'required', address: false, retention_days: 30 },
        delivery: {
          kind: 'address',
          countries: ['DE', 'FR'],
          prices: [{ countries: ['DE'], amount_minor: 690, days: 3 }, { amount_minor: 1_490 }],
          ask: { name: 'required', phone: 'off', company: 'off', note: 'off' },
        },
        admission: { rate_per_second: 50, max_inside: null },
      }),
    )
    await admin(system, 'PUT', `/sales/${sale}/promo-codes`, [{ code: 'NOON10', percent: 10, uses: 1 }])
    const page = await visitor(`${system.edgeUrl}/sales/${sale}`)
    await button(page, 'Take a place in the lobby').click()
    await page.getByText('Have your details ready').click()
    await page.getByRole('radio', { name: '42' }).check()
    const address = {
      name: 'Ada Lindqvist',
      street: 'Elm Row 12',
      postcode: '10119',
      city: 'Berlin',
      email: 'ada@example.org',
    }
    for (const [name, value] of Object.entries(address)) await page.locator(`#prepare [name=${name}]`).fill(value)
    await page.locator('[name=country]').selectOption('DE')
    const typed = () => page.evaluate<string | null>(`sessionStorage.getItem('typed ${sale}')`)
    await page.getByText('Kept in this browser for your turn.').waitFor()
    expect(await typed()).toContain('Elm Row 12')
    await admin(system, 'POST', `/sales/${sale}/open`)
    await heading(page, 'It is your turn').waitFor()
    await expect.poll(() => page.locator('#delivery-days').textContent()).toBe('€6.90 · within 3 days')
    await page.reload()
    await expect.poll(() => page.locator('[name=street]').inputValue()).toBe('Elm Row 12')
    expect(await page.getByRole('radio', { name: '42' }).isChecked()).toBe(true)
    expect(await page.locator('[name=country]').inputValue()).toBe('DE')
    // A complete address needs no more attention.
    await expect.poll(() => page.locator('#delivered-to').textContent()).toContain('Elm Row 12, 10119 Berlin, Germany')
    expect(await page.locator('[name=street]').isVisible()).toBe(false)
    await page.locator('.code summary').click()
    await page.locator('[name=promo_code]').fill('noon10')
    await button(page, 'Apply').click()
    const sum = 18_900 - 1_890 + 690
    await expect.poll(() => page.locator('[name=total_minor]').inputValue()).toBe(String(sum))
    await page.locator('[name=accept]').check()
    const shown = await buy(page)
    expect(await typed()).toBeNull()
    const number = /\b[2-9A-Z]{3}-[2-9A-Z]{3}\b/.exec(shown)?.[0] ?? ''
    expect(await orderOf(sale)).toMatchObject({
      status: 'confirmed',
      number: numberOf(number),
      product: 'shoe-42',
      total: sum,
      delivery: { name: 'Ada Lindqvist', street: 'Elm Row 12', postcode: '10119', city: 'Berlin', country: 'DE' },
    })
    expect(shown).toContain('€177.00')
  })
})
