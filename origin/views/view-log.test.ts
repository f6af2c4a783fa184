/** The raw log of views is written in order of commit, and nothing fails while the ledger is away. */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { ViewEvent } from '../../shared/api/views/view-events.ts'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { connect } from '../ledger/connection.ts'
import { viewOf } from './testing.ts'
import { appendViews, VIEW_SESSIONS, ViewLog } from './view-log.ts'

const sql = await useLedger()
const { host, port, database, user, pass } = sql.options
const url = `postgres://${user}:${pass ?? ''}@${host[0]}:${port[0]}/${database}`
const way = useFlakyProxy(() => Number(port[0]))
const origin = useOrigin()

const viewsOf = (sale: string, from = sql) => from<{ view: string; seq: number }[]>`
  select view, seq from view_log where sale_id = ${sale} order by seq`
const sales = { get: () => undefined, find: async (sale_id: string) => ({ sale_id }) as never }

test('what the edge sends is in the log with all its fields; of unknown sales nothing is', async () => {
  const sale = await origin.sale()
  const event = viewOf({ sale, source: 'newsletter spring', asn: 3320, country: 'DE', language: 'de' })
  const front = viewOf({ sale: null, page: 'front' })
  const events = [event, front, viewOf({ sale: 'invented' })]
  const sent = await origin.call('POST', '/internal/views', { token: origin.edgeToken, body: { dropped: 3, events } })
  expect(sent.status).toBe(204)
  const rows = () => origin.sql()`
    select * from view_log where view = any(${events.map(({ view }) => view)}) order by seq`
  await expect.poll(rows).toHaveLength(2)
  const { at_ms, sale: _, ...fields } = event
  expect(await rows()).toMatchObject([{ ...fields, asn: '3320', sale_id: sale, at: new Date(at_ms) }, { sale_id: '' }])
})

test('refuses what is no event, and too large a body', async () => {
  const send = async (body: unknown) =>
    (await origin.call('POST', '/internal/views', { token: origin.edgeToken, body })).status
  expect(await send({ dropped: 0, events: [{ ...viewOf(), source: 'a\tb' }] })).toBe(422)
  expect(await send({ dropped: 0, events: [{ ...viewOf(), view: `\\N${'a'.repeat(20)}` }] })).toBe(422)
  expect(await send({ dropped: 0, events: [], more: 'a'.repeat(1_100_000) })).toBe(413)
  const { status } = await origin.call('POST', '/internal/views', { body: { dropped: 0, events: [] } })
  expect(status).toBe(401)
})

test('writers of several processes number their rows in the order of commit', async () => {
  const sale = randomUUID()
  const writers = Array.from({ length: 4 }, () => connect(url, 1, VIEW_SESSIONS))
  const seen: number[] = []
  let isWriting = true
  const reader = (async () => {
    while (isWriting) {
      const last = seen.at(-1) ?? 0
      const rows = await sql<{ seq: number }[]>`
        select seq from view_log where sale_id = ${sale} and seq > ${last} order by seq`
      seen.push(...rows.map(({ seq }) => seq))
    }
  })()
  const batches = Array.from({ length: 5 }, () => Array.from({ length: 20 }, () => viewOf({ sale })))
  await Promise.all(
    writers.map(async (writer) => {
      for (const batch of batches) await appendViews(writer, batch)
    }),
  )
  isWriting = false
  await reader
  const all = (await viewsOf(sale)).map(({ seq }) => seq)
  expect(all).toHaveLength(400)
  // A reader that goes on from the last number it has seen misses none.
  expect(all.filter((seq) => seq <= (seen.at(-1) ?? 0))).toEqual(seen)
  await Promise.all(writers.map((writer) => writer.end()))
})

test('keeps views while the ledger is away, and says what it had to drop', async () => {
  const sale = randomUUID()
  const metrics = createMetrics()
  const away = connect(way.through(url), 1, VIEW_SESSIONS)
  const viewLog = new ViewLog({ sql: away, sales, metrics, log: pino({ level: 'silent' }) }, 10)
  viewLog.actor.start()
  const add = (...events: ViewEvent[]) => viewLog.add({ dropped: 0, events })
  const [first, ...later] = Array.from({ length: 14 }, () => viewOf({ sale }))
  await add(first as ViewEvent)
  await expect.poll(() => viewsOf(sale)).toHaveLength(1)
  way.refuse()
  await add(...later)
  expect((await metrics.viewsDropped.get()).values).toMatchObject([{ labels: { where: 'origin' }, value: 3 }])
  await expect.poll(async () => (await metrics.actorFailures.get()).values[0]?.value).toBeGreaterThan(0)
  way.back()
  await expect.poll(() => viewsOf(sale)).toHaveLength(11)
  const findings = () => sql`select kind, detail, outcome from findings where kind = 'views_dropped' and outcome <> ''`
  await expect.poll(findings).toMatchObject([{ detail: { events: 3 }, outcome: expect.stringContaining('3 beacons') }])
  // The connection breaks in the middle of a batch, of which nothing is written until the next attempt.
  const cut = viewOf({ sale })
  way.resetAt(cut.view)
  await add(cut)
  await expect.poll(() => viewsOf(sale)).toHaveLength(12)
  expect(way.hasReset()).toBe(true)
  await viewLog.actor.stop()
  await away.end()
})

test('an hour of a day ago is dropped, and no later one', async () => {
  const create = (hours: number) => sql`select create_view_hour(now() - ${hours} * interval '1 hour')`
  for (const hours of [30, 24, 23]) await create(hours)
  const exists = async (hours: number) =>
    (await sql`select to_regclass(view_hour(now() - ${hours} * interval '1 hour')) is not null as exists`)[0]?.exists
  await sql`select drop_view_hours()`
  expect([await exists(30), await exists(24), await exists(23)]).toEqual([false, false, true])
})
