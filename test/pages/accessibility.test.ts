/**
 * Checks every page in every state with axe by WCAG 2.2 AA, the contrast of every part once, and that long names fit.
 * accessibility.long.test.ts has other looks, widths and languages, and the contrast of every page.
 */
import { describe, expect, test } from 'vitest'
import { EXCEPT_CONTRAST, faultsOf, PHONE } from '../lib/axe.ts'
import { REPRESENTATIVE, sampleNames, useOneWindow } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

const pages = await sampleNames()

/** The width of the page where each name is one long word: nobody scrolls to read it (WCAG 1.4.10). */
const WIDTH_WITH_LONG_NAMES = `(() => {
  for (const name of document.querySelectorAll('bdi, h1')) name.textContent = 'W'.repeat(200)
  return document.documentElement.scrollWidth
})()`

describe.skipIf(!hasBrowser)('on a phone axe finds nothing wrong', () => {
  const show = useOneWindow()

  test.each(pages)('with the page %s', async (name) => {
    const rules = REPRESENTATIVE.includes(name) ? {} : EXCEPT_CONTRAST
    const page = await show(name)
    expect(await faultsOf(page, { rules })).toEqual([])
    expect(await page.evaluate(WIDTH_WITH_LONG_NAMES)).toBeLessThanOrEqual(PHONE.width)
  })
})
