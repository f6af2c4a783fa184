/** The page shows a place in the queue. */
import { expect, it } from 'vitest'
import {
  IN_LINE,
  iso,
  NOW_MS,
  open,
  passes,
  schedule,
  stub,
  textOf,
  the,
  useBrowserPage,
} from './testing/browser-page.ts'

useBrowserPage()

it('shows and announces the place, and leaves a translation of it until it changes', async () => {
  stub.answer = () => schedule({ anchor_position: 48 })
  await open(IN_LINE)
  await passes(100)
  expect(textOf('announcement')).toBe('1 person ahead. About 3 minutes.')
  the('ahead-of-you').textContent = 'personne devant'
  await passes(2_000)
  expect(textOf('ahead-of-you')).toBe('personne devant')
  const slower = { version: 4, anchor_position: 49, rate_per_second: 0.005 }
  stub.answer = () => schedule({ ...slower, ends_at: iso(135_000), ends_at_ms: NOW_MS + 135_000 })
  await passes(130_000)
  expect([textOf('ahead-of-you'), textOf('announcement')]).toEqual(['You are next', 'You are next. Too late.'])
  expect(document.title).toBe('You are next · Air · Max')
})

it.each([
  ['in the page’s language', 'en', 2, /^at 2:0\d.PM$/],
  ['with the weekday, on another day', 'en', 28, /^at Saturday 4:0\d.PM$/],
  ['in the browser’s language, where the page’s is no language', 'en_US', 2, /^at 14:0\d$/],
])('shows the time of the turn %s', async (_where, lang, inHours, text) => {
  stub.answer = () => schedule({ anchor_position: 49, rate_per_second: 1 / (inHours * 3_600) })
  await open(IN_LINE, { lang })
  await passes(100)
  expect(textOf('wait-until')).toMatch(text)
})

it('says to which place the stock is likely to last, while that is known', async () => {
  stub.answer = () => schedule({ anchor_position: 30, rate_per_second: 0.0001, lasts_for_positions: 1_200 })
  const extras = await import('./extras/extras.ts')
  const content = `${IN_LINE}<p id="place"></p><p id="lasts" hidden></p><p id="lasts-to"></p>`
  await open(content, {}, { load: async () => extras })
  await passes(2_000)
  expect(the('lasts').hidden).toBe(false)
  expect(textOf('lasts-to')).toBe('1,230')
  stub.answer = () => schedule({ version: 4, anchor_position: 40, rate_per_second: 0.0001, lasts_for_positions: null })
  await passes(130_000)
  expect(the('lasts').hidden).toBe(true)
})

it('counts down to an opening that an operator puts off', async () => {
  const opensAt = new Date(NOW_MS + 2_000).toISOString()
  stub.answer = () => new Error('no network')
  await open(`<p><span class="label" id="label" data-over="Opening">The sale opens in</span>
    <time id="timer" role="timer" data-at="anchor_at_ms" datetime="${opensAt}"></time></p>`)
  await passes(2_600)
  expect(textOf('label')).toBe('Opening')
  const later = { opens_at: iso(3_600_000), anchor_at_ms: NOW_MS + 3_600_000 }
  stub.answer = () => schedule({ phase: 'pre_queue', draw_seed: null, ...later })
  await passes(30_000)
  expect(textOf('label')).toBe('The sale opens in')
  expect(textOf('timer')).toMatch(/^59:2\d$/)
})
