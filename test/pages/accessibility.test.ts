/**
 * Checks every page in every state with axe by WCAG 2.2 AA, and the contrast of every part once.
 * accessibility.long.test.ts has other looks, widths and languages, and the contrast of every page.
 */
import { describe, expect, test } from 'vitest'
import { EXCEPT_CONTRAST, faultsOf } from '../lib/axe.ts'
import { REPRESENTATIVE, sampleNames, useOneWindow } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

const pages = await sampleNames()

describe.skipIf(!hasBrowser)('on a phone axe finds nothing wrong', () => {
  const show = useOneWindow()

  test.each(pages)('with the page %s', async (name) => {
    const rules = REPRESENTATIVE.includes(name) ? {} : EXCEPT_CONTRAST
    expect(await faultsOf(await show(name), { rules })).toEqual([])
  })
})
