/**
 * The hall in the console in a real browser: sections and imports, blocks, the box office and moves. Each page is
 * checked by axe.
 */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe } from 'vitest'
import { DESK, faultsOf } from '../lib/axe.ts'
import { storyTest } from '../lib/in-browser.ts'
import { signIn } from '../lib/in-console.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import type { RunSystem } from '../run/one-system.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const HEADER = 'seat_id,row,number,place,x,y,category,kind,price_minor'

/** A sale has no hall before its first section, and the browser reports that response. */
const test = storyTest(/the server responded with a status of 4/)

/** A list of rows with six seats each. */
const listOf = (...rows: string[]) =>
  [
    HEADER,
    ...rows.flatMap((row, y) =>
      Array.from(
        { length: 6 },
        (_, i) => `${row}-${i + 1},${row},${i + 1},${i},${20 * i},${30 * y},front,standard,2000`,
      ),
    ),
  ].join('\n')

describe.skipIf(!hasBrowser)('the hall in the console', () => {
  const sale = `hall-${randomUUID().slice(0, 8)}`
  let system: RunSystem
  let saleUrl: string
  beforeAll(async () => {
    system = await sharedPart('system')
    saleUrl = `${system.originUrl}/console/sales/${sale}`
    const product = { product_id: 'cap', name: 'Cap', unit_price_minor: 2500, currency: 'EUR', total: 50, buffer: 0 }
    await createSale(system, sale, saleOf(0, { name: `Concert ${sale}`, products: [product] }))
  })

  test('an operator imports a hall, and blocks and releases seats', async ({ newPage, expect }) => {
    const page = await newPage({ viewport: DESK })
    await signIn(page, system, `olga-${sale}`, 'operator')

    // The first section is reached through the sale's form.
    await page.goto(`${saleUrl}/edit`)
    await page.getByRole('link', { name: 'Sell seats or standing places' }).click()
    const dialog = page.getByRole('dialog')
    for (const [name, type] of [
      ['Stalls', 'reserved'],
      ['Floor', 'general_admission'],
    ] as const) {
      await page.getByRole('button', { name: 'New section' }).click()
      await dialog.getByLabel('Name, as visitors read it').fill(name)
      await dialog.getByLabel('Kind').selectOption(type)
      await dialog.getByLabel('Price').fill('15')
      if (type === 'general_admission') await dialog.getByRole('spinbutton', { name: 'Places' }).fill('5')
      await dialog.getByRole('button', { name: 'New section' }).click()
      await page.getByText(`${name} is a section of the hall now.`).waitFor()
    }

    await page.getByRole('link', { name: 'Import seats of Stalls' }).click()
    const list = page.getByLabel('Or paste the list')
    await list.fill(listOf('A', 'B').replace(',front,standard,2000', ',front,sofa,2000'))
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('1 thing is wrong in the list').waitFor()
    await page.getByText('line 2: kind').waitFor()
    await list.fill(listOf('A', 'B'))
    await page.getByRole('button', { name: 'Preview' }).click()
    const importing = page.getByRole('region', { name: 'Import', exact: true })
    await importing.getByRole('button', { name: 'Import' }).click()
    await dialog.getByText('12 seats are added, 0 change, 0 are removed').waitFor()
    await dialog.getByRole('button', { name: 'Import' }).click()
    await page.getByText('Stalls: 12 added, 0 changed, 0 removed.').waitFor()

    // Seats are chosen by name, and by the map's keys: the next one, and then the one behind it.
    const legend = page.getByRole('list', { name: 'States of the seats on the map' })
    await legend.getByText('12 free').waitFor()
    await page.getByRole('textbox', { name: 'Seats' }).fill('1-2')
    await page.getByRole('button', { name: 'Add these seats' }).click()
    await page.getByText('Stalls, row A: 1–2').waitFor()
    await page.getByRole('application', { name: 'Map of the hall' }).focus()
    for (const press of ['ArrowRight', 'ArrowDown', ' ']) await page.keyboard.press(press)
    await page.getByText('Stalls, row B: 1').waitFor()
    await page.getByRole('button', { name: 'Block 3', exact: true }).click()
    await dialog.getByLabel('Why').fill('for the camera')
    await dialog.getByRole('button', { name: 'Block 3 seats' }).click()
    await legend.getByText('3 blocked').waitFor()
    await page.getByRole('row', { name: `for the camera blocked by olga-${sale}` }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'None' }).click()
    await page.getByRole('button', { name: 'Choose 3 seats off sale: for the camera' }).click()
    await page.getByRole('button', { name: 'Release 3 seats' }).click()
    await dialog.getByRole('button', { name: 'Release 3 seats' }).click()
    await legend.getByText('0 blocked').waitFor()
    // The three get a price of their own, then one of them is held back until a time, and its story tells both.
    await page.getByRole('button', { name: 'Sell 3 for €60.00' }).waitFor()
    await page.getByRole('form', { name: 'Price and category' }).getByLabel('Price').fill('24.50')
    await page.getByRole('button', { name: 'Set for 3' }).click()
    await page.getByText('3 seats are changed.').waitFor()
    // The seats stay chosen in the new chart, with their new price.
    await page.getByRole('button', { name: 'Sell 3 for €73.50' }).waitFor()
    await page.getByRole('button', { name: 'None' }).click()
    await page.getByRole('textbox', { name: 'Seats' }).fill('1')
    await page.getByRole('button', { name: 'Add these seats' }).click()
    await page.getByRole('button', { name: 'Sell 1 for €24.50' }).waitFor()
    await page.getByRole('button', { name: 'Hold 1 back' }).click()
    await dialog.getByLabel('For whom').fill('for guests')
    await dialog.getByLabel('Until').fill('2040-01-01T18:00:00')
    await dialog.getByRole('button', { name: 'Hold 1 back' }).click()
    await page.getByRole('row', { name: /^for guests held back by .* until Jan 1, 2040/ }).waitFor()
    const story = page.getByRole('region', { name: 'Row A, seat 1' })
    await story.getByText('set the price to €24.50').waitFor()
    await story.getByText('took it out of sale: for guests').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.goto(`${saleUrl}/hall/import?section=stalls`)
    await page.getByRole('heading', { name: 'Import the seats of Stalls' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('an operator sells a seat at the box office, moves its buyer, and finds the order by the seat', async ({
    newPage,
    expect,
  }) => {
    const page = await newPage({ viewport: DESK })
    await signIn(page, system, `otto-${sale}`, 'operator')
    await page.goto(`${saleUrl}/hall`)
    await page.getByRole('link', { name: 'Box office' }).click()
    const dialog = page.getByRole('dialog')
    await page.getByRole('textbox', { name: 'Seats' }).fill('6')
    await page.getByRole('button', { name: 'Add these seats' }).click()
    await page.getByLabel('What').selectOption('Floor')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByLabel('What').selectOption('Cap')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('€100.00', { exact: true }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Sell', exact: true }).click()
    await dialog.getByLabel('Note').fill('in cash')
    await dialog.getByRole('button', { name: 'Sell for €100.00' }).click()
    await page.getByRole('region', { name: 'Sold' }).getByText('Stalls, row A, seat 6').waitFor()
    await page.getByRole('region', { name: 'Sold' }).getByRole('link').click()

    await page.getByRole('heading', { level: 1, name: '€100.00' }).waitFor()
    const lines = page.getByRole('list', { name: 'Lines' })
    await lines.getByText('Stalls, row A, seat 6').first().waitFor()
    await page.getByText('in cash').first().waitFor()
    await page.getByRole('link', { name: 'Move Stalls, row A, seat 6' }).click()
    await page.getByRole('combobox', { name: 'Row' }).selectOption('B')
    await page.getByRole('textbox', { name: 'Seats' }).fill('5')
    await page.getByRole('button', { name: 'Add these seats' }).click()
    await page.getByRole('button', { name: 'Move here' }).click()
    await dialog.getByRole('button', { name: 'Move here' }).click()
    await page.getByText('The buyer has Stalls, row B, seat 5.').waitFor()
    await lines.getByText('Stalls, row B, seat 5').first().waitFor()

    // An operator who finds the seat finds its order.
    await page.goto(`${saleUrl}/hall`)
    await page.getByRole('combobox', { name: 'Row' }).selectOption('B')
    await page.getByRole('textbox', { name: 'Seats' }).fill('5')
    await page.getByRole('button', { name: 'Add these seats' }).click()
    await page
      .getByRole('region', { name: 'Row B, seat 5' })
      .getByRole('link', { name: /^order/ })
      .click()
    await lines.getByText('Stalls, row B, seat 5').first().waitFor()
  })
})
