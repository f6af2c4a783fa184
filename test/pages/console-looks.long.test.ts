/** Checks every page of the console, with content, with axe in each look and width, which takes two minutes. */
import postgres from 'postgres'
import { afterAll, describe } from 'vitest'
import { addHall } from '../../origin/seats/testing.ts'
import { faultsByLook, tooWide } from '../lib/axe.ts'
import { storyTest } from '../lib/in-browser.ts'
import { signIn } from '../lib/in-console.ts'
import { admin } from '../lib/operator.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { admitted, visitorsOf } from '../lib/visitor.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const SALE = 'console-looks'
const PAGES_OF_SALE = [
  ...['', '/visitors', '/edit', '/goods', '/promo-codes', '/preview', '/feed', '/scheduled', '/access', '/invitations'],
  ...['/report', '/hall', '/hall/import?section=stalls', '/hall/box-office'],
]
const OTHER_PAGES = [
  ...['', '/sales/new', '/orders', '/queues', '/search', '/webhooks', '/findings', '/operators', '/nothing'],
  `/audit?sale=${SALE}`,
]
/** The narrowest and the widest window of an operator. */
const WIDTHS = [320, 2_560]
const test = storyTest(/the server responded with a status of 4|^Blocked autofocusing/)
const system = await sharedPart('system')
const sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
afterAll(() => sql.end({ timeout: 2 }))

describe.skipIf(!hasBrowser)('the console', () => {
  test('axe finds nothing in the light or in the dark, and no page is wider than its window', async ({
    newPage,
    expect,
  }) => {
    await createSale(system, SALE, saleOf(9, { admission: { rate_per_second: 50, max_inside: null } }))
    await addHall(sql, SALE)
    const { checkout } = visitorsOf(system.edgeUrl, SALE)
    const { body: order } = await checkout(await admitted(system.edgeUrl, SALE), { payment_method: 'pm_ok' })
    await admin(system, 'PUT', `/sales/${SALE}/promo-codes`, [{ code: 'NOON10', percent: 10, uses: 1 }])
    await admin(system, 'PUT', `/sales/${SALE}/invitations`, 'SUMMER-24,3\n')
    const page = await newPage()
    const found: Record<string, unknown> = {}
    const check = async (path: string) => {
      const faults: unknown[] = await faultsByLook(page)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        faults.push(...(await tooWide(page)))
      }
      if (faults.length > 0) found[path] = faults
    }
    await page.goto(`${system.originUrl}/console`)
    await page.getByLabel('Your key').waitFor()
    await check('sign-in')
    await signIn(page, system, 'lola', 'owner')
    const paths = [...PAGES_OF_SALE.map((path) => `/sales/${SALE}${path}`), ...OTHER_PAGES, `/orders/${order.order_id}`]
    for (const path of paths) {
      await page.goto(`${system.originUrl}/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText('Loading …').waitFor({ state: 'detached' })
      await check(path)
    }
    expect(found).toEqual({})
  })
})
