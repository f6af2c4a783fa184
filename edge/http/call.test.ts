import fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { MAX_BODY_BYTES } from '../../shared/parse.ts'
import { bodyMsOf, formFields, isCached, readText, wantsHtml, wantsJson } from './call.ts'

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

const streamed = (text: string, headers: Record<string, string> = {}) =>
  new Request('https://shop.example/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: new Blob([text]).stream(),
    duplex: 'half',
  } as never)

it('reads a body that states no length, and refuses one that is too large or compressed', async () => {
  expect(await readText(streamed('{"a":1}'))).toBe('{"a":1}')
  await expect(readText(streamed('x'.repeat(MAX_BODY_BYTES + 1)))).rejects.toMatchObject({ problem: { status: 413 } })
  await expect(readText(streamed('{}', { 'content-encoding': 'gzip' }))).rejects.toMatchObject({
    problem: { status: 415 },
  })
  const multipart = new FormData()
  multipart.set('a', 'b')
  const { headers, body } = new Response(multipart)
  const form = { method: 'POST', headers: { 'content-type': headers.get('content-type') }, body, duplex: 'half' }
  expect(await formFields(new Request('https://shop.example/', form as never))).toEqual({ a: 'b' })
})

it.each([
  ['text/html', true, false],
  ['Application/JSON', false, true],
  ['text/html;q=0.5, application/json', false, true],
  ['*/*', false, false],
])('reads Accept: %s', (accept, html, json) => {
  const request = new Request('https://shop.example/', { headers: { accept } })
  expect([wantsHtml(request), wantsJson(request)]).toEqual([html, json])
})

const URLENCODED = 'application/x-www-form-urlencoded'
const post = (body: string, type = `${URLENCODED};charset=UTF-8`) =>
  new Request('https://shop.example/', {
    method: 'POST',
    headers: { 'content-type': type, 'content-length': String(body.length) },
    body,
  })

afterEach(() => void vi.useRealTimers())

it('knows how long the sender of a form took, who must not slow the line', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const headers = { 'content-type': URLENCODED, 'content-length': '3' }
  const slow = new Request('https://shop.example/', {
    method: 'POST',
    headers,
    body: readable,
    duplex: 'half',
  } as never)
  const reading = formFields(slow)
  vi.setSystemTime(Date.now() + 1_200)
  const writer = writable.getWriter()
  await Promise.all([writer.write(new TextEncoder().encode('a=b')), writer.close()])
  expect([await reading, bodyMsOf(slow), bodyMsOf(post('a=b'))]).toEqual([{ a: 'b' }, 1_200, 0])
})

it.each([
  ['value', `email=${'x'.repeat(4_097)}`],
  ['name', `${'x'.repeat(201)}=1`],
])('reads no form with a %s that is too long', async (_, body) => {
  expect(await formFields(post(`a=b&${body}`))).toBeNull()
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
