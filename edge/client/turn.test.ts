/** The page's script claims a turn and keeps a place. */
import { expect, it, vi } from 'vitest'
import {
  ELSEWHERE,
  has,
  IN_LINE,
  LANDING,
  open,
  passes,
  reload,
  responding,
  showing,
  stub,
  TURN,
  times,
  useBrowserPage,
} from './testing/browser-page.ts'

useBrowserPage()

it.each([20, 20_000])('claims its turn on a protected site, with responses in %i ms', async (ms) => {
  stub.answersInMs = () => ms
  stub.answer = responding({ anchor_position: 100 }, ELSEWHERE)
  await open(IN_LINE)
  await passes(9 * ms + 9_000)
  expect(reload).toHaveBeenCalledOnce()
})

it('claims its turn by loading the page, and leaves its own while that shows no turn', async () => {
  stub.answer = responding({ anchor_position: 100 }, showing(IN_LINE))
  await open(`${IN_LINE}<p id="own"></p>`)
  await passes(20_000)
  expect(times(/status$/)).toBe(0)
  const claims = times(/demo$/)
  expect(claims).toBeGreaterThan(2)
  expect(claims).toBeLessThan(12)
  expect(has('own')).toBe(true)
  stub.answer = responding({ anchor_position: 100 }, showing(TURN))
  await passes(6_000)
  expect([has('own'), has('turn')]).toEqual([false, true])
})

it('renews a place that waits long, so that it does not expire', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  const status = { json: async () => ({ status: 'paused', poll_after_ms: 5_000 }) }
  stub.answer = responding({ phase: 'paused', rate_per_second: 0 }, status)
  await open(IN_LINE, {}, { beatMs: 60_000 })
  await passes(3.9 * 3_600_000)
  expect(times(/status$/)).toBe(0)
  await passes(4.2 * 3_600_000)
  expect(times(/status$/)).toBe(2)
})

it.each([
  ['turn', TURN],
  ['landing', LANDING],
])('leaves the %s when the sale is over, and retries with pauses', async (_, content) => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  stub.answer = responding({ phase: 'sold_out' }, showing(content))
  await open(content)
  await passes(10_000)
  expect(times(/demo$/)).toBeGreaterThan(0)
  expect(times(/demo$/)).toBeLessThan(5)
})

it('refreshes a turn with nothing to choose when there is stock, and not before', async () => {
  const missed = { anchor_position: 500, missed_through: 400 }
  stub.answer = responding({ ...missed, phase: 'all_in_carts' }, ELSEWHERE)
  await open('<div id="turn"></div>')
  await passes(20_000)
  expect(times(/demo$/)).toBe(0)
  stub.answer = responding({ ...missed, version: 4 }, ELSEWHERE)
  await passes(10_000)
  expect(reload).toHaveBeenCalledOnce()
})

it('does not refresh a turn with something to choose', async () => {
  await open(TURN)
  await passes(20_000)
  expect(times(/demo$/)).toBe(0)
  expect(times(/schedule$/)).toBeLessThan(8)
})
