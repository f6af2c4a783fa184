/** The form of a turn in a real browser shows missing fields and errors, applies codes, and keeps addresses. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useSamplePages } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

const PHONE = { width: 390, height: 844 }
const NOON10 = {
  ...{ subtotal_minor: 18_900, discount_minor: 1_890, fees: [], shipping_minor: 690, tax_minor: 2_950 },
  ...{ total_minor: 17_700, promo_codes: [{ code: 'NOON10', holds: true }] },
}

describe.skipIf(!hasBrowser)('in the form of a turn', () => {
  const open = useSamplePages(PHONE)
  const bar = (page: Page) => page.locator('.bar p').textContent()
  const reserve = (page: Page) => page.getByRole('button', { name: 'Reserve' })
  const size = (page: Page) => page.getByRole('radio', { name: '42', exact: true })
  const shown = (page: Page) => page.locator('[name=total_minor]').inputValue()
  const focused = (page: Page) => page.evaluate<string>('document.activeElement.name')

  test('with fourteen sizes Reserve is within the first screen, and the bar says what to choose', async () => {
    const page = await open('turn-sizes')
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.method()))
    const box = await reserve(page).boundingBox()
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(PHONE.height)
    expect(await page.locator('.sizes label').count()).toBe(14)
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0)
    expect(await bar(page)).toContain('Choose: Size')
    await reserve(page).click()
    expect(await page.locator('#fault-product').textContent()).toBe('Choose: Size')
    expect(await focused(page)).toBe('product_id')
    expect(sent).not.toContain('POST')
    await page.close()
  })

  test('says what is wrong beside each field as it is mended, and keeps the rest', async () => {
    const page = await open('turn-sizes')
    await size(page).check()
    await page.getByLabel('E-mail address').fill('ada@')
    await reserve(page).click()
    expect(await page.locator('.fault').allTextContents()).toEqual([
      ...['country', 'name', 'street', 'postcode', 'city'].map(() => 'Please fill this in.'),
      'Please enter an e-mail address such as name@example.org.',
      'Please accept the terms.',
    ])
    expect(await focused(page)).toBe('country')
    expect(await bar(page)).toContain('Still needed: Country')
    await page.getByLabel('Country').selectOption('Germany')
    await page.getByLabel('Name', { exact: true }).fill('Ada')
    await page.getByLabel('E-mail address').fill('ada@example.org')
    expect(await page.locator('#fault-name, #fault-email').count()).toBe(0)
    expect(await bar(page)).toContain('Still needed: Street and number')
    await page.close()
  })

  test('applies a promo code without leaving the page, and asks again as the choice changes', async () => {
    const page = await open('turn-sizes')
    const asked: string[] = []
    await page.route('**/buy', (route) => {
      asked.push(new URLSearchParams(route.request().postData() ?? '').get('quantity') ?? '')
      return route.fulfill({ json: NOON10 })
    })
    await size(page).check()
    await page.getByLabel('Country').selectOption('Germany')
    await page.getByText('Promo code').first().click()
    await page.locator('#code').fill('NOON10')
    expect(await shown(page)).toBe('')
    await page.getByRole('button', { name: 'Apply' }).click()
    await expect.poll(() => page.locator('#code-applied').textContent()).toBe('€18.90 off')
    expect(await page.locator('#sum-rows').textContent()).toMatch(/Code NOON10\s+−€18\.90/)
    expect(await shown(page)).toBe('17700')
    await page.getByRole('button', { name: 'One more' }).click()
    await expect.poll(() => asked).toEqual(['1', '2'])
    const json = { ...NOON10, discount_minor: 0, promo_codes: [{ code: 'NOON10', holds: false, reason: 'used_up' }] }
    await page.unroute('**/buy')
    await page.route('**/buy', (route) => route.fulfill({ json }))
    await page.getByRole('button', { name: 'One less' }).click()
    await page.getByText('This code is used up.').waitFor()
    await page.close()
  })

  test('writes the address as its country does, and keeps what was typed for the next one', async () => {
    const page = await open('turn-sizes')
    const names = () =>
      page
        .locator('#address .entry > .field label > *')
        .evaluateAll((all) => all.map((one) => (one as unknown as { name: string }).name))
    const postcode = page.locator('[name=postcode]')
    await size(page).check()
    await page.getByLabel('Country').selectOption('Germany')
    await expect.poll(names).toEqual(['name', 'street', 'postcode', 'city', 'line2', 'phone'])
    await page.getByLabel('Street and number').fill('Elm Row 12')
    await postcode.fill('1011')
    await reserve(page).click()
    expect(await page.locator('.entry:has([name=postcode]) > #fault-postcode').textContent()).toContain('Germany')
    await page.getByLabel('Country').selectOption('Austria')
    expect(await postcode.inputValue()).toBe('1011')
    expect(
      await postcode.evaluate((field) => (field as unknown as { validity: { valid: boolean } }).validity.valid),
    ).toBe(true)
    await page.close()
  })
})
