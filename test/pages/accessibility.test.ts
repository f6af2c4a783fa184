/**
 * Every page in every state, checked by axe against WCAG 2.2 AA, and by its width where letters are large; some of them also in the
 * other look, width and languages.
 */
import { randomUUID } from 'node:crypto'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtPages, SHOW_MAP, servePages } from '../../dev/previews.ts'
import { LANGUAGES, type Language } from '../../edge/pages/words/words.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const ALL = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }
/** What another look or another width can change. */
const SEEN = {
  type: 'rule',
  values: ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block'],
}
/** Loads itself again by the one means that needs no asset, since the shop cannot be reached: real time (WCAG, 2.2.1). */
const MAY_REFRESH = 'problem-try-again'
/** Between them they have every part that a page can have. */
const REPRESENTATIVE = [
  'front',
  'search-found',
  'sale-lobby-open',
  'sale-invitation-unknown',
  'goods-sale-open',
  'goods-line',
  'lobby',
  'line-paused-with-reason',
  'turn-contact',
  'turn-sizes-wrong-address',
  'order-sizes-confirmed',
  'hall-turn-seat-taken',
  'hall-order-partly-returned',
  'order-declined-once',
  'orders',
  'receipt-refunded',
  'payment',
  'sold-out-announced',
]
/** A page beats by a timer of its window, which ends with it, and finds the element that it defines defined by another page. */
const IN_ONE_WINDOW = `{
  delete globalThis.Worker
  const { define } = customElements
  customElements.define = (name, element) => customElements.get(name) ?? define.call(customElements, name, element)
}`
const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 900 }
/** A phone that shows all of it twice as large (WCAG 2.2, 1.4.4 and 1.4.10). */
const ENLARGED = { width: 195, height: 422 }
const LOOKS = [
  { scheme: 'light', size: PHONE },
  { scheme: 'light', size: DESK },
  { scheme: 'dark', size: PHONE },
  { scheme: 'dark', size: DESK },
] as const
type Look = (typeof LOOKS)[number]
const { samples, assets } = await builtPages()

describe.skipIf(!hasBrowser)('axe finds nothing', () => {
  let server: Awaited<ReturnType<typeof servePages>>
  let browser: Browser
  let tab: Page
  beforeAll(async () => {
    server = await servePages(assets)
    browser = await chromium.connect(await sharedPart('browser'))
    tab = await browser.newPage()
    await tab.addInitScript(`${axe.source}; ${IN_ONE_WINDOW}`)
    await tab.goto(server.put('/', '<!doctype html>'))
  })
  afterAll(async () => {
    await browser?.close()
    server?.stop()
  })

  /** Faults by page and look: the first look by all rules, the others, of representative pages, by those that they can change. */
  async function faultsOf(lang: Language, names: readonly string[], looks: readonly Look[]) {
    const pages = new Map(samples({ lang, nowMs: Date.now() }).map(({ name, html }) => [name, html]))
    pages.set(MAY_REFRESH, pages.get(MAY_REFRESH)?.replace(/<meta http-equiv="refresh"[^>]*>/, '') ?? '')
    const found: Record<string, string[]> = {}
    for (const name of names) {
      await show(pages.get(name) ?? '')
      const shown = REPRESENTATIVE.includes(name) ? looks : looks.slice(0, 1)
      for (const [i, { scheme, size }] of shown.entries()) {
        await tab.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
        await tab.setViewportSize(size)
        const faults = await faultsShown(i === 0 ? ALL : SEEN)
        if (faults.length > 0) found[`${name} in ${lang}, ${scheme}, ${size.width}`] = faults
      }
      await tab.setViewportSize(ENLARGED)
      const tooWide = await tab.evaluate('document.documentElement.scrollWidth - innerWidth')
      if (tooWide !== 0) found[`${name} in ${lang}, ${ENLARGED.width}`] = [`${tooWide} px wider than the window`]
    }
    return found
  }

  /**
   * Writes the page over the one before. In a window that it knows axe takes a quarter of the processor time; the scripts of the
   * new page run, and what those of the page before have still to do does not.
   */
  async function show(html: string): Promise<void> {
    await tab.evaluate(`(async () => {
      globalThis.shown?.abort()
      globalThis.shown = new AbortController()
      AbortSignal.timeout = () => shown.signal
      await new Promise((resolve) => setTimeout(resolve))
      for (let timer = setTimeout(() => {}); timer > 0; timer--) clearTimeout(timer)
    })()`)
    await tab.setContent(html.replaceAll(/(<script [^>]*src="[^"]+\.js)"/g, `$1?${randomUUID()}"`))
    await tab.evaluate(SHOW_MAP)
  }

  async function faultsShown(runOnly: object): Promise<string[]> {
    const { violations } = await tab.evaluate<axe.AxeResults>(
      `axe.run({ runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'], preload: false })`,
    )
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)}`,
    )
  }

  test('wrong with any page in English, and with some in each look and width', async () => {
    const names = samples({ lang: 'en', nowMs: Date.now() }).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(REPRESENTATIVE))
    expect(await faultsOf('en', names, LOOKS)).toEqual({})
  })

  test.each(LANGUAGES.filter((lang) => lang !== 'en'))('wrong with some pages in %s', async (lang) => {
    expect(await faultsOf(lang, REPRESENTATIVE, LOOKS.slice(0, 1))).toEqual({})
  })
})
