/** The stream of what is left in each section: processes that read the same sale, listened to over real connections. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { SectionUpdate } from '../../shared/api/hall.ts'
import type { ProblemError } from '../../shared/problem.ts'
import { listen } from '../../test/lib/event-stream.ts'
import { createMetrics } from '../base/metrics.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { sendProblem } from '../lib/http/request.ts'
import { SectionUpdates } from './section-updates.ts'

const ALL = { stalls: 12, 'floor-1': 10, 'floor-2': 20, 'floor-3': 30 }

/** What the ledger has: what is left of each section, and how often its row was written. */
let left: Record<string, number>
let versions: Record<string, number>
const sale = () => {
  const sections = Object.entries(left).map(([product_id, total]) => ({ product_id, total }))
  const rows = sections.map((row) => ({ ...row, section_type: 'general_admission', buffer: 0, held: 0, sold: 0 }))
  return { sale_id: 'drop', products: rows, section_versions: versions } as unknown as SaleRow
}
/** Each process reads the sale again. */
const readings = new Set<() => void>()

/** Takes places as orders do, and has every process read it. */
function take(section: string, places = 1): void {
  left = { ...left, [section]: (left[section] ?? 0) - places }
  versions = { ...versions, [section]: (versions[section] ?? 0) + 1 }
  for (const read of readings) read()
}

beforeEach(() => {
  left = ALL
  versions = {}
})

/** A process: anybody may listen, as the visitor in the path. */
async function startProcess(maxListeners?: number) {
  const metrics = createMetrics()
  const onRead = (read: () => void) => {
    readings.add(read)
    return () => readings.delete(read)
  }
  const sales = { get: sale, onRead, readAgoMs: () => 0, nowMs: Date.now }
  const updates = new SectionUpdates({ sales, metrics }, maxListeners)
  updates.start()
  const app = new Hono().get('/:visitor', (c) => updates.stream(c, sale(), c.req.param('visitor')))
  app.onError((error) => sendProblem((error as ProblemError).problem))
  // With the global Response replaced, RESPONSE_ALREADY_SENT would be an empty response wherever it loads afterwards.
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    await updates.stop()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const listeners = async () =>
    Number(/^stream_listeners\{stream="sections"\} (\d+)$/m.exec(await metrics.registry.metrics())?.[1])
  return { url: `http://127.0.0.1:${port}`, port, updates, metrics, listeners }
}

/** Listens, and says what is left of each section. */
function watch(url: string, lastEventId?: string) {
  const stream = listen<SectionUpdate>(url, lastEventId === undefined ? {} : { 'last-event-id': lastEventId })
  onTestFinished(stream.leave)
  const left = () => Object.fromEntries(stream.seen.map(({ data }) => [data.section_id, data.available_seats]))
  return { ...stream, left }
}

test('sends all sections first, then each change, twice a second at most', async () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  const { url, metrics, listeners } = await startProcess()
  const { seen, left } = watch(`${url}/ann`)
  await expect.poll(left).toEqual(ALL)
  expect(seen).toHaveLength(4)
  const beganMs = performance.now()
  for (let places = 1; places <= 10; places++) {
    take('floor-1')
    await vi.advanceTimersByTimeAsync(150)
  }
  await expect.poll(left).toEqual({ ...ALL, 'floor-1': 0 })
  const changes = seen.slice(4)
  expect(new Set(changes.map(({ data }) => data.section_id))).toEqual(new Set(['floor-1']))
  expect(changes.length).toBeGreaterThan(1)
  expect(changes.length).toBeLessThanOrEqual(1 + (performance.now() - beganMs) / 500)
  expect(await listeners()).toBe(1)
  expect(await metrics.registry.metrics()).toContain(`section_update_seconds_count ${changes.length}`)
})

test('whoever reconnects gets only what has changed, from another process too', async () => {
  const [one, other] = [await startProcess(), await startProcess()]
  const [first, elsewhere] = [watch(`${one.url}/ann`), watch(`${other.url}/bob`)]
  await expect.poll(() => [first.left(), elsewhere.left()]).toEqual([ALL, ALL])
  take('floor-2')
  await expect.poll(() => [first.left()['floor-2'], elsewhere.left()['floor-2']]).toEqual([19, 19])
  first.leave()
  take('floor-3', 3)
  await expect.poll(() => elsewhere.left()['floor-3']).toBe(27)
  const both = [one, other].map(({ url }) => watch(`${url}/ann`, first.seen.at(-1)?.id))
  const leftAt = () => both.map(({ left }) => left())
  await expect.poll(leftAt).toEqual([{ 'floor-3': 27 }, { 'floor-3': 27 }])
  take('stalls')
  await expect.poll(leftAt).toEqual(Array(2).fill({ 'floor-3': 27, stalls: 11 }))
})

test('who shows an id that means nothing here, or was cut off in the middle, gets all sections', async () => {
  const { url } = await startProcess()
  const first = watch(`${url}/ann`)
  await expect.poll(first.left).toEqual(ALL)
  const [epoch, revision] = (first.seen.at(-1)?.id ?? '').split('.')
  const unknown = ['', 'x', `other.${revision}`, `${epoch}.${Number(revision) + 1}`, `${epoch}.0`, first.seen[1]?.id]
  for (const id of unknown) {
    const { left, leave } = watch(`${url}/ann`, id)
    await expect.poll(left).toEqual(ALL)
    leave()
  }
})

test('a process and a visitor have a limited number of streams, and a closed one frees its place', async () => {
  const { url, listeners } = await startProcess(7)
  const open = async (visitor: string, times: number) => {
    const all = Array.from({ length: times }, () => watch(`${url}/${visitor}`))
    return { all, got: (await Promise.all(all.map(({ opened }) => opened))).map(({ status }) => status).sort() }
  }
  const ann = await open('ann', 8)
  expect(ann.got).toEqual([...Array(5).fill(200), ...Array(3).fill(503)])
  expect((await open('bob', 3)).got).toEqual([200, 200, 503])
  expect((await fetch(`${url}/bob`, { method: 'HEAD' })).status).toBe(503)
  for (const { leave } of ann.all) leave()
  await expect.poll(listeners).toBe(2)
  const head = await fetch(`${url}/bob`, { method: 'HEAD' })
  expect(head.headers.get('content-type')).toBe('text/event-stream')
  expect((await open('eve', 5)).got).toEqual(Array(5).fill(200))
})

test('a stop ends the streams', async () => {
  const { url, updates } = await startProcess()
  const { left, ended } = watch(`${url}/ann`)
  await expect.poll(left).toEqual(ALL)
  await updates.stop()
  await ended
  expect((await watch(`${url}/ann`).opened).status).toBe(503)
})

test('a reader who does not read is dropped, and the others go on', async () => {
  left = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`floor-${i}`, 1_000]))
  const { port, url, metrics, listeners } = await startProcess()
  const lazy = connect(port, '127.0.0.1').pause()
  onTestFinished(() => void lazy.destroy())
  lazy.on('error', () => {})
  lazy.write('GET /lazy HTTP/1.1\r\nhost: origin\r\n\r\n')
  const { seen } = watch(`${url}/ann`)
  await expect.poll(listeners).toBe(2)
  let rounds = 0
  while ((await listeners()) === 2) {
    rounds++
    left = Object.fromEntries(Object.keys(left).map((floor) => [floor, 1_000 - rounds]))
    versions = Object.fromEntries(Object.keys(left).map((floor) => [floor, rounds]))
    for (const read of readings) read()
    await expect
      .poll(() => seen.at(-1)?.data)
      .toMatchObject({ section_id: 'floor-4999', available_seats: 1_000 - rounds })
  }
  expect(await listeners()).toBe(1)
  expect(rounds).toBeGreaterThan(1)
  expect(await metrics.registry.metrics()).toContain('stream_listeners_dropped_total{stream="sections"} 1')
})
