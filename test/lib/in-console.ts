/** The console in a real browser: signing in as a new operator, and what axe finds on a page (WCAG 2.2 AA). */
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import type { Role } from '../../shared/api/roles.ts'
import type { RunSystem } from '../run/one-system.ts'

export const PHONE = { width: 390, height: 844 }
export const DESK = { width: 1440, height: 900 }
const ALL_RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }

/** Signs in with the key of an operator made for it. */
export async function signIn(page: Page, system: RunSystem, name: string, role: Role): Promise<void> {
  const headers = { authorization: `Bearer ${system.adminToken}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name, role })
  const made = await fetch(`${system.originUrl}/admin/operators`, { method: 'POST', headers, body })
  const { key } = (await made.json()) as { key: string }
  await page.goto(`${system.originUrl}/console`)
  await page.getByLabel('Your key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sales', exact: true }).waitFor()
}

interface Checked {
  readonly runOnly?: object
  /** Selectors of parts that are none of the console's. */
  readonly exclude?: readonly string[]
}

/** What axe finds, and whether the page is wider than its window. */
export async function faultsOf(page: Page, { runOnly = ALL_RULES, exclude = [] }: Checked = {}): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source)
  const context = JSON.stringify({ exclude: exclude.map((selector) => [selector]) })
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'], preload: false })
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${context}, ${options})`)
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  const faults = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)
  return [...faults, ...(wide > 0 ? [`${wide} px too wide`] : [])]
}

/** The same in both looks and widths. */
export async function faultsInAllLooks(page: Page, checked?: Checked): Promise<string[]> {
  const faults: string[] = []
  for (const viewport of [PHONE, DESK])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const found = await faultsOf(page, checked)
      faults.push(...found.map((fault) => `${viewport.width} ${colorScheme} ${fault}`))
    }
  return faults
}
