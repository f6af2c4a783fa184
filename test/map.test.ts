/** The map of a hall in a real browser: seats chosen by finger, keyboard and list go with the page's form. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useSamplePages } from './sample-pages.ts'
import { hasBrowser } from './shared-part.ts'

const FREE = /, €\d/
/** All seats of a section, sold: two bits each. */
const ALL_SOLD = Buffer.alloc(28, 0b10101010).toString('base64')
const LIMIT = 6
const WITHIN = { timeout: 60_000 }

describe.skipIf(!hasBrowser)('on the map of a hall', () => {
  const openSample = useSamplePages({ width: 1280, height: 900 })

  async function open(name: string): Promise<Page> {
    const page = await openSample(name)
    await page.click('.hall-zoom button:last-child')
    return page
  }
  const fields = (page: Page) =>
    page.evaluate<string[]>(
      `[...new FormData(document.querySelector('form')).keys()].filter((name) => name.startsWith('seat:'))`,
    )
  const said = (page: Page) => page.locator('#announcement').textContent()

  /** Goes right from seat to seat until one is free. */
  async function toFreeSeat(page: Page): Promise<void> {
    await page.locator('.hall-plan canvas').focus()
    for (let step = 0; step < 30; step++) {
      await page.keyboard.press('ArrowRight')
      await expect.poll(() => said(page), WITHIN).toMatch(/Row/)
      if (FREE.test((await said(page)) ?? '')) return
    }
    throw new Error('no seat is free')
  }

  test('the keyboard goes from seat to seat, chooses one, and takes it out again', async () => {
    const page = await open('hall-turn')
    await toFreeSeat(page)
    await page.keyboard.press('Enter')
    expect(await fields(page)).toHaveLength(1)
    expect(await page.locator('#cart-choice li').textContent()).toMatch(/Row \w+, seat \d+€/)
    await page.getByRole('button', { name: /^Remove: / }).click()
    expect(await fields(page)).toEqual([])
    await page.close()
  })

  test('a press chooses the seat below the finger', async () => {
    const page = await open('hall-turn')
    await toFreeSeat(page)
    // From afar an arrow brings its seat into the middle.
    await page.keyboard.press('Escape')
    for (let step = 0; step < 20; step++) {
      await page.keyboard.press('Escape')
      await page.keyboard.press('ArrowLeft')
      if (FREE.test((await said(page)) ?? '')) break
    }
    const seat = /^(.*), €/.exec((await said(page)) ?? '')?.[1]
    await page.locator('.hall-plan canvas').click()
    expect(await fields(page)).toHaveLength(1)
    expect(await page.locator('#cart-choice li span').textContent()).toBe(seat)
    await page.close()
  })

  test('the list says the same, and lets nobody choose more than one person may have', async () => {
    const page = await open('hall-turn')
    await page.getByRole('button', { name: 'List' }).click()
    await page.locator('.hall-list summary').first().click()
    const seats = page.locator('.hall-rows input')
    await seats.nth(LIMIT).waitFor({ state: 'attached', timeout: 30_000 })
    for (let seat = 0; seat < LIMIT; seat++) await seats.nth(seat).press('Space')
    expect(await fields(page)).toHaveLength(LIMIT)
    await seats.nth(LIMIT).press('Space')
    expect(await fields(page)).toHaveLength(LIMIT)
    expect(await said(page)).toBe('At most 6 per person, all orders together')
    expect(await seats.nth(LIMIT).isChecked()).toBe(false)
    await page.close()
  })

  test('a chosen seat that somebody else takes leaves the choice, and the page says so', async () => {
    const page = await open('hall-turn-seat-taken')
    expect(await fields(page)).toEqual(['seat:stalls-b:G-9', 'seat:stalls-b:G-10'])
    const json = { section_id: 'stalls-b', version: 1, seats: ALL_SOLD }
    await page.route('**/availability', (route) => route.fulfill({ json }))
    await expect.poll(() => fields(page), WITHIN).toEqual([])
    expect(await said(page)).toMatch(/^No longer free[^:]*: Stalls B, Row G, seat 9, Stalls B, Row G, seat 10\.$/)
    await page.close()
  })
})
