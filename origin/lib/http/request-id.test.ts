/** Each request has a name, in its response, in its problem, and in every line that it logs. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { serveOnLoopback } from '../../../dev/lib/loopback.ts'
import { useOrigin } from '../../../test/lib/origin-process.ts'
import { Batcher } from '../batcher.ts'
import { requestInLog, withRequestId } from './request-id.ts'

const origin = useOrigin()
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

test('every response is named; only the edge brings a name, and only one of its form', async () => {
  const nameFor = async (headers: Record<string, string>, path = '/healthz') =>
    (await origin.call('GET', path, { headers })).headers.get('x-request-id')
  const [name, ray] = [randomUUID(), '8f2b1c3d4e5f6a7b-FRA']
  const edge = { 'edge-token': origin.edgeToken }
  expect(await nameFor({ ...edge, 'x-request-id': name })).toBe(name)
  expect(await nameFor({ ...edge, 'x-request-id': ray }, '/nowhere')).toBe(ray)
  for (const headers of [{}, { 'x-request-id': name }, { 'edge-token': 'forged', 'x-request-id': name }])
    for (const path of ['/healthz', '/nowhere', '/admin/sales']) {
      expect(await nameFor(headers, path)).toMatch(UUID)
      expect(await nameFor(headers, path)).not.toBe(name)
    }
  expect(await nameFor({ ...edge, 'x-request-id': 'a name with spaces in it' })).toMatch(UUID)
  expect((await origin.ops('/healthz')).headers.get('x-request-id')).toMatch(UUID)
})

test('a problem names its request, and the log has the name in the lines of its call', async () => {
  const refused = await origin.call('GET', '/admin/sales')
  expect(refused).toMatchObject({ status: 401, body: { request_id: refused.headers.get('x-request-id') } })
  const sale = `sale-${randomUUID().slice(0, 8)}`
  const created = await origin.admin('PUT', `/sales/${sale}`, {
    name: 'Named',
    opens_at: new Date(Date.now() + 3_600_000).toISOString(),
    products: [{ product_id: 'one', name: 'One', unit_price_minor: 1000, currency: 'EUR', total: 1, buffer: 0 }],
    admission: { rate_per_second: 100 },
    contact: { email: 'optional' },
  })
  const line = () =>
    origin
      .log()
      .split('\n')
      .find((text) => text.includes(sale) && text.includes('get no mail'))
  await expect.poll(line).toBeDefined()
  expect(JSON.parse(line() ?? '')).toMatchObject({ request: created.headers.get('x-request-id') })
})

test('a batch logs the names of its requests, and each of them its own again', async () => {
  const lines: Record<string, unknown>[] = []
  const log = pino({ mixin: requestInLog }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const batcher = new Batcher<string, void>({ size: 10, queue: 10, pauseMs: 50, gathers: true }, async (calls) => {
    await sleep(1)
    log.info({ calls }, 'together')
  })
  const server = await serveOnLoopback(
    withRequestId(
      async (request, response) => {
        await batcher.add(String(request.url))
        log.info({ call: request.url }, 'alone')
        response.end()
      },
      () => true,
    ),
  )
  onTestFinished(server.stop)
  const names = [randomUUID(), randomUUID()]
  const headersOf = (name: string) => ({ headers: { 'x-request-id': name } })
  await Promise.all(names.map((name) => fetch(`${server.url}/${name}`, headersOf(name))))
  await batcher.add('own work')
  expect(lines.filter(({ call }) => call).map(({ call, request }) => call === `/${request}`)).toEqual([true, true])
  const batches = lines.filter(({ calls }) => calls)
  expect(batches.flatMap(({ requests = [] }) => requests).toSorted()).toEqual(names.toSorted())
  expect(batches.at(-1)).not.toHaveProperty('requests')
})
