/**
 * A sale by invitation on a whole system in real browsers: by link and by code, with and without a script, used once,
 * and void.
 */
import type { Page } from 'playwright-core'
import { beforeAll, describe } from 'vitest'
import { button, heading, storyTest } from '../lib/in-browser.ts'
import { admin } from '../lib/operator.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const SALE = 'invited'
const system = await sharedPart('system')
const url = `${system.edgeUrl}/sales/${SALE}`
const test = storyTest(/Failed to load resource/)

describe.skipIf(!hasBrowser)('a sale by invitation', () => {
  beforeAll(() => {
    const opens_at = new Date(Date.now() + 600_000).toISOString()
    return createSale(system, SALE, saleOf(5, { opens_at, access: { ...saleOf(5).access, invitation: 'required' } }))
  })

  const operator = (method: string, path: string, body?: string | object) =>
    admin(system, method, `/sales/${SALE}/invitations${path}`, body)
  const newLink = async () => String((await operator('POST', '/links', {})).invitation)
  const join = async (page: Page) => button(page, 'Take a place in the lobby').click()
  const hasPlace = (page: Page) => heading(page, 'You are in the lobby').waitFor()
  const code = (page: Page) => page.getByLabel('The code of your invitation').first()

  test('lets one browser in by a code for one, and says to the next that it is used', async ({ visitor, expect }) => {
    expect(await operator('PUT', '', 'code,uses\nSUMMER-24,1\n')).toMatchObject({ imported: 1 })
    const ada = await visitor(`${url}?invitation=summer-24`)
    expect(await code(ada).inputValue()).toBe('summer-24')
    await join(ada)
    await hasPlace(ada)

    for (const javaScriptEnabled of [true, false]) {
      const eve = await visitor(url, { javaScriptEnabled })
      await code(eve).fill('SUMMER-24')
      await join(eve)
      await eve.getByText('used by as many people as it is for').first().waitFor()
      expect(await code(eve).inputValue()).toBe('SUMMER-24')
      expect(await code(eve).getAttribute('aria-invalid')).toBe('true')
      await code(eve).fill(await newLink())
      await join(eve)
      await hasPlace(eve)
    }
    expect(await operator('GET', '')).toEqual({ invitations: 3, uses: 3, used: 3 })
  })

  test('takes the code of a link from the address where the page came from a cache that knows no links', async ({
    newPage,
    expect,
  }) => {
    const invitation = await newLink()
    const page = await newPage()
    await page.route('**/*invitation=*', async (route) => {
      const { origin, pathname } = new URL(route.request().url())
      await route.fulfill({ response: await route.fetch({ url: origin + pathname }) })
    })
    await page.goto(`${url}?invitation=${invitation}`)
    await expect.poll(() => code(page).inputValue()).toBe(invitation)
    await join(page)
    await hasPlace(page)
  })

  test('refuses a link that was declared void, and lets one in that was signed later', async ({ visitor }) => {
    const old = await newLink()
    // A time in the future counts as now, by the clock that signs.
    await operator('POST', '/links', { void_before: new Date(Date.now() + 60_000).toISOString() })
    const page = await visitor(`${url}?invitation=${old}`, { javaScriptEnabled: false })
    await join(page)
    await page.getByText('This invitation is no longer valid').first().waitFor()
    await code(page).fill(await newLink())
    await join(page)
    await hasPlace(page)
  })
})
