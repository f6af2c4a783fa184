/**
 * Runs stories in the run's real browser (one-browser.ts). Each story has its own contexts, which share nothing and
 * end with it, so that stories of a file may run concurrently. A story fails if one of its pages violated the content
 * security policy or a script threw an error.
 */
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { POLL_WITHIN_MS } from '../run/patience.ts'
import { sharedPart } from '../run/shared-part.ts'

/** A step that hangs ends before its story does, so that the report names it. */
const STEP_WITHIN_MS = 2 * POLL_WITHIN_MS
/** The size of a narrow phone. */
const VIEWPORT = { width: 360, height: 780 }

interface Fixtures {
  readonly browser: Browser
  /** The errors that the story's pages wrote to the browser's console, and those that their scripts threw. */
  readonly complaints: string[]
  /** Opens a blank page in a new context. */
  readonly newPage: (options?: BrowserContextOptions) => Promise<Page>
  /** Opens a page of the edge in a new context, and waits until its script runs. */
  readonly visitor: (url: string, options?: BrowserContextOptions) => Promise<Page>
  readonly visitorWithTurn: (url: string, options?: BrowserContextOptions) => Promise<Page>
}

/** `mayComplain` matches the errors that are expected in a story. */
export const storyTest = (mayComplain?: RegExp) =>
  test.extend<Fixtures>({
    browser: [
      async ({ task: _ }, use) => {
        const browser = await chromium.connect(await sharedPart('browser'))
        await use(browser)
        await browser.close()
      },
      { scope: 'file' },
    ],
    complaints: async ({ task: _ }, use) => {
      const complaints: string[] = []
      await use(complaints)
      expect(complaints.filter((complaint) => !mayComplain?.test(complaint))).toEqual([])
    },
    newPage: async ({ browser, complaints }, use) => {
      const opened: { close(): Promise<void> }[] = []
      await use(async (options = {}) => {
        const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: 'reduce', ...options })
        opened.push(context)
        context.on('page', (page) => {
          page.on('pageerror', (error) => complaints.push(String(error)))
          page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
        })
        context.setDefaultTimeout(STEP_WITHIN_MS)
        return context.newPage()
      })
      for (const context of opened) await context.close()
    },
    visitor: ({ newPage }, use) =>
      use(async (url, options) => {
        const page = await newPage(options)
        await (options?.javaScriptEnabled === false ? page.goto(url) : goTo(page, url))
        return page
      }),
    visitorWithTurn: ({ visitor }, use) =>
      use(async (url, options) => {
        const page = await visitor(url, options)
        await button(page, 'Join the line').click()
        await heading(page, 'It is your turn').waitFor()
        return page
      }),
  })

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
export const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name })
export const toggle = (page: Page, name: string) => page.getByRole('switch', { name })
/** A connected page shows no sign of its connection. */
export const isConnected = (page: Page) =>
  page.locator('#connection[data-state=online][hidden]').waitFor({ state: 'attached' })
export const hasText = (locator: Locator, text: string | RegExp) => locator.filter({ hasText: text }).waitFor()

/** Loads a page of the edge, and waits for what only its script writes. After that the script handles input. */
export async function goTo(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.locator('#connection[data-state]').waitFor({ state: 'attached' })
}

export async function newTab(page: Page, url: string): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(url)
  return tab
}
