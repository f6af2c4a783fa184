import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { TimeoutError } from '../with-timeout.ts'
import { jsonClient } from './json-client.ts'

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const connections = { made: 0 }
  server.on('connection', () => connections.made++)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections }
}

test('sends JSON, and returns status and text, over no more connections than its limit', async () => {
  const { url, connections } = await serve(async (request, response) => {
    const { method, url, headers } = request
    const sent = method === 'POST' ? await json(request) : undefined
    response.statusCode = 201
    response.end(JSON.stringify({ method, url, key: headers['idempotency-key'], type: headers['content-type'], sent }))
  })
  const call = jsonClient({ url, timeoutMs: 10_000, connections: 3 })
  const { status, text } = await call('/a?b=1', { body: { name: 'Zoë' }, headers: { 'idempotency-key': 'k' } })
  const type = 'application/json'
  expect(status).toBe(201)
  expect(JSON.parse(text)).toEqual({ method: 'POST', url: '/a?b=1', key: 'k', type, sent: { name: 'Zoë' } })
  expect(JSON.parse((await call('/')).text)).toEqual({ method: 'GET', url: '/' })
  await Promise.all(Array.from({ length: 30 }, () => call('/')))
  expect(connections.made).toBeLessThanOrEqual(3)
})

test('rejects a response that is late, cut off or too large, and serves the next call', async () => {
  const { url } = await serve((request, response) => {
    if (request.url === '/late') return
    if (request.url === '/slow') return void response.write('{')
    if (request.url === '/large') return void response.end('x'.repeat(5 * 1024 * 1024))
    if (request.url === '/cut') {
      response.writeHead(200, { 'content-length': '100' })
      return void response.write('{', () => response.destroy())
    }
    response.end('{}')
  })
  const call = jsonClient({ url, timeoutMs: 500, connections: 1 })
  await expect(call('/late')).rejects.toThrow(TimeoutError)
  await expect(call('/slow')).rejects.toThrow(TimeoutError)
  const [one, waiting] = await Promise.allSettled([call('/late'), call('/late')])
  expect([one.status, waiting.status]).toEqual(['rejected', 'rejected'])
  const patient = jsonClient({ url, timeoutMs: 10_000, connections: 1 })
  await expect(patient('/cut')).rejects.toThrow('aborted')
  await expect(patient('/large')).rejects.toThrow('too large')
  expect(await patient('/')).toEqual({ status: 200, text: '{}' })
})
