/**
 * Checks every page in every state with axe by WCAG 2.2 AA; accessibility.long.test.ts has other looks, widths and
 * languages.
 */
import { describe, expect, test } from 'vitest'
import { faultsOf } from '../lib/axe.ts'
import { sampleNames, useOneWindow } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

const pages = await sampleNames()

describe.skipIf(!hasBrowser)('on a phone axe finds nothing wrong', () => {
  const show = useOneWindow()

  test.each(pages)('with the page %s', async (name) => {
    expect(await faultsOf(await show(name))).toEqual([])
  })
})
