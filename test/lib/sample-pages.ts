/** Pages with invented data in a real browser, with the scripts of a turn at work: for the tests of one file. */
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { builtPages, SHOW_MAP, servePages } from '../../dev/previews.ts'
import { sharedPart } from '../run/shared-part.ts'

interface Screen {
  readonly width: number
  readonly height: number
  readonly hasTouch?: boolean
  /** Pages come piece by piece. */
  readonly slowly?: boolean
}

/** Opens a page by the name of its sample, in English; `prepared` with each page before it is opened. */
export function useSamplePages(
  { hasTouch = false, slowly, ...viewport }: Screen,
  prepared?: (page: Page) => Promise<void>,
) {
  let samples: Awaited<ReturnType<typeof builtPages>>['samples']
  let server: Awaited<ReturnType<typeof servePages>>
  let browser: Browser
  beforeAll(async () => {
    const built = await builtPages()
    samples = built.samples
    server = await servePages(built.assets, { slowly })
    browser = await chromium.connect(await sharedPart('browser'))
  })
  afterAll(async () => {
    await browser?.close()
    server?.stop()
  })
  return async (name: string): Promise<Page> => {
    const page = await browser.newPage({ viewport, hasTouch, reducedMotion: 'reduce' })
    await prepared?.(page)
    const html = samples({ lang: 'en', nowMs: Date.now() }).find((one) => one.name === name)?.html ?? ''
    await page.goto(server.put(`/${name}`, html))
    await page.evaluate(SHOW_MAP)
    return page
  }
}
