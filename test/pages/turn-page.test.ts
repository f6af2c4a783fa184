/** The form of a turn in a real browser shows the price of a choice; turn-page.long.test.ts has the rest of it. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useSamplePages } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

const PHONE = { width: 390, height: 844 }

describe.skipIf(!hasBrowser)('in the form of a turn', () => {
  const open = useSamplePages(PHONE)
  const bar = (page: Page) => page.locator('.bar p').textContent()
  const size = (page: Page) => page.getByRole('radio', { name: '42', exact: true })
  const shown = (page: Page) => page.locator('[name=total_minor]').inputValue()

  test('says what the choice costs, by quantity and country, and sends what it has said', async () => {
    const page = await open('turn-sizes')
    await size(page).check()
    expect(await bar(page)).toMatch(/Size 42[\s\S]*from €189\.00/)
    expect(await shown(page)).toBe('')
    await page.getByLabel('Country').selectOption('Germany')
    expect(await bar(page)).toContain('€195.90')
    expect(await shown(page)).toBe('19590')
    await page.getByRole('button', { name: 'One more' }).click()
    expect(await bar(page)).toMatch(/Size 42 × 2[\s\S]*€384\.90/)
    expect(await page.getByRole('button', { name: 'One more' }).isDisabled()).toBe(true)
    await page.getByLabel('Country').selectOption('France')
    expect(await page.locator('#sum-rows').textContent()).toMatch(/Delivery\s+€14\.90[\s\S]*€392\.90/)
    await page.close()
  })
})
