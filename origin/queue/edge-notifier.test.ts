import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LOOPBACK } from '../../dev/processes.ts'
import { EdgeNotifier } from './edge-notifier.ts'

/** An edge that answers with a status of its own for each call, and a notifier with its log. */
async function notifierTo(status: (call: number) => number) {
  let calls = 0
  const edge = createServer((_, response) => response.writeHead(status(++calls)).end())
  onTestFinished(() => void edge.close())
  await new Promise<void>((resolve) => edge.listen(0, LOOPBACK, resolve))
  const logged: unknown[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => logged.push(JSON.parse(line)) })
  const EDGE_URL = `http://${LOOPBACK}:${(edge.address() as AddressInfo).port}`
  const notifier = new EdgeNotifier({ EDGE_URL, EDGE_TOKEN: 'token' }, log)
  return { notifier, logged, calls: () => calls }
}

test('logs the 1st, 2nd and 4th rejection by the edge, and counts anew after a success', async () => {
  let status = 401
  const { notifier, logged, calls } = await notifierTo(() => status)
  for (let i = 0; i < 5; i++) notifier.notify('drop')
  await vi.waitFor(() => expect(calls()).toBe(5), 30_000)
  const rejections = [1, 2, 4].map((rejected) => ({ sale: 'drop', status: 401, rejected }))
  await vi.waitFor(() => expect(logged).toMatchObject(rejections), 30_000)
  status = 204
  notifier.notify('drop')
  await vi.waitFor(() => expect(calls()).toBe(6), 30_000)
  status = 404
  await vi.waitFor(() => {
    notifier.notify('drop')
    expect(logged[3]).toMatchObject({ status: 404, rejected: 1 })
  }, 30_000)
})

test('retries a busy edge, and logs one that stays busy without blaming the token', async () => {
  let busyCalls = 2
  const { notifier, logged, calls } = await notifierTo((call) => (call > busyCalls ? 204 : 503))
  notifier.notify('drop')
  await vi.waitFor(() => expect(calls()).toBe(3), 30_000)
  expect(logged).toEqual([])
  busyCalls = Number.POSITIVE_INFINITY
  notifier.notify('drop')
  await vi.waitFor(() => expect(logged).toHaveLength(1), 30_000)
  const msg = expect.not.stringContaining('EDGE_TOKEN')
  expect(logged[0]).toMatchObject({ status: 503, rejected: 1, msg })
  expect(calls()).toBe(7)
})
