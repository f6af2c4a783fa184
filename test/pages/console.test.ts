/**
 * The console in a real browser: signing in, a live sale, an order, and each page. console.long.test.ts has the other
 * stories.
 */
import { describe } from 'vitest'
import { NO_CONTACT } from '../../shared/api/operators/sale-config.ts'
import { DESK, faultsOf, PHONE } from '../lib/axe.ts'
import { PRODUCT, useConsoleStories } from '../lib/console-stories.ts'
import { storyTest } from '../lib/in-browser.ts'
import { followLink, goWithin, openMenu, signIn } from '../lib/in-console.ts'
import { hasBrowser } from '../run/shared-part.ts'

const PAGES_OF_SALE = ['/edit', '/goods', '/promo-codes', '/scheduled', '/access', '/invitations', '/report']
const OTHER_PAGES = ['', '/sales/new', '/orders', '/queues', '/webhooks', '/findings', '/operators', '/nothing']
/**
 * The browser reports each response that refuses an operator's request, and fields of previews that would take the
 * focus.
 */
const test = storyTest(/the server responded with a status of 4|^Blocked autofocusing/)

describe.skipIf(!hasBrowser)('the console', { concurrent: true }, () => {
  const { system, consoleUrl, operator, newSale, buy } = useConsoleStories()

  test('an operator follows a sale, pauses it with a reason by keyboard, and resumes it', async ({
    newPage,
    expect,
  }) => {
    const { sale, name } = await newSale()
    const page = await newPage({ viewport: PHONE })
    await signIn(page, system(), 'ada', 'operator')
    await page.getByLabel('Search').fill('nothing like it')
    await page.getByText('No sale has these words.').waitFor()
    await page.getByLabel('Search').fill(`${sale} fri`)
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByText('0 sold + 0 held + 100 free = 100').waitFor()
    // The page updates itself.
    await operator('POST', `/sales/${sale}/products/red/restock`, { quantity: 5 })
    await page.getByText('0 sold + 0 held + 105 free = 105').waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Pause' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(
      await page.evaluate(
        'document.activeElement.ariaKeyShortcuts ?? document.activeElement.getAttribute("aria-keyshortcuts")',
      ),
    ).toBe('P')
    await page.keyboard.press('Enter')
    // If no reason is needed, Enter is enough.
    await page.keyboard.press('Enter')
    const toast = page.getByRole('status')
    await toast.getByText(`${name} is paused. Everybody keeps their place.`).waitFor()
    await toast.getByRole('button', { name: 'Undo' }).click()
    await toast.getByText(`${name} goes on.`).waitFor()
    // The key of the page opens the dialog, once the page shows that the sale goes on, and a number chooses the reason.
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('p')
    await dialog.waitFor()
    await page.keyboard.press('1')
    expect(await dialog.getByRole('radio', { name: 'Payments are slow' }).isChecked()).toBe(true)
    await dialog.getByRole('button', { name: 'German' }).click()
    await dialog.getByText('Das Bezahlen dauert länger.').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await dialog.getByText('In words of your own').click()
    await dialog.getByRole('textbox', { name: 'English' }).fill('We check the payments.')
    await dialog.getByRole('button', { name: 'Pause now' }).click()
    await page.getByLabel('What visitors read').getByText('We check the payments.').waitFor()
    await page.getByRole('button', { name: 'Resume' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    // The typed text stays when the page below is rendered again.
    await page.getByRole('button', { name: /^Rate 10/ }).click()
    const rate = page.getByRole('dialog', { name: 'Change rate' })
    await rate.getByLabel('People a second').fill('25')
    await operator('POST', `/sales/${sale}/products/red/restock`, { quantity: 5 })
    await page.getByText('0 sold + 0 held + 110 free = 110').waitFor()
    await rate.getByRole('button', { name: 'Change rate' }).click()
    await page.getByRole('button', { name: /^Rate 25/ }).waitFor()
    await toast.getByText('25 people a second are called now, instead of 10.').waitFor()
    expect(await faultsOf(page)).toEqual([])
    // The audit log names the operator.
    await followLink(page, 'Audit of the sale')
    await page.getByText('ada raised the rate from 10 to 25 a second.', { exact: true }).waitFor()
    await page.getByText('ada paused the sale: “We check the payments.”', { exact: true }).waitFor()
    await page.getByText('admin added 5 units of Red: 55 are now 60.', { exact: true }).waitFor()
    await page.getByText('rate_per_second').first().waitFor({ state: 'hidden' })
    await page.getByText('1 field', { exact: true }).first().click()
    await page.getByRole('row', { name: 'rate_per_second 10 25' }).waitFor()
    await openMenu(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Your key').waitFor()
  })

  test('an operator finds an order by a mistyped mail, refunds a part of it, and reads that in its story', async ({
    newPage,
    expect,
  }) => {
    const { sale } = await newSale({ products: [PRODUCT], contact: { ...NO_CONTACT, email: 'required' } })
    const email = `mary.poppins@${sale}.example`
    await buy(sale, email)
    // An order can be found about a second after it was made.
    await expect.poll(() => operator('GET', `/orders?q=${email}`)).toMatchObject({ orders: [{}] })
    const page = await newPage({ viewport: PHONE })
    await signIn(page, system(), 'ida', 'operator')
    await followLink(page, 'Orders')
    const field = page.getByLabel('Find an order')
    // A search that is followed by another one keeps no connection of the browser busy.
    await page.route(/[?&]q=never$/, () => {})
    const ended: (string | null)[] = []
    for (const end of ['requestfailed', 'requestfinished'] as const)
      page.on(end as 'requestfailed', (one) => ended.push(new URL(one.url()).searchParams.get('q')))
    await field.fill('never')
    await field.fill('mary')
    await expect.poll(() => ended).toContain('mary')
    expect(ended.filter((q) => q === 'never' || q === 'mary')).toEqual(['never', 'mary'])
    await field.fill('mary.popins')
    const found = page.getByRole('row', { name: email })
    await found.getByText('€25.00', { exact: true }).waitFor()
    expect(page.url()).toContain('q=mary.popins')
    // A chosen order can be exported, refunded and so on together with others.
    await found.getByRole('checkbox').check()
    await page.getByRole('region', { name: '1 order chosen' }).getByRole('button', { name: 'Cancel' }).click()
    const cancelling = page.getByRole('dialog', { name: 'Cancel' })
    await cancelling.getByText('There is no undo.').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await cancelling.getByRole('button', { name: 'Go back' }).click()
    await page.getByRole('link', { name: email }).click()
    await page.getByText('Paid', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Refund' }).click()
    const dialog = page.getByRole('dialog', { name: 'Refund' })
    await dialog.getByLabel('Amount in EUR').fill('99')
    await dialog.getByRole('button', { name: 'Refund' }).click()
    await dialog.getByRole('alert').getByText('At most €25.00 is left.').waitFor()
    await dialog.getByLabel('Amount in EUR').fill('4,50')
    await dialog.getByLabel('Reason').fill('a scratch')
    await dialog.getByRole('button', { name: 'Refund €4.50', exact: true }).click()
    await page.getByText('ida refunded €4.50 of the order: a scratch').waitFor()
    // The page shows changes that are still to come.
    await page.getByText('€4.50 went back to the buyer').waitFor()
    await page.getByRole('heading', { level: 1, name: '€25.00' }).waitFor()
    await page.getByText('€4.50 was given back').waitFor()
    // The order's visitor can be blocked, which the order shows.
    const more = page.getByRole('button', { name: /^More/ })
    await more.click()
    await page.getByRole('button', { name: 'Block the buyer', exact: true }).click()
    const blocking = page.getByRole('dialog', { name: 'Block the buyer' })
    await blocking.getByLabel('Note').fill('a reseller')
    await blocking.getByRole('button', { name: 'Block the buyer' }).click()
    await page.getByText('The buyer can join no sale.').waitFor()
    await page.getByText(/^The buyer is blocked since .*: a reseller$/).waitFor()
    await more.click()
    await page.getByRole('button', { name: 'Unblock the buyer' }).click()
    await page
      .getByRole('dialog', { name: 'Unblock the buyer' })
      .getByRole('button', { name: 'Unblock the buyer' })
      .click()
    await page.getByText('The buyer is blocked').waitFor({ state: 'hidden' })
    expect(await faultsOf(page)).toEqual([])
    await page.goBack()
    expect(await field.inputValue()).toBe('mary.popins')
    await page.getByRole('button', { name: 'mary.popins' }).waitFor()
  })

  test('each page opens', async ({ newPage }) => {
    const { sale } = await newSale()
    const page = await newPage({ viewport: DESK })
    await signIn(page, system(), 'olga', 'owner')
    for (const path of [...PAGES_OF_SALE.map((path) => `/sales/${sale}${path}`), ...OTHER_PAGES])
      await goWithin(page, `${consoleUrl()}${path}`)
  })
})
