/** Further ways to choose seats on the map of a hall in a real browser: by press, by list, and the best ones offered. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { FREE, fields, said, toFreeSeat, useHallMap } from '../lib/hall-map.ts'
import { useSamplePages } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

/** The states of a section whose seats are all sold, with two bits each. */
const ALL_SOLD = Buffer.alloc(28, 0b10101010).toString('base64')
const LIMIT = 6
const CHART = /\/chart\?v=2$/

describe.skipIf(!hasBrowser)('on the map of a hall', () => {
  const open = useHallMap()

  test('a press chooses the seat below the finger', async () => {
    const page = await open('hall-turn')
    await toFreeSeat(page)
    // When zoomed out, an arrow key brings its seat into the middle.
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
    await seats.nth(LIMIT).waitFor({ state: 'attached' })
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
    await expect.poll(() => fields(page)).toEqual([])
    expect(await said(page)).toMatch(/^No longer free[^:]*: Stalls B, Row G, seat 9, Stalls B, Row G, seat 10\.$/)
    await page.close()
  })

  /** Answers each request for an offer by the next of these seats, and then by none. Returns what was asked. */
  async function offers(page: Page, ...seats: string[][]): Promise<object[]> {
    const asked: object[] = []
    await page.route('**/seats/offer', (route) => {
      asked.push(route.request().postDataJSON())
      const next = seats.shift()
      return next
        ? route.fulfill({ json: { section_id: 'stalls-b', seats: next, totals: {} } })
        : route.fulfill({ status: 409 })
    })
    return asked
  }
  async function find(page: Page, quantity: string): Promise<void> {
    await page.locator('#best summary').click()
    await page.fill('[name=best-quantity]', quantity)
    await page.press('[name=best-quantity]', 'Enter')
  }

  test('the best seats are offered by name before they are reserved, and so is the next offer', async () => {
    const page = await open('hall-turn')
    const asked = await offers(page, ['C-2', 'C-3'], ['A-1', 'A-2'])
    await find(page, '2')
    await expect.poll(() => fields(page)).toEqual(['seat:stalls-b:C-2', 'seat:stalls-b:C-3'])
    expect(await said(page)).toMatch(/^We would take these: .*seat 3\. Ringed on the plan, held for nobody yet\.$/)
    expect(await page.locator('#cart-choice h2:focus').count()).toBe(1)
    await page.getByRole('button', { name: 'Another offer' }).click()
    await expect.poll(() => fields(page)).toEqual(['seat:stalls-b:A-1', 'seat:stalls-b:A-2'])
    await page.getByRole('button', { name: 'Another offer' }).click()
    await expect.poll(() => said(page)).toMatch(/^There are not that many/)
    expect(asked).toEqual([
      { quantity: 2 },
      { quantity: 2, not: ['C-2', 'C-3'] },
      { quantity: 2, not: ['C-2', 'C-3', 'A-1', 'A-2'] },
    ])
    await page.close()
  })

  test('an offer that others take is followed by the next', async () => {
    const page = await open('hall-turn-offer')
    await expect.poll(() => page.locator('#cart-choice h2').textContent()).toBe('We would take these')
    await offers(page, ['A-1', 'A-2'])
    const states = Buffer.alloc(28)
    // Row C, seat 2 is the 30th seat of the section: two bits in the eighth byte.
    states[7] = 0b00_10_00_00
    await page.route('**/availability', (route) =>
      route.fulfill({ json: { section_id: 'stalls-b', version: 1, seats: states.toString('base64') } }),
    )
    await expect.poll(() => fields(page)).toEqual(['seat:stalls-b:A-1', 'seat:stalls-b:A-2'])
    expect(await said(page)).toMatch(
      /^No longer free: Stalls B, Row C, seat 2\. These are the next best\. We would take/,
    )
    await page.close()
  })

  test('a hall that is imported again keeps the choice, names a removed seat and offers another', async () => {
    const page = await open('hall-turn-seat-taken')
    await offers(page, ['A-1'])
    const chart = await page.evaluate<{ sections: { seats: { seat_id: string }[] }[] }>(
      `fetch('/sales/' + stage.dataset.sale + '/chart').then((answer) => answer.json())`,
    )
    const [stalls] = chart.sections
    if (stalls) stalls.seats = stalls.seats.filter(({ seat_id }) => seat_id !== 'G-9')
    await page.route(CHART, (route) => route.fulfill({ json: { ...chart, version: 2 } }))
    const seats = Buffer.alloc(28).toString('base64')
    await page.route('**/availability', (route) => route.fulfill({ json: { section_id: '', version: 2, seats } }))
    await expect.poll(() => fields(page)).toEqual(['seat:stalls-b:G-10', 'seat:stalls-b:A-1'])
    expect(await said(page)).toMatch(/^No longer free: Stalls B, Row G, seat 9\./)
    await page.close()
  })
})

describe.skipIf(!hasBrowser)('with fingers on the map of a hall', () => {
  const open = useSamplePages({ width: 390, height: 844, hasTouch: true })

  test('the prices say how many seats are free at each, though no seats are shown', async () => {
    const page = await open('hall-turn')
    const counts = page.locator('.filters .quiet')
    await expect.poll(() => counts.allTextContents()).toEqual(['111', '87', '198'])
    await page.close()
  })

  test('what is chosen and its price stay at the bottom of the screen, above the plan and beside it', async () => {
    const page = await open('hall-turn-offer')
    const isAtBottom = () =>
      page.evaluate<boolean>(
        `(({ top, bottom }) => top > 0 && bottom === innerHeight)(document.querySelector('.bar').getBoundingClientRect())`,
      )
    for (const part of ['.band', '.hall-plan']) {
      await page.locator(part).first().scrollIntoViewIfNeeded()
      expect(await isAtBottom(), part).toBe(true)
    }
    expect(await page.locator('#bar-sum').textContent()).toBe('€188.00')
    await page.close()
  })

  test("one sees in forced colours which seats are free, taken and one's own", async () => {
    const page = await open('hall-turn')
    await page.emulateMedia({ forcedColors: 'active' })
    const colours = await page.evaluate<string[]>(
      `['.legend .mine', '.legend .c1', '.legend .taken', 'body'].map(
        (of) => getComputedStyle(document.querySelector(of)).backgroundColor)`,
    )
    expect(new Set(colours).size).toBe(4)
    await page.close()
  })
})
