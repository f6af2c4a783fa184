import { expect, it } from 'vitest'
import { isKnown } from './http.ts'

it.each([
  ['W/"3-open"', true],
  ['"3-open"', true],
  ['"2-open", W/"3-open"', true],
  ['*', true],
  ['"2-open"', false],
  [undefined, false],
])('of an answer tagged W/"3-open", %s says %s', (known, wanted) => {
  const headers: Record<string, string> = known === undefined ? {} : { 'if-none-match': known }
  expect(isKnown(new Request('https://shop.example/', { headers }), 'W/"3-open"')).toBe(wanted)
})
