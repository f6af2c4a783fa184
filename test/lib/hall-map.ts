/** The map of a hall as a browser shows it, and the way to a free seat by keyboard. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { useSamplePages } from './sample-pages.ts'

/** What is said of a seat that can be chosen ends with its price. */
export const FREE = /, €\d/

/** The seats that are part of the page's form. */
export const fields = (page: Page) =>
  page.evaluate<string[]>(
    `[...new FormData(document.querySelector('form')).keys()].filter((name) => name.startsWith('seat:'))`,
  )

export const said = (page: Page) => page.locator('#announcement').textContent()

/** Moves right from seat to seat until one is free. */
export async function toFreeSeat(page: Page): Promise<void> {
  await page.locator('.hall-plan canvas').focus()
  for (let step = 0; step < 30; step++) {
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => said(page)).toMatch(/Row/)
    if (FREE.test((await said(page)) ?? '')) return
  }
  throw new Error('no seat is free')
}

/** Opens a sample page at a desk, with its map as large as it gets. */
export function useHallMap() {
  const openSample = useSamplePages({ width: 1280, height: 900 })
  return async (name: string): Promise<Page> => {
    const page = await openSample(name)
    await page.click('.hall-zoom button:last-child')
    return page
  }
}
