/** The latest searches at the shop front, of an account and of a browser. */
import { describe, expect, test } from 'vitest'
import { useFrontSearch } from '../lib/front-search.ts'
import { hasBrowser } from '../run/shared-part.ts'

describe.skipIf(!hasBrowser)('the search of the front', () => {
  const openFront = useFrontSearch()

  test('asks for the searches of an account only where somebody is signed in', async () => {
    const { page, field } = await openFront()
    let asked = 0
    await page.route('**/me/searches', (route) => {
      asked++
      return route.fulfill({ json: { searches: ['of the account'] } })
    })
    const search = async (cookie: string) => {
      await page.evaluate(`document.cookie = '${cookie}'; document.querySelector('#search').dataset.accounts = ''`)
      await field.click()
      await field.fill('aurora')
      await expect.poll(() => page.locator('.typed mark').count()).toBeGreaterThan(0)
      return asked
    }
    expect(await search('other=1')).toBe(0)
    await page.reload()
    expect(await search('signed-in=1')).toBe(1)
    await page.close()
  })

  test('remembers what was searched for in this browser, and deletes one or all', async () => {
    const { page, field } = await openFront()
    const address = page.url()
    for (const q of ['one', 'TWO', ' two ', 'three']) {
      await field.click()
      await expect.poll(() => page.locator('.recent').count()).toBe(1)
      await field.fill(q)
      await expect.poll(() => page.locator('.typed').isVisible()).toBe(true)
      await page.keyboard.press('Enter')
      await page.waitForURL('**/search?q=*')
      await page.goto(address)
    }
    const recent = () => page.locator('.recent li').allTextContents()
    await field.click()
    await expect.poll(recent).toEqual(['three', 'two', 'one'])
    await page.getByRole('button', { name: 'Delete: two' }).click()
    await expect.poll(recent).toEqual(['three', 'one'])
    await page.getByRole('button', { name: 'Delete all recent searches' }).click()
    await expect.poll(recent).toEqual([])
    expect(await page.evaluate('localStorage.searches')).toBeUndefined()
    await page.close()
  })
})
