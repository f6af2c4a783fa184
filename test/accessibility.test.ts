/** Every page in every state, checked by axe against WCAG 2.2 AA: in both looks, on a phone and on a desk, and from right to left. */
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { builtPages } from '../dev/previews.ts'
import type { Language } from '../edge/pages/words/words.ts'

const ALL = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }
/** What another look or another width can change. */
const SEEN = {
  type: 'rule',
  values: ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block'],
}
/** Loads itself again by the one means that needs no asset, since the shop cannot be reached: real time (WCAG, 2.2.1). */
const MAY_REFRESH = '/problem-try-again'
/** Two minutes were seen on two processors with a load of 25. */
const TIMEOUT_MS = 300_000
const HOST = 'http://pages.test'
const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 900 }
const { samples, assets } = await builtPages()

describe.skipIf(!inject('browser'))('axe', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.connect(inject('browser'))
  })
  afterAll(() => browser?.close())

  /** What axe finds wrong with the page as it is shown now. */
  async function faults(page: Page, runOnly: object): Promise<string[]> {
    const { violations } = await page.evaluate<axe.AxeResults>(
      `axe.run({ runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'], preload: false })`,
    )
    return violations
      .filter(({ id }) => id !== 'meta-refresh' || new URL(page.url()).pathname !== MAY_REFRESH)
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)}`)
  }

  /** Each page of a language, as its script shows it while the server does not answer. */
  async function check(lang: Language, looks: readonly { scheme: 'light' | 'dark'; size: typeof PHONE }[]) {
    const pages = new Map(samples({ lang, nowMs: Date.now() }).map(({ name, html }) => [`/${name}`, html]))
    const page = await browser.newPage()
    await page.route('**', (route) => {
      const { pathname } = new URL(route.request().url())
      const asset = assets.find(({ path }) => path === pathname)
      if (asset) return route.fulfill({ contentType: asset.type, body: asset.body })
      const html = pages.get(pathname)
      return html ? route.fulfill({ contentType: 'text/html; charset=utf-8', body: html }) : route.abort()
    })
    const found: Record<string, string[]> = {}
    for (const path of pages.keys()) {
      await page.goto(HOST + path)
      await page.evaluate(axe.source)
      for (const [i, { scheme, size }] of looks.entries()) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
        await page.setViewportSize(size)
        const wrong = await faults(page, i === 0 ? ALL : SEEN)
        if (wrong.length > 0) found[`${path} ${scheme} ${size.width}`] = wrong
      }
    }
    await page.close()
    return found
  }

  test(
    'finds nothing on any page in English',
    async () => {
      const looks = (['light', 'dark'] as const).flatMap((scheme) => [PHONE, DESK].map((size) => ({ scheme, size })))
      expect(await check('en', looks)).toEqual({})
    },
    TIMEOUT_MS,
  )

  test(
    'finds nothing on any page in Arabic',
    async () => {
      expect(await check('ar', [{ scheme: 'light', size: PHONE }])).toEqual({})
    },
    TIMEOUT_MS,
  )
})
