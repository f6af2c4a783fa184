/** Nothing moves while a page arrives: pictures, scripts and what they show have their room from the first paint on. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useSamplePages } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

/** Between them they have every part that arrives late. */
const PAGES = [
  'front',
  'front-without-next',
  'search-found',
  'sale-proof-of-work',
  'sale-announced',
  'goods-sale-lobby',
  'goods-sale-open',
  'goods-sold-out',
  'goods-line',
  'turn-sizes',
  'turn-contact',
  'hall-turn',
  'hall-turn-fewer',
  'payment',
  'order-sizes-confirmed',
  'hall-orders',
  'receipt-refunded',
  'problem-try-again',
]
/** As browsers report it: the part of the window that moves, times how far (Layout Instability, 2.3). */
const LEAST = 0.01
const PICTURES_LATE_MS = 200
const FORM_UNDER_WAY = `Stripe = () => ({ elements: () => ({ create: () => ({ on() {}, mount() {} }) }) })`
const SHIFTS = `new Promise((resolve) => {
  const seen = new PerformanceObserver((list) => resolve(list.getEntries().map(({ value, sources }) =>
    [value, sources.map(({ node }) => (node?.outerHTML ?? node?.textContent)?.slice(0, 80))])))
  seen.observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve([]), 200)
})`

/** Whose browser has an order of the sale, on a slow network, with Stripe's form still under way. */
async function lateAndKnown(page: Page): Promise<void> {
  await page.addInitScript(`localStorage.setItem('order demo', 'an-order ' + Date.now())`)
  await page.route('**/images/**', (route) => setTimeout(() => route.continue().catch(() => {}), PICTURES_LATE_MS))
  await page.route('https://js.stripe.com/**', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: FORM_UNDER_WAY }),
  )
}

describe.skipIf(!hasBrowser).each([
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
])('in a window of $width pixels', (viewport) => {
  const open = useSamplePages({ ...viewport, slowly: true }, lateAndKnown)

  test.each(PAGES)('nothing moves as %s arrives', async (name) => {
    const page = await open(name)
    const shifts = await page.evaluate<[value: number, moved: string[]][]>(SHIFTS)
    await page.close()
    const sum = shifts.reduce((all, [value]) => all + value, 0)
    expect(sum, JSON.stringify(shifts)).toBeLessThan(LEAST)
  })
})
