/** The proof of work in a real browser: the widgets work when the form is sent, by mouse or by keyboard. */
import type { Page } from 'playwright-core'
import { beforeAll, describe } from 'vitest'
import { button, goTo, heading, storyTest } from '../lib/in-browser.ts'
import { admin } from '../lib/operator.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { TURNSTILE_TOKEN } from '../run/one-system.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const access = { sign_in: 'optional', invitation: 'off', proof_of_work: 'off', turnstile: false } as const
const [PROOF, TURNSTILE] = [{ proof_of_work: 5_000 }, { turnstile: true }]
/** A stand-in replaces Cloudflare's script. It has the same calls, and gives a token after some time. */
const STAND_IN = `globalThis.turnstile = {
  render(box, options) {
    const field = document.createElement('input')
    Object.assign(field, { type: 'hidden', name: options['response-field-name'] })
    box.append(field)
    setTimeout(() => { field.value = '${TURNSTILE_TOKEN}'; options.callback(field.value) }, 500)
    return options.sitekey
  },
  remove() {},
}`

const system = await sharedPart('system')
const pageOf = (sale: string) => `${system.edgeUrl}/sales/${sale}`
/** The browser reports the response that requires a proof, and a script that does not load. */
const test = storyTest(/status of 4|ERR_FAILED/)

describe.skipIf(!hasBrowser)('what entry costs', { concurrent: true }, () => {
  beforeAll(async () => {
    const opens_at = new Date(Date.now() + 600_000).toISOString()
    const asked = { priced: PROOF, ruled: {}, checked: TURNSTILE, both: { ...PROOF, ...TURNSTILE } }
    for (const [sale, changes] of Object.entries(asked))
      await createSale(system, sale, saleOf(5, { opens_at, access: { ...access, ...changes } }))
  })

  const widget = (page: Page) => page.locator('altcha-widget input').first().waitFor()
  const join = (page: Page) => button(page, 'Take a place in the lobby').press('Enter')
  const inLobby = (page: Page) => heading(page, 'You are in the lobby').waitFor()

  test('a visitor joins by keyboard alone, and the strict content security policy holds', async ({ visitor }) => {
    const page = await visitor(pageOf('priced'))
    await widget(page)
    await join(page)
    await inLobby(page)
  })

  test('a browser without scripts reads once that this sale needs them, and is not sent round', async ({
    visitor,
    expect,
  }) => {
    const page = await visitor(pageOf('priced'), { javaScriptEnabled: false })
    expect(await page.locator('form noscript p').first().textContent()).toContain('JavaScript')
    expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0)
  })

  test('a visitor whom a rule asks for a proof joins from the page that asks for it', async ({ visitor, expect }) => {
    const rule = { when: { user_agent: 'Chrome' }, action: 'prove', note: '' }
    await admin(system, 'POST', '/sales/ruled/rules', rule)
    const page = await visitor(pageOf('ruled'))
    expect(await page.locator('altcha-widget').count()).toBe(0)
    await join(page)
    await page.getByRole('alert').filter({ hasText: 'A small task comes first' }).waitFor()
    await widget(page)
    await join(page)
    await inLobby(page)
  })

  test.for(['checked', 'both'])(
    "a form of the sale %s waits for Turnstile's token, under the strict policy",
    async (sale, { newPage }) => {
      const page = await newPage()
      await page.route('https://challenges.cloudflare.com/**', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: STAND_IN }),
      )
      await goTo(page, pageOf(sale))
      await join(page)
      await inLobby(page)
    },
  )

  test("a page on which Turnstile's script does not load says so", async ({ newPage }) => {
    const page = await newPage()
    await page.route('https://challenges.cloudflare.com/**', (route) => route.abort())
    await page.goto(pageOf('checked'))
    await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor()
  })
})
