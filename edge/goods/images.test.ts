/**
 * The edge serves pictures from the origin and caches them permanently. Other addresses belong to a site behind the
 * edge.
 */
import { expect, it } from 'vitest'
import { requestsTo, stub } from '../testing/origin.ts'
import { call } from '../testing/visitors.ts'

const path = `/images/${'0123456789abcdef'.repeat(2)}`

it('passes a picture on, to be kept for good', async () => {
  await stub(`${path}/640.webp`, 200, { picture: true }, 0, { etag: '"a"', 'set-cookie': 'a=b' })
  const response = await call(`${path}/640.webp`)
  expect(Object.fromEntries(response.headers)).toEqual({
    'content-type': 'application/json',
    etag: '"a"',
    'cache-control': 'public, max-age=31536000, immutable',
    'cdn-cache-control': 'public, max-age=31536000',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.any(String),
  })
  expect((await call(`${path}/640.webp`, { headers: { 'if-none-match': '"a"' } })).status).toBe(304)
})

it('keeps nothing of a picture that is not there', async () => {
  await stub(`${path}/320.webp`, 404, {})
  const response = await call(`${path}/320.webp`)
  expect([response.status, response.headers.get('cache-control')]).toEqual([404, 'no-store'])
})

it('asks the origin for no other name', async () => {
  for (const other of ['/images/logo.png', '/images/0123/640.webp', '/images/a/b/c']) {
    expect((await call(other)).status, other).toBe(404)
    expect((await requestsTo(other)).calls).toBe(0)
  }
})
