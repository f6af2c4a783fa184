/**
 * Opens pages with invented data in a real browser, with the scripts of a turn running, for the tests of one file.
 */
import { randomUUID } from 'node:crypto'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtPages, SHOW_MAP, servePages } from '../../dev/previews.ts'
import type { Language } from '../../edge/pages/words/words.ts'
import { sharedPart } from '../run/shared-part.ts'
import { EXCEPT_CONTRAST, faultsOf, PHONE } from './axe.ts'

interface Screen {
  readonly width: number
  readonly height: number
  readonly hasTouch?: boolean
  /** True if pages arrive in pieces. */
  readonly slowly?: boolean
}

/** Together these pages have every part that a page can have. */
export const REPRESENTATIVE = [
  ...['front', 'search-found', 'sale-lobby-open', 'sale-invitation-unknown', 'goods-sale-open', 'goods-line', 'lobby'],
  ...['line-paused-with-reason', 'turn-contact', 'turn-sizes-wrong-address', 'order-sizes-confirmed', 'payment'],
  ...[
    'hall-turn-seat-taken',
    'hall-cart-seat-taken',
    'hall-order-partly-returned',
    'order-declined-once',
    'orders',
    'receipt-refunded',
  ],
  'sold-out-announced',
]

/** The pages are built once for all files of a worker. */
let built: ReturnType<typeof builtPages> | undefined
function builtOnce() {
  built ??= builtPages()
  return built
}

export async function sampleNames(): Promise<string[]> {
  const { samples } = await builtOnce()
  return samples({ lang: 'en', nowMs: Date.now() }).map(({ name }) => name)
}

function useServedPages(slowly = false) {
  let samples: Awaited<ReturnType<typeof builtPages>>['samples']
  let server: Awaited<ReturnType<typeof servePages>>
  let browser: Browser
  beforeAll(async () => {
    const { samples: all, assets } = await builtOnce()
    samples = all
    server = await servePages(assets, { slowly })
    browser = await chromium.connect(await sharedPart('browser'))
  })
  afterAll(async () => {
    await browser?.close()
    server?.stop()
  })
  const htmlOf = (name: string, lang: Language): string => {
    const page = samples({ lang, nowMs: Date.now() }).find((one) => one.name === name)
    if (!page) throw new Error(`There is no page ${name}.`)
    return page.html
  }
  return { browser: () => browser, put: (path: string, html: string) => server.put(path, html), htmlOf }
}

/** Opens a page by the name of its sample, in English. `prepared` is called with each page before it is opened. */
export function useSamplePages(
  { hasTouch = false, slowly, ...viewport }: Screen,
  prepared?: (page: Page) => Promise<void>,
) {
  const { browser, put, htmlOf } = useServedPages(slowly)
  return async (name: string): Promise<Page> => {
    const page = await browser().newPage({ viewport, hasTouch, reducedMotion: 'reduce' })
    await prepared?.(page)
    await page.goto(put(`/${name}`, htmlOf(name, 'en')))
    await page.evaluate(SHOW_MAP)
    return page
  }
}

/**
 * This page reloads itself by the only means that needs no asset, because the shop cannot be reached: a time limit
 * that WCAG allows (2.2.1).
 */
const MAY_REFRESH = 'problem-try-again'
/** In one window, a page's timer must end with the page, and an element may already be defined by an earlier page. */
const IN_ONE_WINDOW = `{
  delete globalThis.Worker
  const { define } = customElements
  customElements.define = (name, element) => customElements.get(name) ?? define.call(customElements, name, element)
}`
/** The scripts of the new page run, and pending work of the page before does not. */
const FORGET = `(async () => {
  globalThis.shown?.abort()
  globalThis.shown = new AbortController()
  AbortSignal.timeout = () => shown.signal
  await new Promise((resolve) => setTimeout(resolve))
  for (let timer = setTimeout(() => {}); timer > 0; timer--) clearTimeout(timer)
})()`

/**
 * Shows one page after another in the same window, because axe takes a quarter of the processor time in a window that
 * it has already checked.
 */
export function useOneWindow() {
  const { browser, put, htmlOf } = useServedPages()
  let tab: Page
  beforeAll(async () => {
    tab = await browser().newPage({ viewport: PHONE, reducedMotion: 'reduce' })
    await tab.addInitScript(IN_ONE_WINDOW)
    await tab.goto(put('/', '<!doctype html>'))
  })
  return async (name: string, lang: Language = 'en'): Promise<Page> => {
    const html = htmlOf(name, lang)
    const still = name === MAY_REFRESH ? html.replace(/<meta http-equiv="refresh"[^>]*>/, '') : html
    await tab.evaluate(FORGET)
    await tab.setContent(still.replaceAll(/(<script [^>]*src="[^"]+\.js)"/g, `$1?${randomUUID()}"`))
    await tab.evaluate(SHOW_MAP)
    return tab
  }
}

/** The width of the page where each name is one long word: nobody scrolls to read it (WCAG 1.4.10). */
const WIDTH_WITH_LONG_NAMES = `(() => {
  for (const name of document.querySelectorAll('bdi, h1')) name.textContent = 'W'.repeat(200)
  return document.documentElement.scrollWidth
})()`

/** Checks these pages with axe; the contrast of every part, which takes a third of the time, once. */
export function testOnAPhone(names: readonly string[]): void {
  const show = useOneWindow()

  test.each(names)('with the page %s', async (name) => {
    const rules = REPRESENTATIVE.includes(name) ? {} : EXCEPT_CONTRAST
    const page = await show(name)
    expect(await faultsOf(page, { rules })).toEqual([])
    expect(await page.evaluate(WIDTH_WITH_LONG_NAMES)).toBeLessThanOrEqual(PHONE.width)
  })
}
