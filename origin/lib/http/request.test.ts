import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import { MAX_BATCH_BYTES } from '../../../shared/api/views/view-events.ts'
import { useOrigin } from '../../../test/lib/origin-process.ts'

const origin = useOrigin()

const HEADERS = 'HTTP/1.1\r\nhost: x\r\nconnection: close\r\n'

/** The response to these bytes, until the connection closes. */
function responseTo(bytes: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(Number(new URL(origin.url()).port), '127.0.0.1', () => socket.write(bytes))
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('end', () => resolve(text)).on('error', reject)
  return promise
}

test.each([
  ['no HTTP', 'hello', 400, '/problems/invalid-request'],
  ['OPTIONS *', `OPTIONS * ${HEADERS}`, 400, '/problems/invalid-request'],
  ['an invalid address', `GET http://[x ${HEADERS}`, 400, '/problems/invalid-request'],
  ['an endless header', `GET / ${HEADERS}x: ${'x'.repeat(20_000)}\r\n`, 431, '/problems/headers-too-large'],
])('answers %s with a problem', async (_what, bytes, status, type) => {
  const answer = await responseTo(`${bytes}\r\n`)
  const form = new RegExp(`^HTTP/1.1 ${status} .*content-type: application/problem\\+json\r\n`, 's')
  expect(answer).toMatch(form)
  expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ type, status })
})

test('reads a body with or without its length', async () => {
  const sale = await origin.sale()
  for (const body of ['\ufeff{}', new Blob(['\ufeff{}']).stream()])
    expect(await origin.checkout(sale, { body })).toMatchObject({ status: 201 })
})

test('answers a body that is too large while it is sent, and goes on with the connection', async () => {
  const socket = connect(Number(new URL(origin.url()).port), '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  const failed = vi.fn()
  socket.on('error', failed)
  const body = 'x'.repeat(4 * MAX_BATCH_BYTES)
  const head = ['POST /internal/views HTTP/1.1', 'host: x', `authorization: Bearer ${origin.edgeToken}`]
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(1_000)}`)
  await expect.poll(() => text).toMatch(/^HTTP\/1.1 413 .*body-too-large/s)
  socket.write(`${body.slice(0, 1_000)}GET /healthz ${HEADERS}\r\n`)
  await expect.poll(() => text).toMatch(/HTTP\/1.1 200 /)
  expect(failed).not.toHaveBeenCalled()
  socket.destroy()
})

test('answers a wrong method with those that the path allows', async () => {
  const sale = await origin.sale()
  for (const [method, path, allow] of [
    ['GET', `/sales/${sale}/checkout`, 'POST'],
    ['PATCH', '/orders/01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6a7b', 'GET, DELETE'],
    ['POST', '/healthz', 'GET'],
  ] as const) {
    const answer = await origin.call(method, path)
    expect(answer).toMatchObject({ status: 405, body: { type: '/problems/method-not-allowed' } })
    expect(answer.headers.get('allow')).toBe(allow)
  }
  expect(await origin.admin('DELETE', `/sales/${sale}`)).toMatchObject({ status: 405 })
  expect(await origin.call('DELETE', `/admin/sales/${sale}`)).toMatchObject({ status: 401 })
  expect(await origin.call('POST', '/nothing')).toMatchObject({ status: 404 })
})
