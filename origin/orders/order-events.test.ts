import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ProblemError } from '../../shared/problem.ts'
import { listen, type StreamEvent } from '../../test/lib/event-stream.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { reservationOf } from '../../test/lib/samples.ts'
import { createMetrics } from '../base/metrics.ts'
import { connect } from '../ledger/connection.ts'
import { moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { sendProblem } from '../lib/http/request.ts'
import { OrderEvents } from './order-events.ts'

const origin = useOrigin()

interface Update {
  readonly status: string
  readonly order_id: string
  readonly reason?: string
  readonly payment: { readonly status: string } | null
  readonly lines: readonly { readonly status: string }[]
}
function watch(id: string, token: string, lastEventId?: string) {
  const headers = { authorization: `Bearer ${token}`, ...(lastEventId && { 'last-event-id': lastEventId }) }
  return listen<Update>(`${origin.url()}/orders/${id}/events`, headers)
}
/** Watches until a status is seen. */
async function watchUntil(status: string, id: string, token: string) {
  const { seen, leave } = watch(id, token)
  await eventually(
    async () => statuses(seen),
    (all) => all.includes(status),
  )
  leave()
  return seen
}
const statuses = (events: readonly StreamEvent<Update>[]) => events.map(({ data }) => data.status)

async function buy() {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  return { sale, token, id: body.order_id ?? '' }
}
/** The address of one order's events, with a limit of streams. */
async function serveEvents(id: string, maxStreams: number): Promise<string> {
  const sql = connect(origin.databaseUrl(), 2)
  const unused = { sales: { nowMs: Date.now }, changes: { onChange: () => () => {} } }
  const events = new OrderEvents(
    { sql, ...unused, metrics: createMetrics(), log: pino({ level: 'silent' }) },
    maxStreams,
  )
  const app = new Hono()
  app.onError((error) => sendProblem((error as ProblemError).problem))
  app.get('/events', (c) => events.stream(c, id, (order) => order as never))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false }) as Server
  await once(server, 'listening')
  onTestFinished(async () => {
    await events.stop()
    server.closeAllConnections()
    server.close()
    await sql.end({ timeout: 1 })
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
}
const pay = (id: string, token: string, payment_method: string) =>
  origin.call('POST', `/orders/${id}/payment`, { token, body: { payment_method } })

describe.concurrent('an event stream', () => {
  test('sends each step of a payment to all watchers, ends with it, and sends later events on reconnect', async () => {
    const { id, token } = await buy()
    const watchers = Array.from({ length: 5 }, () => watch(id, token))
    await eventually(
      async () => watchers,
      (all) => all.every(({ seen }) => seen.length === 1),
    )
    await pay(id, token, 'pm_ok')
    await Promise.all(watchers.map(({ ended }) => ended))
    for (const { seen } of watchers) expect(statuses(seen)).toEqual(['reserved', 'paying', 'confirmed'])
    const [{ seen }] = watchers as [(typeof watchers)[number]]
    expect(seen[0]?.data).toMatchObject({ order_id: id, status: 'reserved' })
    // A client that connects later reads the same.
    const again = watch(id, token)
    await again.ended
    expect(again.seen.map(({ data }) => [data.lines[0]?.status, data.payment?.status])).toEqual([
      ['held', undefined],
      ['held', 'pending'],
      ['sold', 'succeeded'],
    ])
    expect(new Set(seen.map((e) => e.id)).size).toBe(3)
    const lastEventId = seen.at(-1)?.id
    expect((await watch(id, token, lastEventId).opened).status).toBe(204)
    await moveOrders(origin.sql(), [id], { from: ['confirmed'], to: 'fulfilled' })
    const later = watch(id, token, lastEventId)
    await later.ended
    expect(statuses(later.seen)).toEqual(['fulfilled'])
  })

  test('replays missed events, none twice, each with what was true then', async () => {
    const { id, token } = await buy()
    const first = await watchUntil('reserved', id, token)
    await pay(id, token, 'pm_declined')
    const missed = watch(id, token, first[0]?.id)
    await eventually(
      async () => statuses(missed.seen),
      (all) => all.length === 2,
    )
    await origin.call('DELETE', `/orders/${id}`, { token })
    await missed.ended
    expect(statuses(missed.seen)).toEqual(['paying', 'reserved', 'cancelled'])
    const { seen, ended } = watch(id, token)
    await ended
    expect(statuses(seen)).toEqual(['reserved', 'paying', 'reserved', 'cancelled'])
    expect(seen.map(({ data }) => [data.status, data.reason, data.payment?.status ?? data.payment])).toEqual([
      ['reserved', undefined, null],
      ['paying', undefined, 'pending'],
      ['reserved', undefined, 'declined'],
      ['cancelled', 'given_back', 'declined'],
    ])
  })

  test('begins when a processing order is recorded', async () => {
    const sale = await origin.sale()
    const token = await origin.token(sale)
    const watching = await origin.sql().begin(async (tx) => {
      await tx`select 1 from sales where sale_id = ${sale} for update`
      const { status, body } = await origin.checkout(sale, { token })
      expect(status).toBe(202)
      const id = body.order_id ?? ''
      const watching = watch(id, token)
      expect((await watching.opened).status).toBe(200)
      return watching
    })
    const seen = await eventually(
      async () => statuses(watching.seen),
      (all) => all.length > 0,
    )
    expect(seen).toEqual(['reserved'])
    watching.leave()
  })

  test('has one event for a refused order', async () => {
    const sale = await origin.sale({ total: 1 })
    const visitor = randomUUID()
    const token = await origin.token(sale, visitor)
    const [first, refused] = [reservationOf(sale), { ...reservationOf(sale), visitor }]
    await record(origin.sql(), sale, [first, refused], true)
    const { seen, ended } = watch(refused.order, token)
    await ended
    expect(statuses(seen)).toEqual(['cancelled'])
    expect((await watch(refused.order, token, seen[0]?.id).opened).status).toBe(204)
  })
})

test('HEAD opens no stream', async () => {
  const { id, token } = await buy()
  const head = await origin.call('HEAD', `/orders/${id}/events`, { token })
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream'])

  const url = await serveEvents(id, 1)
  for (let times = 0; times < 3; times++) expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
  const stream = await fetch(url)
  expect(stream.status).toBe(200)
  expect((await fetch(url)).status).toBe(503)
  await stream.body?.cancel()
})

test('simultaneous requests open no more streams than allowed, and a closed stream frees its place', async () => {
  const url = await serveEvents((await buy()).id, 3)
  const concurrently = async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => fetch(url)))
    await Promise.all(all.map(({ body }) => body?.cancel()))
    return all.map(({ status }) => status).sort()
  }
  const some = [...Array(3).fill(200), ...Array(17).fill(503)]
  expect(await concurrently()).toEqual(some)
  await expect.poll(concurrently).toEqual(some)
})

test('one order has a limited number of streams', async () => {
  const [mine, theirs] = [await buy(), await buy()]
  const watchers = Array.from({ length: 15 }, () => watch(mine.id, mine.token))
  const other = watch(theirs.id, theirs.token)
  const opened = async (all: typeof watchers) =>
    (await Promise.all(all.map((w) => w.opened))).map(({ status }) => status).sort()
  expect(await opened(watchers)).toEqual([...Array(10).fill(200), ...Array(5).fill(503)])
  expect(await opened([other])).toEqual([200])
  for (const { leave } of [...watchers, other]) leave()
  const again = async () => {
    const one = watch(mine.id, mine.token)
    const status = await opened([one])
    one.leave()
    return status[0]
  }
  await expect.poll(again).toBe(200)
})

test('an unpublished change is found in the log, even of a transaction that ended after later ones', async () => {
  const [one, other] = [await buy(), await buy()]
  const watchers = [one, other].map(({ id, token }) => watch(id, token))
  await expect.poll(() => watchers.map(({ seen }) => seen.length)).toEqual([1, 1])
  const cancelled = { from: ['reserved'], to: 'cancelled', reason: 'given_back' } as const
  await origin.sql().begin(async (tx) => {
    await moveOrders(tx, [one.id], cancelled)
    await moveOrders(origin.sql(), [other.id], cancelled)
  })
  await Promise.all(watchers.map(({ ended }) => ended))
  for (const { seen } of watchers) expect(statuses(seen)).toEqual(['reserved', 'cancelled'])
})
