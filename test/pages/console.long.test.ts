/**
 * Further stories of the console in a real browser. Axe checks every page once, in a story that fills it or in the last
 * one; console-looks.long.test.ts has other looks.
 */
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { describe } from 'vitest'
import { summaryOf } from '../../origin/report/health/sale-health.ts'
import { fine, wrongs } from '../../origin/report/testing.ts'
import { NO_CONTACT } from '../../shared/api/operators/sale-config.ts'
import { DESK, faultsOf, PHONE } from '../lib/axe.ts'
import { BLUE, PRODUCT, useConsoleStories } from '../lib/console-stories.ts'
import { eventually } from '../lib/eventually.ts'
import { storyTest } from '../lib/in-browser.ts'
import { actsOn, followLink, goWithin, signIn } from '../lib/in-console.ts'
import { saleOf } from '../lib/samples.ts'
import { hasBrowser } from '../run/shared-part.ts'
import { useReceiver, verify } from '../stand-ins/receiver.ts'

/** The pages that no other story checks. */
const PAGES_OF_SALE = ['/edit', '/preview', '/scheduled', '/access']
const OTHER_PAGES = ['', '/orders', '/queues', '/findings', '/operators', '/nothing']
/**
 * The browser reports each response that refuses an operator's request, and fields of previews that would take the
 * focus.
 */
const test = storyTest(/the server responded with a status of 4|^Blocked autofocusing/)

const receiver = useReceiver()

describe.skipIf(!hasBrowser)('the console', { concurrent: true }, () => {
  const { system, consoleUrl, operator, newSale, buy } = useConsoleStories()

  test('sales of one name are told apart; one that is not there is a page; a report prints without the console', async ({
    newPage,
    expect,
  }) => {
    const name = `Twins ${randomUUID()}`
    const [one, other] = [await newSale({ name }), await newSale({ name })]
    const page = await newPage({ viewport: DESK })
    await signIn(page, system(), 'tina', 'viewer')
    await page.getByLabel('Search').fill(name)
    for (const { sale } of [one, other]) await page.getByRole('listitem').getByText(sale, { exact: true }).waitFor()
    await page.goto(`${consoleUrl()}/orders`)
    await page.getByRole('button', { name: 'Sale', exact: true }).click()
    await page.getByLabel('Name or id of the sale').fill(name)
    const offered = page.getByRole('list', { name: 'Sales' }).getByRole('button').filter({ hasText: name })
    for (const { sale } of [one, other]) await offered.filter({ hasText: sale }).waitFor()
    await page.goto(`${consoleUrl()}/sales/${other.sale}/report`)
    const visitors = page.getByRole('link', { name: 'Visitors’ page' })
    expect(await visitors.getAttribute('href')).toBe(`${system().edgeUrl}/sales/${other.sale}`)
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('navigation').count()).toBe(0)
    await page.emulateMedia({ media: 'screen' })
    expect(await page.getByRole('navigation').count()).toBe(2)

    const response = await page.goto(`${consoleUrl()}/sales/nope`)
    expect(response?.status()).toBe(404)
    await page.getByRole('heading', { level: 1, name: 'There is no sale nope' }).waitFor()
    await page.getByRole('link', { name: 'See all sales' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sales' }).waitFor()
  })

  test('an operator creates a sale, edits it while it runs, and copies it', async ({ newPage, expect }) => {
    const page = await newPage({ viewport: DESK })
    await signIn(page, system(), 'nora', 'operator')
    await page.goto(`${consoleUrl()}/sales/new`)
    const named = (label: string) => page.getByRole('textbox', { name: label, exact: true })
    const name = named('Name')
    const [title, id] = ['Night Swim', 'night-swim']
    await name.fill(title)
    expect(await named('Id').inputValue()).toBe(id)
    // Each field shows its error when it loses the focus, in the words of the API.
    await named('Most for one visitor').fill('0')
    await name.focus()
    await page.getByText('At least 1.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create the sale' }).click()
    expect(await page.evaluate('document.activeElement.name')).toBe('products.0.name')
    await page
      .getByRole('link', { name: /^Stock and limits/ })
      .getByText('wrong')
      .waitFor()
    await named('Most for one visitor').fill('2')
    // The id of a product follows its name, and nobody must type it.
    await named('Product').fill('Vinyl')
    expect(await named('Product id').inputValue()).toBe('vinyl')
    await named('Price').fill('42.50')
    await named('Units').fill('10000')
    await page.getByRole('region', { name: 'What comes of it' }).getByText('Sold out at about').waitFor()
    await page.getByRole('checkbox', { name: 'name the seller' }).check()
    await named('Seller').fill('Halfway Ltd')
    await named('Address').fill('Harbour Street 4\n10115 Berlin')
    await page.getByRole('button', { name: 'Goods, brand, delivery' }).click()
    await page.getByRole('button', { name: 'Add a tax on the prices' }).click()
    await page.getByLabel('Name of the tax').fill('VAT')
    await page.getByLabel('Percent').fill('7.7')
    // The bill is the one that an order will have.
    await page.getByText('€85.00').first().waitFor()
    expect(await faultsOf(page, { exclude: ['iframe'] })).toEqual([])
    await page.getByRole('button', { name: 'The sale', exact: true }).click()
    await page.getByLabel('Opens', { exact: true }).fill('2020-01-01T12:00:00')
    await page.getByText('This is in the past: the sale opens at once.').waitFor()
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByRole('heading', { name: title, exact: true }).waitFor()

    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await named('Called').fill('80')
    await page.getByText('Was 50 a second.').waitFor()
    await page.getByText('The line moves faster.').waitFor()
    // What was typed is not lost by accident.
    page.once('dialog', (dialog) => void dialog.dismiss())
    await page.getByRole('link', { name: 'Live', exact: true }).click()
    await named('Ends').fill('2040-01-01T13:00:00')
    await page.getByText('2 changes:').waitFor()
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'What is saved' })
    await dialog.getByRole('row', { name: /^Called 50 a second 80 a second the line moves faster/ }).waitFor()
    // What another operator changes meanwhile is kept, and where both changed one field, the operator decides.
    await operator('POST', `/sales/${id}/products/vinyl/restock`, { quantity: 5 })
    const theirs = await operator('GET', `/sales/${id}`)
    await operator('PUT', `/sales/${id}`, { ...theirs, ends_at: '2041-01-01T12:00:00Z' })
    await dialog.getByRole('button', { name: 'Save 2 changes' }).click()
    const verdict = page.getByRole('region', { name: 'Verdict' })
    await verdict.getByText('Not saved: admin changed 2 fields meanwhile.').waitFor()
    await verdict.getByText('Vinyl: units: admin wrote 10,005 units instead of 10,000 units.').waitFor()
    await page.getByRole('link', { name: /^When/ }).getByText('to decide').waitFor()
    expect(await faultsOf(page, { exclude: ['iframe'] })).toEqual([])
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('button', { name: 'Decide one field first' }).click()
    await verdict.getByRole('button', { name: /^Take admin’s/ }).click()
    await page.getByText('1 change:').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('button', { name: 'Save 1 change' }).click()
    await page.getByRole('status').getByText(`${title} is saved.`).waitFor()
    expect(await operator('GET', `/sales/${id}`)).toMatchObject({
      ends_at: '2041-01-01T12:00:00.000Z',
      admission: { rate_per_second: 80 },
    })
    // The message takes it back.
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('status').getByText(`${title} is as before.`).waitFor()
    expect(await named('Called').inputValue()).toBe('50')
    await named('Called').fill('80')
    await page.keyboard.press('Control+s')
    await dialog.getByRole('button', { name: 'Save 1 change' }).click()
    await page.getByRole('status').getByText(`${title} is saved.`).waitFor()

    await page.goto(`${consoleUrl()}/sales/new?copy=${id}`)
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByText('there is a sale with this id already').first().waitFor()
    await name.fill(`${title}, again`)
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByRole('heading', { name: `${title}, again`, exact: true }).waitFor()
    expect(await operator('GET', `/sales/${id}-again`)).toMatchObject({
      phase: 'upcoming',
      limit_per_visitor: 2,
      seller: { name: 'Halfway Ltd', address: 'Harbour Street 4\n10115 Berlin' },
      tax: { name: 'VAT', percent: 7.7 },
      admission: { rate_per_second: 80 },
      products: [{ product_id: 'vinyl', unit_price_minor: 4250, total: 10_005, sold: 0 }],
    })
  })

  test('an operator looks at the pages of a sale in another language, and announces in one', async ({
    newPage,
    expect,
  }) => {
    const { sale, name } = await newSale()
    const page = await newPage({ viewport: DESK })
    const key = await signIn(page, system(), 'lena', 'operator')
    await page.goto(`${consoleUrl()}/sales/${sale}`)
    await page.getByRole('link', { name: 'Preview' }).click()
    const framed = 'iframe[title="sale open"]'
    await page.frameLocator(framed).getByRole('heading', { name, exact: true }).waitFor()
    await page.getByLabel('Language').selectOption('de')
    await page.locator(`${framed}[src*="lang=de"]`).waitFor()
    // The preview is opened in a page of its own, because Playwright may lose a frame whose address changes while it
    // loads.
    const opening = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'sale open', exact: true }).click()
    const opened = await opening
    await opened.getByRole('heading', { name, exact: true }).waitFor()
    expect(await opened.locator('html').getAttribute('lang')).toBe('de')

    await page.goto(`${consoleUrl()}/sales/${sale}`)
    await page.getByRole('button', { name: 'Announce', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Announce' })
    await dialog.getByRole('button', { name: 'Announce now' }).click()
    await dialog.getByRole('alert').getByText('a text in one language is required').waitFor()
    await dialog.getByLabel('Language of the text').selectOption('German')
    await dialog.getByRole('textbox', { name: 'Text', exact: true }).fill('Es geht gleich los.')
    // A session that ends in between loses nothing of what was typed, and signing in again sends nothing.
    await page.context().clearCookies()
    const out = page.getByRole('dialog', { name: 'You were signed out. Nothing is lost.' })
    await out.getByLabel('Your key').fill(key)
    expect(await faultsOf(page)).toEqual([])
    await out.getByRole('button', { name: 'Sign in' }).click()
    await out.waitFor({ state: 'detached' })
    await page.getByText('Nothing beside the page itself.').waitFor()
    await dialog.getByRole('button', { name: 'Announce now' }).click()
    await page.getByLabel('What visitors read').getByText('Es geht gleich los.').waitFor()
  })

  test('an operator writes a post, edits it, puts it on top until a time, takes it off, and retracts it', async ({
    newPage,
    expect,
  }) => {
    const { sale } = await newSale()
    const page = await newPage({ viewport: PHONE })
    await signIn(page, system(), 'fay', 'operator')
    await page.goto(`${consoleUrl()}/sales/${sale}/feed`)
    await page.getByText('Nothing has been posted yet.').waitFor()
    await page.getByRole('button', { name: 'Write a post' }).click()
    const writing = page.getByRole('dialog', { name: 'Write a post' })
    await writing.getByRole('textbox', { name: 'Text', exact: true }).fill('The draw is at 11:00.')
    await writing.getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('button', { name: 'Edit: The draw is at 11:00.' }).click()
    const editing = page.getByRole('dialog', { name: 'Edit the post' })
    await editing.getByRole('textbox', { name: 'Text', exact: true }).fill('The draw is at 12:00.')
    await editing.getByRole('radio', { name: /^On top, as a warning/ }).check()
    await editing.getByRole('radio', { name: /^A time/ }).check()
    expect(await faultsOf(page)).toEqual([])
    await editing.getByRole('button', { name: 'Change the post' }).click()
    const post = page.getByRole('listitem').filter({ hasText: 'The draw is at 12:00.' })
    await post.getByText(/^until /).waitFor()
    await post.getByText('On top now').waitFor()
    await post.getByText(/^edited /).waitFor()
    // The undoing brings back the text and the place.
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('The draw is at 11:00.', { exact: true }).waitFor()
    await page.getByText('On top now').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Retract: The draw is at 11:00.' }).click()
    await page.getByRole('dialog', { name: 'Retract' }).getByRole('button', { name: 'Retract it' }).click()
    await page.getByText(/^retracted /).waitFor()
    expect(await actsOn(page)).toEqual(['Write a post'])
    expect(await faultsOf(page)).toEqual([])
  })

  test('the form never hides what has the focus behind its bar', async ({ newPage, expect }) => {
    const page = await newPage({ viewport: { width: 390, height: 700 } })
    await signIn(page, system(), 'pia', 'operator')
    await page.goto(`${consoleUrl()}/sales/new`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).focus()
    const hidden: string[] = []
    const look = `(({ outerHTML, textContent }, top) => [textContent, top < document.querySelector('.savebar')
      .getBoundingClientRect().top ? null : outerHTML])(document.activeElement, document.activeElement.getBoundingClientRect().top)`
    const LAST = 'Create the sale'
    let focused: string | undefined
    for (let i = 0; i < 120 && focused !== LAST; i++) {
      await page.keyboard.press('Tab')
      const [text, html] = await page.evaluate<[string, string | null]>(look)
      if (html !== null && text !== LAST) hidden.push(html)
      focused = text
    }
    expect(focused).toBe(LAST)
    expect(hidden).toEqual([])
  })

  test('a viewer sees all of it, stock that adds up, and nothing to press', async ({ newPage, expect }) => {
    const opens_at = new Date(Date.now() + 3_600_000).toISOString()
    const { sale, name } = await newSale({ opens_at, products: [{ ...PRODUCT, total: 100, buffer: 10 }] })
    const page = await newPage({ viewport: DESK })
    await signIn(page, system(), 'vic', 'viewer')
    expect(await page.getByRole('link', { name: 'Operators' }).count()).toBe(0)
    await page.getByLabel('Search').fill(sale)
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByText('0 sold + 0 held + 90 free + 10 withheld = 100').waitFor()
    await page.getByText('opens in').waitFor()
    // What can be pressed shows the same figures in other ways.
    expect(await actsOn(page)).toEqual(['Copy this moment', '1 min', '5 min', '15 min', 'All'])
    for (const name of ['Rules and blocks', 'Scheduled']) {
      await page.getByRole('link', { name, exact: true }).first().click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      expect(await actsOn(page)).toEqual([])
    }
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
  })

  test('an operator refunds a line of an order with its units, and cancels another', async ({ newPage, expect }) => {
    const changes = { limit_per_visitor: 9, contact: { ...NO_CONTACT, email: 'required' } } as const
    const { sale } = await newSale(changes)
    const GREEN = { ...PRODUCT, product_id: 'green', name: 'Green' }
    await operator('PUT', `/sales/${sale}`, { ...saleOf(0, changes), products: [PRODUCT, BLUE, GREEN] })
    const lines = [
      { product_id: 'red', quantity: 2 },
      { product_id: 'blue', quantity: 1 },
      { product_id: 'green', quantity: 1 },
    ]
    const order = await buy(sale, `lines@${sale}.example`, lines)
    const page = await newPage({ viewport: PHONE })
    await signIn(page, system(), 'lou', 'operator')
    await page.goto(`${consoleUrl()}/orders/${order}`)
    await page.getByRole('heading', { level: 1, name: '€100.00' }).waitFor()
    await page.getByText('2 × Red and 2 more', { exact: true }).waitFor()
    await page.getByText('Paid', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Refund' }).click()
    const refunding = page.getByRole('dialog', { name: 'Refund' })
    await refunding.getByLabel('1 × Blue').check()
    expect(await refunding.getByLabel('Amount in EUR').inputValue()).toBe('25.00')
    await refunding.getByLabel('The units are for sale again').check()
    await refunding.getByRole('button', { name: 'Refund €25.00', exact: true }).click()
    await page.getByText('€25.00 in all').waitFor()
    await page.getByText('lou refunded €25.00 of line 2 of the order').first().waitFor()
    await page.getByRole('button', { name: /^More/ }).click()
    await page.getByRole('button', { name: 'Cancel lines' }).click()
    const cancelling = page.getByRole('dialog', { name: 'Cancel lines' })
    await cancelling.getByRole('button', { name: 'Cancel lines' }).click()
    await cancelling.getByRole('alert').getByText('Choose the lines').waitFor()
    expect(await cancelling.getByRole('checkbox').count()).toBe(2)
    await cancelling.getByLabel('2 × Red').check()
    await cancelling.getByRole('button', { name: 'Cancel lines' }).click()
    await page.getByText('€75.00 in all').waitFor()
    const returned = page
      .getByRole('list', { name: 'Lines' })
      .getByRole('listitem')
      .filter({ hasText: 'for sale again' })
    expect(await returned.count()).toBe(2)
    expect(await faultsOf(page)).toEqual([])
    await page.goto(`${consoleUrl()}/sales/${sale}/report`)
    await page.getByRole('row', { name: /Green/ }).getByText('1 sold + 0 held + 49 free = 50').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  test('an operator adds a rule, changes it, blocks somebody, and takes both back', async ({ newPage, expect }) => {
    const { sale } = await newSale()
    const page = await newPage({ viewport: DESK })
    await signIn(page, system(), 'rosa', 'operator')
    await page.goto(`${consoleUrl()}/sales/${sale}`)
    await page.getByRole('link', { name: 'Rules and blocks' }).first().click()
    await page.getByText('There is no rule').waitFor()
    await page.getByRole('button', { name: 'Add a rule' }).click()
    const adding = page.getByRole('dialog', { name: 'Add a rule' })
    await adding.getByRole('button', { name: 'Add a rule' }).click()
    await adding.getByRole('alert').getByText('at least one condition').waitFor()
    await adding.getByLabel('Network address').fill('192.0.2.999')
    await adding.getByRole('button', { name: 'Add a rule' }).click()
    await adding.getByRole('alert').getByText('an address or a range such as 192.0.2.0/24').waitFor()
    await adding.getByLabel('Network address').fill('')
    await adding.getByLabel('Country').fill('de')
    await adding.getByLabel('Network number').fill('64500')
    await adding.getByLabel('Note').fill('resellers')
    await adding.getByRole('button', { name: 'Add a rule' }).click()
    await page.getByText('network number 64500, and country DE', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Change the rule resellers' }).click()
    const changing = page.getByRole('dialog', { name: 'Change' })
    await changing.getByLabel('What happens').selectOption('last')
    await changing.getByLabel('Country').fill('')
    await changing.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByText('network number 64500', { exact: true }).waitFor()
    const changed = { when: { asn: 64_500 }, action: 'last', note: 'resellers' }
    expect(await operator('GET', `/sales/${sale}/rules`)).toMatchObject({ rules: [changed] })
    await page.getByRole('button', { name: 'Remove the rule resellers' }).click()
    await page.getByRole('dialog', { name: 'Remove' }).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('There is no rule').waitFor()

    await page.getByRole('button', { name: 'Block somebody' }).click()
    const blocking = page.getByRole('dialog', { name: 'Block somebody' })
    await blocking.getByLabel('Whom').selectOption('account')
    await blocking.getByLabel('As it is written').fill('eve')
    await blocking.getByRole('button', { name: 'Block somebody' }).click()
    await page.getByRole('status').getByText('The account eve can join no sale.').waitFor()
    await page.getByRole('button', { name: 'Remove the block of account eve' }).click()
    await page.getByRole('dialog', { name: 'Remove' }).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Nobody is blocked.').waitFor()
  })

  test('an owner adds an endpoint, tests it, sends again, pauses it, and rotates its secret, which shows once', async ({
    newPage,
    expect,
  }) => {
    const name = `Warehouse ${randomUUID().slice(0, 8)}`
    const path = `/${name.slice(-8)}`
    // The endpoint also gets messages about the sales of other stories.
    const tests = () => receiver.at(path).filter(({ type }) => type === 'webhook.test')
    const page = await newPage({ viewport: DESK })
    await signIn(page, system(), 'wanda', 'owner')
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await page.getByRole('button', { name: 'New endpoint' }).click()
    const adding = page.getByRole('dialog', { name: 'New endpoint' })
    await adding.getByLabel('Address').fill(receiver.url(path))
    await adding.getByLabel('Events').fill('sale.nothing')
    await adding.getByLabel('Name').fill(name)
    await adding.getByRole('button', { name: 'New endpoint' }).click()
    await adding.getByRole('alert').getByText('events').first().waitFor()
    await adding.getByLabel('Events').fill('sale.paused\nsale.opened')
    await adding.getByRole('button', { name: 'New endpoint' }).click()
    const shown = page.getByText(/^whsec_.{44}$/)
    const first = (await shown.textContent()) ?? ''
    await page.getByRole('list', { name: 'Endpoints' }).getByRole('link', { name, exact: true }).click()
    const chosen = page.getByRole('region', { name, exact: true })
    const deliveries = page.getByRole('region', { name: 'Deliveries', exact: true })
    const press = async (action: string, act: string) => {
      await chosen.getByRole('button', { name: action, exact: true }).click()
      await page.getByRole('dialog', { name: action }).getByRole('button', { name: act, exact: true }).click()
    }
    await press('Send a test', 'Send a test')
    const tested = deliveries.getByRole('row').filter({ hasText: 'webhook.test' })
    await tested.getByText('Sent').waitFor()
    expect(tests().map((message) => verify(first, message))).toMatchObject([{ type: 'webhook.test' }])
    await chosen.getByText('It answers.').waitFor()
    await tested.getByRole('button', { name: 'webhook.test' }).click()
    await deliveries.getByRole('heading', { name: 'Attempts' }).waitFor()
    await deliveries.getByRole('button', { name: /^Send it again: webhook.test of/ }).click()
    await page.getByRole('dialog', { name: 'Send it again' }).getByRole('button', { name: 'Send it again' }).click()
    await page.getByText('1 message is sent again.').waitFor()
    await expect.poll(() => tests().length).toBe(2)
    expect(tests()[1]?.id).toBe(tests()[0]?.id)
    await deliveries.getByRole('button', { name: 'Send a range again' }).click()
    const range = page.getByRole('dialog', { name: 'Send a range again' })
    await range.getByLabel('From').fill('2020-01-01T00:00:00')
    await range.getByLabel('Until').fill('2099-01-01T00:00:00')
    await range.getByRole('button', { name: 'Send a range again' }).click()
    await expect.poll(() => tests().length).toBe(3)
    // Chosen deliveries are sent again together. A new row would move them while they are chosen.
    await tested.getByRole('checkbox').nth(2).waitFor()
    await tested.getByRole('checkbox').first().check()
    await tested.getByRole('checkbox').nth(1).check()
    await deliveries.getByRole('button', { name: 'Send again together' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send 2 again' }).click()
    await expect.poll(() => tests().length).toBe(4)

    await press('Rotate the secret', 'Make a new secret')
    await page.getByText(`${name} has a new secret. The old one is valid for 24 hours.`).waitFor()
    expect(await shown.textContent()).not.toBe(first)
    await page.reload()
    await chosen.getByText('and the one before signs too').waitFor()
    expect(await shown.count()).toBe(0)
    await press('Pause', 'Pause now')
    await chosen.getByRole('button', { name: 'Resume' }).waitFor()
    expect(await chosen.getByRole('button', { name: 'Send a test' }).count()).toBe(0)
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await chosen.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    await deliveries.getByRole('link', { name: 'Given up' }).click()
    await deliveries.getByText('There is no such delivery.').waitFor()
    await deliveries.getByRole('link', { name: 'Sent' }).click()
    await tested.first().waitFor()
    expect(await faultsOf(page)).toEqual([])

    const reader = await newPage({ viewport: PHONE })
    await signIn(reader, system(), 'vera', 'viewer')
    await reader.goto(page.url())
    await reader.getByRole('row').filter({ hasText: 'webhook.test' }).first().waitFor()
    const buttons = await actsOn(reader)
    // The list contains the story's own deliveries, and those of other files' orders.
    expect(buttons.filter((text) => text !== 'Show more' && !/^(order|sale|webhook|finding)\./.test(text))).toEqual([])
    await chosen.getByRole('button', { name: 'More: change, delete' }).click()
    await press('Delete', 'Delete the endpoint')
    await page.getByText(`${name} is deleted.`).waitFor()
  })

  test('an operator uploads codes, whose wrong line is named, and makes links and voids them, which a viewer cannot', async ({
    newPage,
    expect,
  }) => {
    const access = { sign_in: 'optional', invitation: 'required', proof_of_work: null, turnstile: false } as const
    const { sale } = await newSale({ access })
    const page = await newPage({ viewport: PHONE })
    await signIn(page, system(), 'ivo', 'operator')
    await page.goto(`${consoleUrl()}/sales/${sale}`)
    await followLink(page, 'Invitations')
    await page.getByText('There is no invitation yet.').waitFor()
    const uploads = async (name: string, text: string) => {
      await page.getByLabel('File of codes').setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) })
      await page.getByRole('button', { name: 'Upload' }).click()
    }
    await uploads('codes.csv', 'code,uses\nSUMMER-24,3\nab\n')
    await page.getByRole('alert').getByText('line 3').first().waitFor()
    await uploads('codes.csv', 'code,uses\nSUMMER-24,3\nWINTER-24\n')
    await page.getByText('2 invitations for 4 visitors; 0 came in.').waitFor()
    await page.getByText('2 codes are read; the sale has 2 now.').waitFor()
    await page.getByLabel('They take the place of all other codes').check()
    await uploads('codes.ndjson', '{"code":"AUTUMN-24"}\n')
    await page.getByText('1 invitation for 1 visitor; 0 came in.').waitFor()

    await page.getByLabel('Links', { exact: true }).last().fill('3')
    await page.getByLabel('Visitors for each').fill('2')
    await page.getByRole('button', { name: 'Make links' }).click()
    await page.getByText('3 links, each for 2 visitors, valid until').waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    const links = (await text(await file.createReadStream())).trim().split('\n')
    expect(links).toHaveLength(3)
    expect((await fetch(links[0] ?? '')).status).toBe(200)
    expect(await faultsOf(page)).toEqual([])
    const joins = async (link = '') => {
      const { searchParams } = new URL(link)
      const response = await fetch(`${system().edgeUrl}/sales/${sale}/queue`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ invitation: searchParams.get('invitation') }),
      })
      return response.status
    }
    expect(await joins(links[0])).toBe(201)
    await page.getByRole('button', { name: 'Declare links void' }).click()
    const dialog = page.getByRole('dialog', { name: 'Declare links void' })
    await dialog.getByLabel('Made before').fill('2099-01-01T00:00:00')
    await dialog.getByRole('button', { name: 'Declare links void' }).click()
    await page.getByText(/^Links made before .* let in nobody any more\.$/).waitFor()
    await expect.poll(() => joins(links[1])).toBe(403)

    const reader = await newPage({ viewport: DESK })
    await signIn(reader, system(), 'vito', 'viewer')
    await reader.goto(page.url())
    await reader.getByText('2 invitations for 3 visitors; 1 came in.').waitFor()
    expect(await actsOn(reader)).toEqual([])
    for (const [path, refused] of [
      ['/operators', 'Only owners see and name operators.'],
      ['/sales/new', 'Only operators and owners change sales.'],
      [`/sales/${sale}/edit`, 'Only operators and owners change sales.'],
    ] as const) {
      await reader.goto(`${consoleUrl()}${path}`)
      await reader.getByText(refused).waitFor()
      expect(await actsOn(reader), path).toEqual([])
    }
  })

  test('each advice leads to a place that exists', async ({ newPage, expect }) => {
    const { sale } = await newSale()
    await buy(sale, `anna@${sale}.example`)
    const { orders } = await eventually(
      () => operator<{ orders: { order_id: string }[] }>('GET', `/orders?q=&sale=${sale}`),
      ({ orders }) => orders.length > 0,
    )
    const shopUrl = `${system().edgeUrl}/sales/${sale}`
    const situations = Object.values(wrongs(orders[0]?.order_id ?? '')).map((wrong) => ({ ...fine, shopUrl, ...wrong }))
    const hrefs = situations.flatMap((situation) =>
      summaryOf({ ...situation, saleId: sale }, undefined).needs.map(({ place }) => place.href),
    )
    const page = await newPage({ viewport: DESK })
    await signIn(page, system(), 'zoe', 'operator')
    expect(new Set(hrefs)).toContain('/console/queues#webhook')
    for (const href of new Set(hrefs)) {
      const url = new URL(href, `${consoleUrl()}/sales/${sale}`)
      expect((await page.goto(url.href))?.status() ?? 200, href).toBe(200)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      expect(await page.getByRole('heading', { name: 'There is nothing here' }).count(), href).toBe(0)
      if (url.hash !== '') await page.locator(url.hash).waitFor()
    }
  })

  test('axe finds nothing on the other pages', async ({ newPage, expect }) => {
    const { sale } = await newSale()
    const page = await newPage({ viewport: PHONE })
    const found: Record<string, string[]> = {}
    const check = async (path: string) => {
      const faults = await faultsOf(page)
      if (faults.length > 0) found[path] = faults
    }
    await page.goto(consoleUrl())
    await page.getByLabel('Your key').waitFor()
    await check('sign-in')
    await signIn(page, system(), 'olga', 'owner')
    const ofSale = PAGES_OF_SALE.map((path) => `/sales/${sale}${path}`)
    for (const path of [...ofSale, ...OTHER_PAGES, `/audit?sale=${sale}`]) {
      await goWithin(page, `${consoleUrl()}${path}`)
      await check(path)
    }
    expect(found).toEqual({})
  })
})
