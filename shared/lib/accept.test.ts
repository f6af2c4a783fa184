import { expect, test } from 'vitest'
import { preferred } from './accept.ts'

const HTML = 'text/html'
const DATA = 'application/json'

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', HTML],
  ['application/json', DATA],
  ['Application/JSON', DATA],
  ['TEXT/HTML', HTML],
  ['text/*', HTML],
  ['application/json, text/plain, */*', DATA],
  ['text/html;q=0.5, application/json', DATA],
  ['text/html;q=0.9, application/json;q=0.1', HTML],
  ['text/html;q=0, application/json', DATA],
  ['application/json;q=0, text/html;q=0.1', HTML],
  ['text/html, application/json', HTML],
  ['text/html;q=0, */*', null],
  ['text/html-like, */*', null],
  ['*/*', null],
  ['', null],
  [null, null],
  ['image/png', null],
  [', ;q=1, text', null],
])('of a page and JSON, %s prefers %s', (accept, type) => {
  expect(preferred(accept, [HTML, DATA])).toBe(type)
})

test('a range that is excluded stays so beside a wildcard', () => {
  expect(preferred('text/csv;q=0, text/*', ['text/csv', 'text/html'])).toBe('text/html')
})
