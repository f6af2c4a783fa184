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
    await page.getByLabel('Name', { exact: true }).fill(sale)
    await page.getByLabel('Name of the product').fill('Aurora One')
    await page.getByLabel('Product id').fill('aurora')
    await page.getByLabel('Price', { exact: true }).fill('189')
    await page.getByRole('button', { name: 'Goods, brand, delivery' }).click()
    await page.getByRole('button', { name: 'Add an option, such as sizes' }).click()
    await page.getByLabel('Values').fill('41, 42')
    await page.getByLabel('Units of 41').fill('5')
    await page.getByLabel('SKU of 41').fill('A1-41')
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByText('One field is not right yet.').waitFor()
    expect(await page.evaluate('document.activeElement.name')).toBe('products.0.variants.1.total')
    await page.getByLabel('Units of each').fill('12')
    await page.getByRole('button', { name: 'Set for all 2' }).click()
    await page.getByLabel('Units of 41').fill('5')
    await page.getByLabel('Values').fill('41, 42, 43')
    await page.getByLabel('Units of 43').fill('3')
    await page.getByLabel('Price of 43').fill('199')
    await page.getByText('20 units in all.').waitFor()
    // The preview shows the sale as buyers will see it, before it exists.
    await previewOn(page).getByText('Aurora One').first().waitFor()
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByRole('heading', { name: sale, exact: true }).waitFor()

    // The stock is listed by variant, and one variant gets more.
    const stock = page.getByRole('region', { name: 'Stock' })
    await stock.getByRole('row', { name: /^43 / }).waitFor()
    await stock.getByRole('button', { name: 'Restock' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Product').selectOption('Aurora One, 43')
    await dialog.getByLabel('More units').fill('4')
    await dialog.getByRole('button', { name: 'Restock' }).click()
    await page.getByText('4 more units of Aurora One, 43 are for sale.').waitFor()
  })

  test('an operator fills in its goods, which the preview shows as they are typed', async ({ newPage, expect }) => {
    const page = await newPage({ viewport: DESK })
    await signIn(page, system, `gil-${sale}`, 'operator')
    await page.goto(`${system.originUrl}/console/sales/${sale}/goods`)
    const [preview, dialog] = [previewOn(page), page.getByRole('dialog')]
    await preview.getByText('Aurora One').first().waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Aurora Two')
    await preview.getByText('Aurora Two').first().waitFor()
    const picture = { name: 'shoe.png', mimeType: 'image/png', buffer: await page.screenshot() }
    const files = page.getByRole('group', { name: 'Add pictures' }).getByLabel('Files')
    await files.setInputFiles({ ...picture, buffer: Buffer.from('no picture') })
    await page.getByText(/^shoe.png: /).waitFor()
    await files.setInputFiles(picture)
    await page.getByLabel('What picture 1 shows').fill('A blue shoe')
    await page.getByLabel('Description', { exact: true }).fill('Runs **by itself**.')
    await page.getByLabel('Language of description').selectOption('German')
    await page.getByLabel('Description', { exact: true }).fill('Läuft von selbst.')
    await page.getByRole('heading', { name: 'Brand', exact: true }).click()
    await page.getByLabel('The sale has a look of its own').check()
    await page.getByLabel('Name of the shop').fill('Halfway Running')
    await page.getByLabel('Accent', { exact: true }).fill('#ffcc00')
    await page.getByText('Black text on it has a contrast of 13.9 to 1.').waitFor()
    await page.getByRole('heading', { name: 'Fees and tax', exact: true }).click()
    await page.getByRole('button', { name: 'Add a fee' }).click()
    await page.getByRole('group', { name: 'Fee 1' }).getByLabel('Name').fill('Service')
    await page.getByLabel('Amount (EUR)').fill('2.50')
    await page.getByRole('heading', { name: 'Delivery', exact: true }).click()
    await page.getByLabel('How an order reaches its buyer').selectOption('it is sent to an address')
    await page.getByLabel('Countries').fill('de, at')
    await preview.getByText('Halfway Running').first().waitFor()
    await preview.locator('img[src*="/images/"]').first().waitFor({ state: 'attached' })
    await page.getByRole('complementary', { name: 'Preview' }).getByLabel('Page').selectOption('Their turn')
    await preview.getByText('43', { exact: true }).first().waitFor()
    expect(await faultsOf(page, { exclude: ['iframe'] })).toEqual([])
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    expect(await dialog.textContent()).toMatch(/products\.aurora\.name\s+Aurora One\s+→\s+Aurora Two/)
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
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
      delivery: { kind: 'address', countries: ['DE', 'AT'] },
    })
  })

  test('an operator makes promo codes, one by hand, and a list with a line that is wrong', async ({
    newPage,
    expect,
  }) => {
    const page = await newPage({ viewport: DESK })
    await signIn(page, system, `gia-${sale}`, 'operator')
    await page.goto(`${system.originUrl}/console/sales/${sale}/promo-codes`)
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Add a code' }).click()
    await dialog.getByRole('textbox', { name: /^Code/ }).fill('spring')
    await dialog.getByLabel('Percent').fill('20')
    await dialog.getByLabel('Uses in all').fill('100')
    // A second operator adds a code after the console has read the list, and neither change is lost.
    let isOvertaken = false
    await page.route('**/promo-codes', async (route) => {
      const isFirst = route.request().method() === 'PUT' && !isOvertaken
      isOvertaken ||= isFirst
      if (isFirst) await admin(system, 'PUT', `/sales/${sale}/promo-codes`, [{ code: 'OTHER', percent: 5 }])
      await route.continue()
    })
    await dialog.getByRole('button', { name: 'Add a code' }).click()
    await page.getByText('SPRING can be used.').waitFor()
    await page.getByText('2 codes, used 0 times').waitFor()
    await page.getByText('0 of 100').waitFor()
    const list = page.getByLabel('Or paste the list')
    const lines =
      'code,percent,amount_minor,uses,uses_per_visitor,from,until,products\nSPRING,20,,100,,,,\nCLUB,,500,,1,,,aurora'
    await list.fill(lines.replace('20,', '120,'))
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('region', { name: 'Import' }).getByText('line 2').waitFor()
    await list.fill(lines)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('The sale has 2 codes now.').waitFor()
    await page.getByLabel('Search').fill('club')
    await page.getByText('5.00 EUR').waitFor()
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
