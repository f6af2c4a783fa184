/** How the page's script claims a turn, and keeps a place. */
import { expect, it, vi } from 'vitest'
import {
  begin,
  ELSEWHERE,
  inLine,
  passes,
  reload,
  responding,
  run,
  stub,
  Thing,
  times,
  useStubPage,
} from './testing/stub-page.ts'

useStubPage()

it.each([20, 20_000])('claims its turn on a protected site, with responses in %i ms', async (ms) => {
  stub.things = { line: new Thing({ status: 'waiting' }) }
  stub.answersInMs = ms
  stub.answer = responding({ anchor_position: 100 }, ELSEWHERE)
  await run(9 * ms + 9_000)
  expect(reload).toHaveBeenCalledOnce()
})

it('claims its turn by loading the page, and leaves its own while that shows no turn', async () => {
  const line = new Thing({ status: 'waiting' })
  stub.things = { line }
  stub.answer = responding({ anchor_position: 100 }, { text: async () => '' })
  await begin()
  const replaced = vi.fn()
  Object.assign(stub.things.stage ?? {}, { replaceWith: replaced })
  let parts: Record<string, Thing | undefined> = { stage: stub.things.stage, line }
  const next = { ...document, getElementById: (id: string) => parts[id] ?? null }
  const DOMParser = class {
    parseFromString = () => next
  }
  vi.stubGlobal('DOMParser', DOMParser)
  await passes(20_000)
  expect(times(/status$/)).toBe(0)
  const claims = times(/demo$/)
  expect(claims).toBeGreaterThan(2)
  expect(claims).toBeLessThan(12)
  expect(replaced).not.toHaveBeenCalled()
  parts = { stage: stub.things.stage }
  await passes(6_000)
  expect(replaced).toHaveBeenCalled()
})

it('renews a place that waits long, so that it does not expire', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  stub.things = { ...inLine(), line: new Thing({ status: 'paused' }) }
  const status = { json: async () => ({ status: 'paused', poll_after_ms: 5_000 }) }
  stub.answer = responding({ phase: 'paused', rate_per_second: 0 }, status)
  await run(3.9 * 3_600_000)
  expect(times(/status$/)).toBe(0)
  await passes(4.2 * 3_600_000)
  expect(times(/status$/)).toBe(2)
})

it.each(['turn', 'landing'])('leaves the %s when the sale is over, and retries with pauses', async (here) => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  stub.things = { [here]: new Thing() }
  stub.answer = responding({ phase: 'sold_out' }, { text: async () => '' })
  await run(10_000)
  expect(times(/demo$/)).toBeGreaterThan(0)
  expect(times(/demo$/)).toBeLessThan(5)
})

it('refreshes a turn with nothing to choose when there is stock, and not before', async () => {
  const turn = new Thing()
  stub.things = { turn }
  const missed = { anchor_position: 500, missed_through: 400 }
  stub.answer = responding({ ...missed, phase: 'all_in_carts' }, ELSEWHERE)
  await run(20_000)
  expect(times(/demo$/)).toBe(0)
  stub.answer = responding({ ...missed, version: 4 }, ELSEWHERE)
  await passes(10_000)
  expect(reload).toHaveBeenCalledOnce()
})

it('does not refresh a turn with something to choose', async () => {
  stub.things = { turn: Object.assign(new Thing(), { querySelector: () => new Thing() }) }
  await run(20_000)
  expect(times(/demo$/)).toBe(0)
  expect(times(/schedule$/)).toBeLessThan(8)
})
