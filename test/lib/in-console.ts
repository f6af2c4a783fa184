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

/** Signs in with the key of an operator who is created for it. */
export async function signIn(page: Page, system: RunSystem, name: string, role: Role): Promise<void> {
  const { key } = await admin<{ key: string }>(system, 'POST', '/operators', { name, role })
  await page.goto(`${system.originUrl}/console`)
  await page.getByLabel('Your key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sales', exact: true }).waitFor()
}
