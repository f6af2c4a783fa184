/** Parts that many pages share show the current state, and are made once for each state. */
import { expect, it, vi } from 'vitest'
import { type Html, html } from '../html.ts'
import { Kept } from './kept.ts'

it('keeps a part for as long as all that it is made of is the same', () => {
  const [state, schedule] = [{ name: 'Drop' }, { version: 1 }]
  const make = vi.fn((of: string) => html`<p>${of}</p>`)
  const parts = new Kept<Html>(10)
  const part = (name: string, ...of: readonly unknown[]) => String(parts.get(name, of, () => make(JSON.stringify(of))))
  const first = part('a', state, schedule)
  expect([part('a', state, schedule), make.mock.calls.length]).toEqual([first, 1])
  // A new object may have other content later, even if it is equal now.
  part('a', { ...state }, schedule)
  expect(make).toHaveBeenCalledTimes(2)
  expect(part('a', state, { version: 2 })).toContain('2')
  expect(part('a', state)).not.toContain('version')
  expect([part('b', schedule), part('a', state)]).not.toContain(first)
})
