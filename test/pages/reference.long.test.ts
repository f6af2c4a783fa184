/** The page `/api` in light and dark, on a phone and on a desk, with calls of each kind open. */
import { describe, expect } from 'vitest'
import { faultsByLook } from '../lib/axe.ts'
import { storyTest } from '../lib/in-browser.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const test = storyTest()
/** Calls with a long body, with files, with a stream, and with a table. */
const CALLS = {
  edgeUrl: ['checkOut', 'followOrder', 'getSchedule'],
  originUrl: ['putSale', 'importSeats', 'addPicture', 'exportOrders', 'onOrderRefunded', 'schedule'],
} as const

describe.skipIf(!hasBrowser)('the reference looks right', () => {
  test.for(['edgeUrl', 'originUrl'] as const)('at %s', async (half, { newPage }) => {
    const system = await sharedPart('system')
    const page = await newPage()
    await page.goto(`${system[half]}/api`)
    for (const call of CALLS[half]) await page.locator(`#${call} > summary`).click()
    // Each opens fields inside of fields.
    for (const summary of await page.locator('.call[open] .inner > summary').all()) await summary.click()
    expect(await page.locator('.call[open] form').count()).toBeGreaterThan(2)
    expect(await faultsByLook(page)).toEqual([])
  })
})
