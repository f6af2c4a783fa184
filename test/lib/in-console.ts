/** Signs in to the console in a real browser as a new operator. */
import type { Page } from 'playwright-core'
import type { Role } from '../../shared/api/operators/roles.ts'
import type { RunSystem } from '../run/one-system.ts'
import { admin } from './operator.ts'

/** Signs in with the key of an operator who is created for it. */
export async function signIn(page: Page, system: RunSystem, name: string, role: Role): Promise<void> {
  const { key } = await admin<{ key: string }>(system, 'POST', '/operators', { name, role })
  await page.goto(`${system.originUrl}/console`)
  await page.getByLabel('Your key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sales', exact: true }).waitFor()
}
