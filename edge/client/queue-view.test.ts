/** What the page shows of a place in line. */
import { expect, it, vi } from 'vitest'
import { browser, inLine, iso, NOW_MS, passes, run, schedule, stub, Thing, useStubPage } from './testing/stub-page.ts'

useStubPage()

it('shows and announces the place, and leaves a translation of it until it changes', async () => {
  stub.things = inLine()
  const announced = () => stub.things.announcement?.textContent
  const who = stub.things['ahead-of-you']
  stub.answer = () => schedule({ anchor_position: 48 })
  await run(100)
  expect(announced()).toBe('1 person ahead. About 3 minutes.')
  Object.assign(who ?? {}, { textContent: 'personne devant' })
  await passes(2_000)
  expect(who?.textContent).toBe('personne devant')
  const slower = { version: 4, anchor_position: 49, rate_per_second: 0.005 }
  stub.answer = () => schedule({ ...slower, ends_at: iso(135_000), ends_at_ms: NOW_MS + 135_000 })
  await passes(130_000)
  expect(who?.textContent).toBe('You are next')
  expect(announced()).toBe('You are next. Too late.')
  expect(document.title).toBe('You are next · Air · Max')
})

it.each([
  ['in the page’s language', 'en', 2, /^at 2:0\d.PM$/],
  ['with the weekday, on another day', 'en', 28, /^at Saturday 4:0\d.PM$/],
  ['in the browser’s language, where the page’s is no language', 'en_US', 2, /^at 14:0\d$/],
])('shows the time of the turn %s', async (_where, lang, inHours, text) => {
  const until = new Thing()
  stub.things = { ...inLine(), 'wait-until': until }
  vi.stubGlobal('navigator', { ...browser, language: 'de' })
  Object.assign(document.documentElement, { lang })
  stub.answer = () => schedule({ anchor_position: 49, rate_per_second: 1 / (inHours * 3_600) })
  await run(100)
  expect(until.textContent).toMatch(text)
})

it('says to which place the stock is likely to last, while that is known', async () => {
  const [lasts, lastsTo] = [new Thing(), new Thing()]
  stub.things = { ...inLine(), place: new Thing(), lasts, 'lasts-to': lastsTo }
  const shown = vi.spyOn(lasts, 'toggleAttribute')
  stub.answer = () => schedule({ anchor_position: 30, rate_per_second: 0.0001, lasts_for_positions: 1_200 })
  await run(2_000)
  await vi.waitFor(() => expect(shown).toHaveBeenLastCalledWith('hidden', false), 30_000)
  expect(lastsTo.textContent).toBe('1,230')
  stub.answer = () => schedule({ version: 4, anchor_position: 40, rate_per_second: 0.0001, lasts_for_positions: null })
  await passes(130_000)
  expect(shown).toHaveBeenLastCalledWith('hidden', true)
})

it('counts down to an opening that an operator puts off', async () => {
  const [timer, label] = [new Thing({ at: 'anchor_at_ms' }), new Thing({ over: 'Opening' })]
  timer.dateTime = new Date(NOW_MS + 2_000).toISOString()
  label.textContent = 'The sale opens in'
  timer.parentElement = Object.assign(new Thing(), { querySelector: () => label })
  stub.timers = [timer]
  stub.answer = () => new Error('no network')
  await run(2_600)
  expect(label.textContent).toBe('Opening')
  const later = { opens_at: iso(3_600_000), anchor_at_ms: NOW_MS + 3_600_000 }
  stub.answer = () => schedule({ phase: 'pre_queue', draw_seed: null, ...later })
  await passes(30_000)
  expect(label.textContent).toBe('The sale opens in')
  expect(timer.textContent).toMatch(/^59:2\d$/)
})
