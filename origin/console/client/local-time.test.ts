import { expect, it } from 'vitest'
import { instantOf, localOf } from './local-time.ts'

const BERLIN = 'Europe/Berlin'
/** The clock shows half past two twice that night. */
const [FIRST, SECOND] = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.250Z']

it.each([
  ['2026-07-01T12:00', '2026-07-01T10:00:00.000Z'],
  ['2026-12-01T12:00:05', '2026-12-01T11:00:05.000Z'],
  ['2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
  ['2026-10-25T02:30', FIRST],
  ['2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
])('%s is typed for %s', (text, iso) => {
  expect(instantOf(text, null, BERLIN)).toBe(iso)
  expect(localOf(iso, BERLIN)).toContain(text)
})

it.each([FIRST, SECOND])('the instant %s stays while its text is not edited', (iso) => {
  expect(instantOf(localOf(iso, BERLIN), iso, BERLIN)).toBe(iso)
  expect(instantOf('2026-10-25T02:30', iso, BERLIN)).toBe(iso)
  expect(instantOf('2026-10-25T02:45', iso, BERLIN)).toBe('2026-10-25T00:45:00.000Z')
})

it('a time that the clock skips is refused with its reason', () => {
  expect(() => instantOf('2026-03-29T02:30', null, BERLIN)).toThrow('no 02:30 on that day')
})
