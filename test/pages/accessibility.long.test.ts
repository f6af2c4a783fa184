/** Checks every page with axe by WCAG 2.2 AA, and in other looks, widths and languages, which takes four minutes. */
import { describe, expect, test } from 'vitest'
import { LANGUAGES } from '../../edge/pages/words/words.ts'
import { faultsByLook, faultsOf, PHONE, tooWide } from '../lib/axe.ts'
import { REPRESENTATIVE, sampleNames, testOnAPhone, useOneWindow } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

/** A phone that shows everything twice as large (WCAG 2.2, 1.4.4 and 1.4.10). */
const ENLARGED = { width: 195, height: 422 }

const pages = await sampleNames()

describe.skipIf(!hasBrowser)('on a phone axe finds nothing wrong', () =>
  testOnAPhone(pages.filter((name) => !REPRESENTATIVE.includes(name))),
)

describe.skipIf(!hasBrowser)('axe finds nothing wrong', () => {
  const show = useOneWindow()

  test.each(pages)(
    'with the page %s in each look and width, nor is it too wide where letters are large',
    async (name) => {
      const page = await show(name)
      expect(await faultsByLook(page)).toEqual([])
      await page.setViewportSize(ENLARGED)
      expect(await tooWide(page)).toEqual([])
      await page.setViewportSize(PHONE)
    },
  )

  const others = LANGUAGES.filter((lang) => lang !== 'en')
  test.each(others.flatMap((lang) => REPRESENTATIVE.map((name) => [name, lang] as const)))(
    'with the page %s in %s',
    async (name, lang) => {
      expect(await faultsOf(await show(name, lang))).toEqual([])
    },
  )
})
