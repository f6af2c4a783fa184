/** Measures how far the content of a page moves when its parts arrive late. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useSamplePages } from './sample-pages.ts'

/** Together these pages have every part that arrives late. */
const PAGES = [
  ...['front', 'front-without-next', 'search-found', 'sale-proof-of-work', 'sale-announced', 'goods-sale-lobby'],
  ...['goods-sale-open', 'goods-sold-out', 'goods-line', 'turn-sizes', 'turn-contact', 'hall-turn', 'hall-turn-fewer'],
  ...['payment', 'order-sizes-confirmed', 'hall-orders', 'receipt-refunded', 'problem-try-again'],
]
/**
 * The smallest shift that counts, as browsers report it: the part of the window that moves, times the distance
 * (Layout Instability, 2.3).
 */
const LEAST = 0.01
const PICTURES_LATE_MS = 200
const FORM_UNDER_WAY = `Stripe = () => ({ elements: () => ({ create: () => ({ on() {}, mount() {} }) }) })`
/** Returns the first shifts, or none if the page then stays still for as long as pictures are late. */
const SHIFTS = `new Promise((resolve) => {
  const seen = new PerformanceObserver((list) => resolve(list.getEntries().map(({ value, sources }) =>
    [value, sources.map(({ node }) => (node?.outerHTML ?? node?.textContent)?.slice(0, 80))])))
  seen.observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve([]), ${PICTURES_LATE_MS})
})`

/** Prepares a browser that has an order of the sale, with a slow network and with Stripe's form still loading. */
async function lateAndKnown(page: Page): Promise<void> {
  await page.addInitScript(`localStorage.setItem('order demo', 'an-order ' + Date.now())`)
  await page.route('**/images/**', (route) => setTimeout(() => route.continue().catch(() => {}), PICTURES_LATE_MS))
  await page.route('https://js.stripe.com/**', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: FORM_UNDER_WAY }),
  )
}

/** Side by side, since they mostly wait. */
export function testThatNothingMoves(
  viewport: { readonly width: number; readonly height: number },
  pages: readonly string[] = PAGES,
): void {
  const open = useSamplePages({ ...viewport, slowly: true }, lateAndKnown)

  test.concurrent.each(pages)(`nothing moves in a window of ${viewport.width} pixels as %s arrives`, async (name) => {
    const page = await open(name)
    const shifts = await page.evaluate<[value: number, moved: string[]][]>(SHIFTS)
    await page.close()
    const sum = shifts.reduce((all, [value]) => all + value, 0)
    expect(sum, JSON.stringify(shifts)).toBeLessThan(LEAST)
  })
}
