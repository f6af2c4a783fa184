/** The shop front's search in a real browser, while one types; front.long.test.ts has the latest searches. */
import { describe, expect, test } from 'vitest'
import { useFrontSearch } from '../lib/front-search.ts'
import { hasBrowser } from '../run/shared-part.ts'

describe.skipIf(!hasBrowser)('the search of the front', () => {
  const openFront = useFrontSearch()

  test('suggests as one types, marks what fits, and asks whether a typing error was meant', async () => {
    const { page, field, loads } = await openFront()
    expect(loads()).toBe(0)
    await field.click()
    await field.pressSequentially('auro')
    const first = page.locator('.typed a').last()
    await expect.poll(() => first.innerHTML()).toContain('<mark>Auro</mark>ra')
    expect(await first.textContent()).toContain('3 left from €42.00')
    await field.fill('orchestro')
    const guess = page.locator('.typed p a')
    await expect.poll(() => guess.textContent()).toBe('orchestra')
    expect(await guess.getAttribute('href')).toBe('/search?q=orchestra')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toContain('Orchestra')
    await page.keyboard.press('Escape')
    expect(await page.evaluate('document.activeElement.name')).toBe('q')
    expect(loads()).toBe(1)
    await page.close()
  })
})
