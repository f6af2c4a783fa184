/** The stream of what is left in each section: processes of their own on one ledger, listened to over real connections. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { SectionUpdate } from '../../shared/api/hall.ts'
import { ProblemError } from '../../shared/problem.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { sendProblem } from '../lib/request.ts'
import { createMetrics } from '../metrics.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Sales } from '../sales/sales.ts'
import { SectionUpdates } from './section-updates.ts'
import { addHall } from './testing.ts'

const sql = await useLedger(8)
const origin = useOrigin()
const WITHIN = { timeout: 60_000, interval: 20 }
const FLOORS = [10, 20, 30]

async function newSale(floors: readonly number[] = FLOORS): Promise<string> {
  const sale = `hall-${crypto.randomUUID().slice(0, 8)}`
  await writeSale(sql, sale, saleOf(1))
  await addHall(sql, sale, { floors })
  return sale
}

/** As orders change it. */
const take = (sale: string, section: string, places = 1) =>
  sql`update products set held = held + ${places} where sale_id = ${sale} and product_id = ${section}`

/** A process: it reads the sales by itself, and anybody may listen, as the visitor in the path. */
async function startProcess(maxListeners?: number) {
  const sales = new Sales(sql)
  await sales.start()
  const metrics = createMetrics()
  const updates = new SectionUpdates({ sales, metrics }, maxListeners)
  updates.start()
  const app = new Hono()
  app.onError((error) =>
    error instanceof ProblemError ? sendProblem(error.problem) : new Response(null, { status: 500 }),
  )
  app.get('/:sale/:visitor', async (c) => {
    const sale = await sales.find(c.req.param('sale'))
    return sale ? updates.stream(c, sale, c.req.param('visitor')) : c.notFound()
  })
  // With the global Response replaced, RESPONSE_ALREADY_SENT would be an empty response wherever it loads afterwards.
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    await updates.stop()
    await sales.stop()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, updates, metrics }
}

interface Event extends SectionUpdate {
  readonly id: string
}

function listen(url: string, lastEventId?: string, headers: Record<string, string> = {}) {
  const seen: Event[] = []
  const gone = new AbortController()
  onTestFinished(() => gone.abort())
  const opened = fetch(url, {
    headers: { ...headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    signal: gone.signal,
  })
  const ended = (async () => {
    let text = ''
    for await (const chunk of (await opened).body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (text + chunk).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, id = '', data] = /^id: (\S+)\ndata: (.*)$/.exec(block) ?? []
        if (data !== undefined) seen.push({ id, ...(JSON.parse(data) as SectionUpdate) })
      }
    }
  })().catch((error) => {
    if (!gone.signal.aborted) throw error
  })
  const left = () => Object.fromEntries(seen.map(({ section_id, available_seats }) => [section_id, available_seats]))
  return { seen, opened, ended, left, leave: () => gone.abort() }
}

const ALL = { stalls: 12, 'floor-1': 10, 'floor-2': 20, 'floor-3': 30 }

test('sends all sections first, then each change, twice a second at most', async () => {
  const sale = await newSale()
  const { url, metrics } = await startProcess()
  const { seen, left } = listen(`${url}/${sale}/ann`)
  await vi.waitFor(() => expect(left()).toEqual(ALL), WITHIN)
  expect(seen.length).toBe(4)
  const beganMs = performance.now()
  for (let places = 1; places <= 10; places++) {
    await take(sale, 'floor-1')
    await new Promise((done) => setTimeout(done, 150))
  }
  await vi.waitFor(() => expect(left()).toEqual({ ...ALL, 'floor-1': 0 }), WITHIN)
  const changes = seen.slice(4)
  expect(changes.every(({ section_id }) => section_id === 'floor-1')).toBe(true)
  // However slow the machine is: all of them came within this time.
  expect(changes.length).toBeLessThanOrEqual(1 + (performance.now() - beganMs) / 500)
  const text = await metrics.registry.metrics()
  expect(text).toContain('section_listeners 1')
  expect(text).toContain(`section_update_seconds_count ${changes.length}`)
})

test('whoever reconnects gets only what has changed, from another process too', async () => {
  const sale = await newSale()
  const [one, other] = [await startProcess(), await startProcess()]
  const first = listen(`${one.url}/${sale}/ann`)
  const elsewhere = listen(`${other.url}/${sale}/bob`)
  await vi.waitFor(() => expect([first.left(), elsewhere.left()]).toEqual([ALL, ALL]), WITHIN)
  await take(sale, 'floor-2')
  await vi.waitFor(() => expect([first.left()['floor-2'], elsewhere.left()['floor-2']]).toEqual([19, 19]), WITHIN)
  first.leave()
  const { id } = first.seen.at(-1) as Event
  await take(sale, 'floor-3', 3)
  await vi.waitFor(() => expect(elsewhere.left()['floor-3']).toBe(27), WITHIN)
  const both = [one, other].map(({ url }) => listen(`${url}/${sale}/ann`, id))
  const leftAt = () => both.map(({ left }) => left())
  await vi.waitFor(() => expect(leftAt()).toEqual([{ 'floor-3': 27 }, { 'floor-3': 27 }]), WITHIN)
  await take(sale, 'stalls')
  const then = { 'floor-3': 27, stalls: 11 }
  await vi.waitFor(() => expect(leftAt()).toEqual([then, then]), WITHIN)
})

test('who shows an id that means nothing here, or was cut off in the middle, gets all sections', async () => {
  const sale = await newSale()
  const { url } = await startProcess()
  const first = listen(`${url}/${sale}/ann`)
  await vi.waitFor(() => expect(first.left()).toEqual(ALL), WITHIN)
  const [epoch, revision] = (first.seen.at(-1)?.id ?? '').split('.')
  const unknown = ['', 'x', `other.${revision}`, `${epoch}.${Number(revision) + 1}`, `${epoch}.0`, first.seen[1]?.id]
  for (const id of unknown) {
    const { left, leave } = listen(`${url}/${sale}/ann`, id)
    await vi.waitFor(() => expect(left(), id).toEqual(ALL), WITHIN)
    leave()
  }
})

test('a process and a visitor have a limited number of streams, and a closed one frees its place', async () => {
  const sale = await newSale()
  const { url } = await startProcess(7)
  const statuses = async (visitor: string, times: number) => {
    const all = Array.from({ length: times }, () => listen(`${url}/${sale}/${visitor}`))
    return { all, got: (await Promise.all(all.map(({ opened }) => opened))).map(({ status }) => status).sort() }
  }
  const ann = await statuses('ann', 8)
  expect(ann.got).toEqual([...Array(5).fill(200), ...Array(3).fill(503)])
  expect((await statuses('bob', 3)).got).toEqual([200, 200, 503])
  expect((await fetch(`${url}/${sale}/bob`, { method: 'HEAD' })).status).toBe(503)
  for (const { leave } of ann.all) leave()
  const head = async () => (await fetch(`${url}/${sale}/bob`, { method: 'HEAD' })).headers.get('content-type')
  await vi.waitFor(async () => expect(await head()).toBe('text/event-stream'), WITHIN)
  expect((await statuses('eve', 5)).got).toEqual(Array(5).fill(200))
})

test('a stop ends the streams', async () => {
  const sale = await newSale()
  const { url, updates } = await startProcess()
  const { left, ended } = listen(`${url}/${sale}/ann`)
  await vi.waitFor(() => expect(left()).toEqual(ALL), WITHIN)
  await updates.stop()
  await ended
  expect((await listen(`${url}/${sale}/ann`).opened).status).toBe(503)
})

test('a reader who does not read is dropped, and the others go on', async () => {
  const many = Array.from({ length: 5_000 }, () => 1_000)
  const sale = await newSale(many)
  const { port, url, metrics } = await startProcess()
  const lazy = connect(port, '127.0.0.1').pause()
  lazy.on('error', () => {})
  lazy.write(`GET /${sale}/lazy HTTP/1.1\r\nhost: origin\r\n\r\n`)
  const { left } = listen(`${url}/${sale}/ann`)
  const listeners = async () => Number(/^section_listeners (\d+)$/m.exec(await metrics.registry.metrics())?.[1])
  await vi.waitFor(async () => expect(await listeners()).toBe(2), WITHIN)
  for (let rounds = 0; rounds < 100 && (await listeners()) === 2; rounds++) {
    await sql`update products set held = held + 1 where sale_id = ${sale} and section_type = 'general_admission'`
    await new Promise((done) => setTimeout(done, 500))
  }
  expect(await listeners()).toBe(1)
  lazy.destroy()
  await take(sale, 'floor-1', 500)
  await vi.waitFor(() => expect(left()['floor-1']).toBeLessThan(500), WITHIN)
})

test('an origin streams to those whose turn it is', async () => {
  const sale = await origin.sale()
  await addHall(origin.sql(), sale)
  const authorization = `Bearer ${await origin.token(sale)}`
  const url = `${origin.url()}/sales/${sale}/sections/updates`
  const open = async () => {
    const stream = listen(url, undefined, { authorization })
    return (await stream.opened).ok ? stream : Promise.reject(new Error('not yet'))
  }
  const { left } = await vi.waitFor(open, WITHIN)
  await vi.waitFor(() => expect(left()).toEqual({ stalls: 12, 'floor-1': 5 }), WITHIN)
  expect((await listen(url).opened).status).toBe(429)
})
