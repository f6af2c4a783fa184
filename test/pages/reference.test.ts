/** The page `/api` of each half shows its interface, and makes calls; reference.long.test.ts looks at it. */
import { describe, expect } from 'vitest'
import { faultsOf } from '../lib/axe.ts'
import { storyTest } from '../lib/in-browser.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const test = storyTest()

describe.skipIf(!hasBrowser)('the reference', () => {
  test('of the edge shows the calls of buyers, and finds and makes one', async ({ newPage }) => {
    const { edgeUrl } = await sharedPart('system')
    const page = await newPage()
    await page.goto(`${edgeUrl}/api#join`)
    const join = page.locator('#join')
    await expect.poll(() => join.getAttribute('open')).toBe('')
    expect(await join.locator('.answer .status').allTextContents()).toEqual(
      expect.arrayContaining(['201', '401', '429']),
    )
    await join.locator('.answer', { hasText: 'invitation-required' }).locator('summary').click()
    await expect.poll(() => join.textContent()).toContain('"type": "/problems/invitation-required"')
    expect(await faultsOf(page)).toEqual([])

    await page.fill('#filter', 'HEALTHZ')
    await expect.poll(() => page.locator('.call:visible').count()).toBe(1)
    const health = page.locator('#getHealth')
    await health.locator('summary').first().click()
    await health.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => health.locator('.outcome').textContent()).toMatch(/^200 /)
    expect(await health.locator('.result').textContent()).toContain('"status": "ok"')
  })

  test('of the origin shows the calls of operators and the webhooks, and calls with a key', async ({ newPage }) => {
    const { originUrl, adminToken } = await sharedPart('system')
    const page = await newPage()
    await page.goto(`${originUrl}/api`)
    await page.locator('.keys summary').click()
    await page.fill('#key-key', adminToken)
    const list = page.locator('#listOperators')
    await list.locator('summary').first().click()
    await expect.poll(() => list.textContent()).toContain('Role: owner.')
    await list.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => list.locator('.outcome').textContent()).toMatch(/^200 /)
    const message = page.locator('#onOrderConfirmed')
    await message.locator('summary').first().click()
    await expect.poll(() => message.textContent()).toContain('webhook-signature')
    expect(await message.locator('form').count()).toBe(0)
    expect(await faultsOf(page)).toEqual([])
  })
})
