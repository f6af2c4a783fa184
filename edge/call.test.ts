import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formFields, isCached } from './call.ts'

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

const URLENCODED = 'application/x-www-form-urlencoded'
const post = (body: string, type = `${URLENCODED};charset=UTF-8`) =>
  new Request('https://shop.example/', {
    method: 'POST',
    headers: { 'content-type': type, 'content-length': String(body.length) },
    body,
  })

it('reads a form as the platform does, whatever is in it', async () => {
  const piece = fc.oneof(
    fc.constantFrom('&', '=', '+', '%', '%4', '%40', '%C3%A9', '%ff', '__proto__', 'é'),
    fc.string(),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const body = pieces.join('').toWellFormed()
      expect(await formFields(post(body))).toEqual(Object.fromEntries(new URLSearchParams(`?${body}`)))
    }),
  )
})
