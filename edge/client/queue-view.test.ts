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
  stub.answer = () => schedule({ version: 4, anchor_position: 49, ends_at: iso(90_000), ends_at_ms: NOW_MS + 90_000 })
  await passes(70_000)
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

it('shows a late visitor’s progress from where they started', async () => {
  const progress = Object.assign(new Thing(), { value: Number.NaN })
  stub.things = { ...inLine(), progress }
  const kept = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  })
  const shown = vi.spyOn(progress, 'toggleAttribute')
  stub.answer = () => schedule({ anchor_position: 30, rate_per_second: 0.0001 })
  await run(10)
  expect(shown).not.toHaveBeenCalled()
  await passes(90)
  expect(shown).toHaveBeenLastCalledWith('hidden', false)
  expect(Math.round(progress.value)).toBe(0)
  stub.answer = () => schedule({ version: 4, anchor_position: 40, rate_per_second: 0.0001 })
  await passes(40_000)
  expect(Math.round(progress.value)).toBe(50)
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
