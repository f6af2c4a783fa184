/** Signs in to the console in a real browser as a new operator. */
import type { Page } from 'playwright-core'
import type { Role } from '../../shared/api/operators/roles.ts'
import type { RunSystem } from '../run/one-system.ts'
import { admin } from './operator.ts'

/** Goes to a page of the console without loading its script again, as its own links do. */
export async function goWithin(page: Page, url: string): Promise<void> {
  await page.evaluate(`new Promise((shown) => {
    history.pushState(null, '', ${JSON.stringify(url)})
    requestAnimationFrame(() => requestAnimationFrame(shown))
  })`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
}

/** Follows a link of the side column, which a phone shows as a menu. */
export async function followLink(page: Page, name: string): Promise<void> {
  await openMenu(page)
  await page.getByRole('link', { name, exact: true }).click()
}

export async function openMenu(page: Page): Promise<void> {
  // Before the page is there it has no menu either.
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  const menu = page.getByRole('button', { name: 'Menu' })
  if (await menu.isVisible()) await menu.click()
}

/** What the page itself offers to press, beside the frame around it. */
export const actsOn = (page: Page) => page.getByRole('main').getByRole('button').allInnerTexts()

/** Signs in with the key of an operator who is created for it, and returns the key. */
export async function signIn(page: Page, system: RunSystem, name: string, role: Role): Promise<string> {
  const { key } = await admin<{ key: string }>(system, 'POST', '/operators', { name, role })
  await page.goto(`${system.originUrl}/console`)
  await page.getByLabel('Your key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sales', exact: true }).waitFor()
  return key
}
