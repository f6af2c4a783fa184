/**
 * Goods in the console in a real browser: sizes, a picture, a brand and promo codes of a new sale, shown as buyers
 * will see them.
 */
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { beforeAll, describe } from 'vitest'
import { DESK, faultsOf } from '../lib/axe.ts'
import { eventually } from '../lib/eventually.ts'
import { storyTest } from '../lib/in-browser.ts'
import { signIn } from '../lib/in-console.ts'
import { admin } from '../lib/operator.ts'
import type { RunSystem } from '../run/one-system.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

/**
 * The browser reports each response that refuses an operator's request, and fields of previews that would take the
 * focus.
 */
const test = storyTest(/the server responded with a status of 4|^Blocked autofocusing/)

describe.skipIf(!hasBrowser)('goods in the console', () => {
  const sale = `goods-${randomUUID().slice(0, 8)}`
  let system: RunSystem
  beforeAll(async () => {
    system = await sharedPart('system')
  })
  const readSale = (path = '') => admin<Record<'products' | 'codes', object[]>>(system, 'GET', `/sales/${sale}${path}`)
  const previewOn = (page: Page) => page.frameLocator('iframe[title="The sale\'s page on a phone"]')

  test('an operator makes a sale with sizes, sees it as buyers will, and restocks one', async ({ newPage, expect }) => {
    const page = await newPage({ viewport: DESK })
    await signIn(page, system, `gus-${sale}`, 'operator')

    // In a new sale the table of variants follows the values, and keeps what was typed when they change.
    await page.getByRole('link', { name: 'New sale' }).click()
    const named = (label: string) => page.getByRole('textbox', { name: label, exact: true })
    await named('Name').fill(sale)
    await named('Product').fill('Aurora')
    await named('Price').fill('189')
    await named('Units').fill('25')
    await page.getByRole('button', { name: 'Goods, brand, delivery' }).click()
    await page.getByRole('button', { name: 'Add an option, such as sizes' }).click()
    const sizes = page.getByLabel('More of Size')
    await sizes.fill('41, 42')
    await sizes.press('Enter')
    // The units of the product are shared among its sizes, and none is lost.
    expect(await named('Units of 41').inputValue()).toBe('13')
    await page.getByRole('row', { name: 'In all 25' }).waitFor()
    await named('SKU of 41').fill('A1-41')
    await named('Units of 42').fill('')
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByText('One field is not right yet').waitFor()
    expect(await page.evaluate('document.activeElement.name')).toBe('products.0.variants.1.total')
    await named('Units of each').fill('12')
    await page.getByRole('button', { name: 'Fill all 2' }).click()
    await named('Units of 41').fill('5')
    await sizes.fill('43')
    await sizes.press('Enter')
    await named('Units of 43').fill('3')
    await named('Price of 43').fill('199')
    await page.getByRole('row', { name: 'In all 20' }).waitFor()
    // A value is ordered by keys.
    await page.getByRole('button', { name: /^Size 43/ }).press('ArrowLeft')
    await page.getByRole('button', { name: /^Size 43/ }).press('ArrowRight')
    // The preview shows the sale as buyers will see it, before it exists.
    await previewOn(page).getByText('Aurora').first().waitFor()
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByRole('heading', { name: sale, exact: true }).waitFor()

    // The stock is listed by variant, and one variant gets more.
    const stock = page.getByRole('region', { name: 'Stock' })
    await stock.getByRole('row', { name: /^43 / }).waitFor()
    await stock.getByRole('button', { name: 'Restock' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Product').selectOption('Aurora, 43')
    await dialog.getByLabel('More units').fill('4')
    await dialog.getByRole('button', { name: 'Restock' }).click()
    await page.getByText('4 more units of Aurora, 43 are for sale.').waitFor()
  })

  test('an operator fills in its goods, which the preview shows as they are typed', async ({ newPage, expect }) => {
    const page = await newPage({ viewport: DESK })
    await signIn(page, system, `gil-${sale}`, 'operator')
    await page.goto(`${system.originUrl}/console/sales/${sale}/goods`)
    const preview = previewOn(page)
    const named = (label: string) => page.getByRole('textbox', { name: label, exact: true })
    await preview.getByText('Aurora').first().waitFor()
    await named('Name').fill('Aurora Two')
    await preview.getByText('Aurora Two').first().waitFor()
    const picture = { name: 'shoe.png', mimeType: 'image/png', buffer: await page.screenshot() }
    const files = page.getByRole('group', { name: 'Add pictures' }).getByLabel('Files')
    await files.setInputFiles({ ...picture, buffer: Buffer.from('no picture') })
    await page.getByText(/^shoe.png: /).waitFor()
    await files.setInputFiles(picture)
    await page.getByText('Say what it shows.').waitFor()
    await page.getByLabel('What picture 1 shows').fill('A blue shoe')
    await named('Description').fill('Runs **by itself**.')
    await page.getByRole('group', { name: 'Language of description' }).getByRole('button', { name: 'German' }).click()
    await named('Description').fill('Läuft von selbst.')
    await page.getByLabel('a look of its own').check()
    await named('Shop').fill('Halfway Running')
    await named('Accent').fill('#ffcc00')
    await page.getByText('Light: 13.9 : 1 on it').waitFor()
    await page.getByRole('button', { name: 'Add a fee' }).click()
    await page.getByLabel('Name of the fee').fill('Service')
    await page.getByLabel('How much, Service').fill('2.50')
    // The bill follows what is typed.
    await page.getByText('€380.50').waitFor()
    await preview.getByText('Halfway Running').first().waitFor()
    await preview.locator('img[src*="/images/"]').first().waitFor({ state: 'attached' })
    const phone = page.getByRole('region', { name: 'On a phone' })
    await phone.getByLabel('Page').selectOption('Their turn')
    await preview.getByText('43', { exact: true }).first().waitFor()
    expect(await faultsOf(page, { exclude: ['iframe'] })).toEqual([])
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'What is saved' })
    await dialog.getByRole('row', { name: /^Aurora Two: name Aurora Aurora Two/ }).waitFor()
    await dialog.getByRole('button', { name: /^Save \d/ }).click()
    await page.getByText(`${sale} is saved.`).waitFor()

    const { products, ...saved } = await readSale()
    const size = (value: string, more: object) => ({ variant_id: `aurora-${value}`, options: { Size: value }, ...more })
    expect(products).toMatchObject([
      {
        product_id: 'aurora',
        name: 'Aurora Two',
        total: 0,
        description: { en: 'Runs **by itself**.', de: 'Läuft von selbst.' },
        images: [{ url: expect.stringMatching(/^\/images\/[0-9a-f]{32}$/), alt: 'A blue shoe' }],
        options: [{ name: 'Size', values: ['41', '42', '43'] }],
        variants: [
          size('41', { total: 5, unit_price_minor: 18_900, sku: 'A1-41' }),
          size('42', { total: 12, unit_price_minor: 18_900 }),
          size('43', { total: 7, unit_price_minor: 19_900 }),
        ],
      },
    ])
    expect(saved).toMatchObject({
      brand: { shop: 'Halfway Running', accent: '#ffcc00' },
      fees: [{ name: 'Service', amount_minor: 250, per: 'order', included: false }],
    })
  })

  test('an operator makes promo codes, one by hand, and a list with a line that is wrong', async ({
    newPage,
    expect,
  }) => {
    const page = await newPage({ viewport: DESK })
    await signIn(page, system, `gia-${sale}`, 'operator')
    await page.goto(`${system.originUrl}/console/sales/${sale}/promo-codes`)
    const editor = page.getByRole('form', { name: 'A new code' })
    await page.getByRole('button', { name: 'Add a code' }).first().click()
    await editor.getByRole('textbox', { name: 'Code' }).fill('spring')
    await editor.getByRole('textbox', { name: 'Off' }).fill('20')
    await editor.getByRole('textbox', { name: 'Uses in all' }).fill('100')
    // The editor says what an order costs with it.
    await editor.getByText('− €37.80').waitFor()
    // A second operator adds a code after the console has read the list, and neither change is lost.
    let isOvertaken = false
    await page.route('**/promo-codes', async (route) => {
      const isFirst = route.request().method() === 'PUT' && !isOvertaken
      isOvertaken ||= isFirst
      if (isFirst) await admin(system, 'PUT', `/sales/${sale}/promo-codes`, [{ code: 'OTHER', percent: 5 }])
      await route.continue()
    })
    await editor.getByRole('button', { name: 'Add the code' }).click()
    await page.getByText('SPRING can be used.').waitFor()
    await page.getByText('2 codes, used 0 times').waitFor()
    await page.getByRole('row', { name: /^SPRING .* 0 of 100 / }).waitFor()
    // An import says what it understood, and changes nothing while a line is wrong.
    await page.getByRole('button', { name: 'Import' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import codes' })
    await dialog.getByRole('button', { name: 'Paste a list' }).click()
    const list = dialog.getByRole('textbox', { name: 'The list' })
    const lines =
      'code,percent,amount_minor,uses,uses_per_visitor,from,until,products\nSPRING,20,,100,,,,\nCLUB,,500,,1,,,aurora'
    await list.fill(lines.replace('20,', '120,'))
    await dialog.getByRole('button', { name: 'Read it' }).click()
    await dialog.getByText('1 line is refused: nothing is imported.').waitFor()
    await dialog.getByRole('row', { name: /^2 SPRING percent at most 100/ }).waitFor()
    expect(await dialog.getByRole('button', { name: 'Import 1 code' }).isDisabled()).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    await list.fill(lines)
    await dialog.getByRole('button', { name: 'Read it' }).click()
    await dialog.getByText('1 new, 0 changed, 1 as they are; OTHER, never used, go').waitFor()
    await dialog.getByRole('button', { name: 'Import 2 codes' }).click()
    await page.getByText('The sale has 2 codes now.').waitFor()
    await page.getByLabel('Search codes').fill('club')
    await page.getByRole('row', { name: /^CLUB .*€5\.00/ }).waitFor()
    expect(await faultsOf(page, { exclude: ['iframe'] })).toEqual([])
    const codes = await eventually(
      () => readSale('/promo-codes'),
      ({ codes }) => codes.length === 2,
    )
    expect(codes.codes).toMatchObject([
      { code: 'SPRING', percent: 20, uses: 100, used: 0 },
      { code: 'CLUB', amount_minor: 500, uses_per_visitor: 1, products: ['aurora'] },
    ])
  })
})
