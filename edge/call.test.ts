import { expect, it } from 'vitest'
import { isCached } from './call.ts'

it.each([
  ['W/"3-open"', true],
  ['"3-open"', true],
  ['"2-open", W/"3-open"', true],
  ['*', true],
  ['"2-open"', false],
  [undefined, false],
])('compares If-None-Match %s with W/"3-open": %s', (tag, cached) => {
  const headers: Record<string, string> = tag === undefined ? {} : { 'if-none-match': tag }
  expect(isCached(new Request('https://shop.example/', { headers }), 'W/"3-open"')).toBe(cached)
})
