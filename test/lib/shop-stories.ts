/** Sales for stories in a browser, and the steps that a buyer takes on their pages. */
import type { Page } from 'playwright-core'
import { beforeAll } from 'vitest'
import type { RunSystem } from '../run/one-system.ts'
import { sharedPart } from '../run/shared-part.ts'
import { eventually } from './eventually.ts'
import { button, hasText, heading, link } from './in-browser.ts'
import { admin } from './operator.ts'

/** The rate is so slow that no turn comes during a test, even on a busy machine. */
export const SLOW = { admission: { rate_per_second: 0.01 } }
export const PRODUCT = { product_id: 'one', name: 'Dusk & Dawn', unit_price_minor: 100, currency: 'EUR', total: 50 }
/** The text of what has the focus. */
export const FOCUSED = 'document.activeElement?.textContent'

export function useShopStories() {
  let system: RunSystem
  beforeAll(async () => {
    system = await sharedPart('system')
  })

  /** An operator's call about a sale. */
  const operator = (method: string, path: string, body?: object) => admin(system, method, `/sales/${path}`, body)

  async function sale(name: string, opensInMs: number, changes: object = {}): Promise<string> {
    await operator('PUT', name, {
      name: 'Trainers "<b>Ünï</b>" 👟',
      opens_at: new Date(Date.now() + opensInMs).toISOString(),
      products: [PRODUCT],
      hold_seconds: 600,
      admission: { rate_per_second: 50 },
      ...changes,
    })
    const url = `${system.edgeUrl}/sales/${name}`
    await eventually(
      () => fetch(`${url}/schedule`),
      ({ ok }) => ok,
    )
    return url
  }
  return { system: () => system, operator, sale }
}

export async function reserve(page: Page, pressed = 'Reserve'): Promise<void> {
  await button(page, pressed).click()
  await heading(page, 'Reserved for you').waitFor()
}

export async function pay(page: Page): Promise<void> {
  await button(page, /^Pay/).click()
  await heading(page, 'It is yours').waitFor()
}

/** Reserves and pays, and returns what the order's page says. */
export async function buy(page: Page, pressed?: string): Promise<string> {
  await reserve(page, pressed)
  await pay(page)
  return (await page.locator('#order').textContent()) ?? ''
}

export async function toBank(page: Page): Promise<void> {
  await page.getByLabel('Card whose bank asks you to confirm').check()
  await button(page, /^Pay/).click()
  await link(page, 'On to your bank').click()
  await heading(page, 'Approve this payment?').waitFor()
  await hasText(page.locator('.amount'), '€1.00')
}

export const numberOf = (page: Page) => page.locator('#stage').getAttribute('data-number')
