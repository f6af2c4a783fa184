/** The map of a hall in a real browser, by keyboard and by fingers; map.long.test.ts has the rest. */
import type { CDPSession, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { fields, toFreeSeat, useHallMap } from '../lib/hall-map.ts'
import { useSamplePages } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

describe.skipIf(!hasBrowser)('on the map of a hall', () => {
  const open = useHallMap()

  test('the keyboard goes from seat to seat, chooses one, and takes it out again', async () => {
    const page = await open('hall-turn')
    await toFreeSeat(page)
    await page.keyboard.press('Enter')
    expect(await fields(page)).toHaveLength(1)
    expect(await page.locator('#cart-choice li').textContent()).toMatch(/Row \w+, seat \d+€/)
    await page.getByRole('button', { name: /^Remove: / }).click()
    expect(await fields(page)).toEqual([])
    await page.close()
  })
})

type Finger = readonly [x: number, y: number]

describe.skipIf(!hasBrowser)('with fingers on the map of a hall', () => {
  const open = useSamplePages({ width: 390, height: 844, hasTouch: true })

  /** Fingers go down, move to their end positions in some steps, and are lifted. */
  async function swipe(touch: CDPSession, from: readonly Finger[], to: readonly Finger[]): Promise<void> {
    const STEPS = 6
    const send = (type: string, touchPoints: readonly object[]) =>
      touch.send('Input.dispatchTouchEvent', { type, touchPoints } as never)
    const at = (step: number) =>
      from.map(([x, y], id) => {
        const [toX, toY] = to[id] ?? [x, y]
        return { id, x: x + ((toX - x) * step) / STEPS, y: y + ((toY - y) * step) / STEPS }
      })
    await send('touchStart', at(0))
    for (let step = 1; step <= STEPS; step++) await send('touchMove', at(step))
    await send('touchEnd', [])
  }

  /** The visible part of the hall, read from the frame on the small map. */
  const seen = (page: Page) =>
    page.locator('.hall-mini rect').evaluate((frame) => {
      const value = (name: string) => Number(frame.getAttribute(name))
      return { x: value('x'), width: value('width') }
    })

  test('two pull the seats nearer, one pushes them along, and the tabs lead to all of the hall and back', async () => {
    const page = await open('hall-turn')
    const map = page.locator('.hall-plan canvas')
    await map.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await map.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    const [cx, cy] = [x + width / 2, y + height / 2]
    const touch = await page.context().newCDPSession(page)
    const mini = page.locator('.hall-mini')
    const tab = (name: string) => page.locator('#hall-tabs button', { hasText: name })
    expect(await mini.isVisible()).toBe(false)
    expect(await page.locator('#hall-tabs button:visible').allTextContents()).toEqual(['Hall', 'List'])

    const whole = await seen(page)
    await swipe(touch, [[cx - 20, cy], [cx + 20, cy]], [[cx - 150, cy], [cx + 150, cy]]) // biome-ignore format: pairs
    await expect.poll(() => mini.isVisible()).toBe(true)
    const near = await seen(page)
    expect(near.width).toBeLessThan(whole.width / 3)
    await swipe(touch, [[cx + 80, cy]], [[cx - 80, cy]])
    await expect.poll(async () => (await seen(page)).x).toBeGreaterThan(near.x)
    expect((await seen(page)).width).toBeCloseTo(near.width)
    // The gesture pressed no seat.
    expect(await page.locator('#cart-choice li').count()).toBe(0)

    const section = page.locator('#hall-tabs button[aria-pressed=true]')
    const name = (await section.textContent()) ?? ''
    expect(name).not.toBe('Hall')
    await tab('Hall').click()
    await expect.poll(() => mini.isVisible()).toBe(false)
    await tab(name).click()
    await expect.poll(() => mini.isVisible()).toBe(true)
    expect(await section.textContent()).toBe(name)
    await page.close()
  })
})
