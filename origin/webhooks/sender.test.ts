/** The reason of a failure names what an operator needs to mend it, and Retry-After is read as HTTP defines it. */
import { expect, onTestFinished, test } from 'vitest'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import { delayOf, Sender } from './sender.ts'

test.each([
  [308, { location: 'https://new.example/hook' }, '308 redirect to https://new.example/hook moved'],
  [302, {}, '302 moved'],
  [503, { 'retry-after': '7' }, '503 moved'],
])('a response of %s says why it failed', async (status, headers, error) => {
  const { url, stop } = await serveOnLoopback((_, response) => response.writeHead(status, headers).end('moved'))
  const sender = new Sender({ allowPrivate: true, allowHttp: true })
  onTestFinished(() => {
    sender.close()
    stop()
  })
  const retryAfterMs = status === 503 ? 7_000 : 0
  expect(await sender.send(url, {}, '{}')).toEqual({ status, error, retryAfterMs })
})

test('Retry-After is seconds or a date, and nothing else', () => {
  const nowMs = Date.parse('2026-11-27T12:00:00Z')
  for (const wait of ['120', 'Fri, 27 Nov 2026 12:02:00 GMT', 'Friday, 27-Nov-26 12:02:00 GMT'])
    expect(delayOf(wait, nowMs), wait).toBe(120_000)
  for (const none of [undefined, '', '0', '-5', 'soon', 'Fri, 27 Nov 2026 11:00:00 GMT'])
    expect(delayOf(none, nowMs), none).toBe(0)
})
