/** Views, filters and bulk actions of the orders in the console, in a real browser. */
import { describe } from 'vitest'
import { DESK, faultsOf } from '../lib/axe.ts'
import { useConsoleStories } from '../lib/console-stories.ts'
import { storyTest } from '../lib/in-browser.ts'
import { signIn } from '../lib/in-console.ts'
import { hasBrowser } from '../run/shared-part.ts'

const test = storyTest(/the server responded with a status of 4/)

describe.skipIf(!hasBrowser)('the orders in the console', () => {
  const { system, consoleUrl, operator, newSale, buy } = useConsoleStories()

  test('an operator filters orders, keeps a view, cancels those chosen, and blocks and unblocks their buyers', async ({
    newPage,
    expect,
  }) => {
    const { sale, name } = await newSale()
    const ids = await Promise.all(['ann', 'ben', 'cem'].map((who) => buy(sale, `${who}@${sale}.example`)))
    const counts = () => operator<{ counts: { confirmed: number } }>('GET', `/orders/counts?sale=${sale}`)
    await expect.poll(async () => (await counts()).counts.confirmed).toBe(3)
    await operator('POST', `/orders/${ids[0]}/fulfil`)
    const page = await newPage({ viewport: DESK })
    await signIn(page, system(), 'otto', 'operator')
    await page.goto(`${consoleUrl()}/orders`)
    // A chip opens a choice, which goes once something is chosen.
    await page.getByRole('button', { name: 'Sale', exact: true }).click()
    await page.getByLabel('Name or id of the sale').fill(sale)
    await page.getByRole('dialog', { name: 'Sale' }).getByRole('button', { name }).click()
    await page.getByRole('button', { name: `Sale: ${name}` }).waitFor()
    await page.getByRole('button', { name: 'Made', exact: true }).click()
    await page.getByRole('button', { name: 'Today', exact: true }).click()
    await page.getByRole('link', { name: 'Paid 3' }).click()
    expect(new URL(page.url()).searchParams.get('status')).toBe('confirmed,fulfilled')
    expect(await faultsOf(page)).toEqual([])

    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Paid today')
    await page.getByRole('dialog').getByRole('button', { name: 'Save this view' }).click()
    await page.getByRole('link', { name: 'Paid today' }).waitFor()
    await page.getByRole('button', { name: 'Remove this view' }).waitFor()

    await page.getByLabel('Choose all orders shown').check()
    const bar = page.getByRole('region', { name: '3 orders chosen' })
    await bar.getByRole('button', { name: 'Cancel' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel' })
    await dialog.getByText('Left out, as it is sent, and can only be refunded').waitFor()
    await dialog.getByRole('button', { name: 'Cancel 2 orders' }).click()
    await page.getByRole('status').getByText('2 orders are cancelled.').waitFor()
    await dialog.waitFor({ state: 'hidden' })
    const orders = await Promise.all(ids.map((id) => operator('GET', `/orders/${id}`)))
    expect(orders.map(({ status }) => status)).toEqual(['fulfilled', 'cancelled', 'cancelled'])

    await page.getByLabel('Choose all orders shown').check()
    await page.getByRole('button', { name: 'Block the buyers' }).click()
    const blocking = page.getByRole('dialog', { name: 'Block the buyers' })
    await blocking.getByRole('button', { name: /^Block the buyers of/ }).click()
    await page
      .getByRole('status')
      .getByText(/can join no sale/)
      .waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('status').getByText('It is undone.').waitFor()
    expect(await operator('GET', '/blocks')).toMatchObject({ blocks: [] })
  })
})
