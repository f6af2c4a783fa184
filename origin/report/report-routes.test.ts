/** The report of a sale combines the orders, the minutes, the audit log and the edge's schedule. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import type { SaleReport } from '../../shared/api/operators/report.ts'
import { commitmentOf, positionOf } from '../../shared/draw.ts'
import { sampleSchedule } from '../../shared/testing/sample-schedule.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import { readSales } from '../sales/sale-queries.ts'
import { firstOrders } from './report-queries.ts'
import { saleReport } from './sale-report.ts'

const seed = '07'.repeat(32)
const SIZE = 5
const at = new Date().toISOString()
/** A stand-in for the edge returns the schedule of every sale except one that it does not know. */
const edge = await serveOnLoopback((request, response) => {
  const [, sale = ''] = /^\/sales\/([^/]+)\/schedule(?:\?|$)/.exec(request.url ?? '') ?? []
  if (sale === '' || sale === unknownToEdge) return void response.writeHead(404).end()
  const draw = { pre_queue_size: SIZE, draw_commitment: commitmentOf(seed), draw_seed: seed }
  const times = { pre_queue_opens_at: at, opens_at: at, server_time_ms: Date.now() }
  response.end(JSON.stringify(sampleSchedule({ sale, rate_per_second: 1, ceiling: 99, ...draw, ...times })))
})
let unknownToEdge = ''
afterAll(() => edge.stop())

const origin = useOrigin()
/** Makes the report as an origin does that is configured with this edge. */
async function report(saleId: string): Promise<SaleReport> {
  const { sales, nowMs } = await readSales(origin.sql(), [saleId], true)
  const config = { EDGE_URL: edge.url, PUBLIC_URL: 'https://drop.example' }
  const made = await saleReport({ sql: origin.sql(), config, nowMs: () => nowMs }, sales[0] ?? expect.unreachable())
  return JSON.parse(JSON.stringify(made))
}
const numbers = Array.from({ length: SIZE + 2 }, (_, i) => i + 1)
const byPosition = numbers.toSorted((a, b) => positionOf({ seed, size: SIZE }, a) - positionOf({ seed, size: SIZE }, b))

async function order(sale: string, num: number, body: object = {}, line?: string) {
  const token = await origin.token(sale, undefined, { num, ...(line && { line }) })
  return (await origin.checkout(sale, { token, body })).body.order_id ?? ''
}

test('tells figures, fairness with the proof of the draw, refusals and incidents', async () => {
  const sale = await origin.sale({ total: SIZE + 2 })
  const ids: string[] = []
  for (const num of byPosition)
    ids.push(await order(sale, num, num === byPosition[0] ? {} : { payment_method: 'pm_ok' }))
  await order(sale, 99)
  await origin.admin('PUT', `/sales/${sale}/announcement`, { level: 'warning', text: { en: 'Only a few are left.' } })
  await origin.admin('PATCH', `/sales/${sale}/admission`, { rate_per_second: 50 })
  await eventually(
    () => report(sale),
    ({ figures }) => figures.paid === SIZE + 1,
  )
  await origin.call('POST', `/admin/orders/${ids[1]}/refund`, {
    token: ADMIN_TOKEN,
    headers: { 'idempotency-key': 'a-refund' },
    body: { amount_minor: 300 },
  })
  const {
    figures,
    fairness: [fairness],
    attacks,
    ...made
  } = await eventually(
    () => report(sale),
    (now) =>
      now.figures.refunded === 1 &&
      now.attacks.refused.length > 0 &&
      now.curves.minutes.at(-1)?.gauges.total !== undefined,
  )

  const paid = (SIZE + 1) * 1000
  expect(figures).toMatchObject({
    reserved: SIZE + 2,
    paid: SIZE + 1,
    refunded: 1,
    revenue: [{ currency: 'EUR', paid_minor: paid, refunded_minor: 300, left_minor: paid - 300 }],
    units: { sold: SIZE + 1, held: 1, total: SIZE + 2 },
    products: [{ product_id: 'one', name: 'One', sold: SIZE + 1, held: 1, sold_minor: paid }],
    conversion: { reserved_to_paid: (SIZE + 1) / (SIZE + 2) },
  })
  expect(fairness).toMatchObject({
    line: 'public',
    compared: SIZE + 2,
    one_in: 1,
    note: null,
    overtaking: { overtaken: 0, worst_seconds: 0, worst_positions: 0 },
    draw: { seed, commitment: commitmentOf(seed), holds: true, drawn: SIZE },
  })
  expect(fairness?.rank_correlation).toBeCloseTo(1, 10)
  expect(fairness?.draw?.schedule_url).toBe(`https://drop.example/sales/${sale}/schedule`)
  expect(attacks.refused).toMatchObject([{ at: 'checkout', reason: 'all-in-carts', count: 1 }])
  expect(made.incidents.map(({ what }) => what)).toEqual(expect.arrayContaining(['created', 'announced', 'rate set']))
  expect(made.curves.minutes.at(-1)?.gauges).toMatchObject({ total: SIZE + 2 })
  const counts = { reserved: SIZE + 2, paid: SIZE + 1, paid_minor: paid }
  expect(made.sources).toMatchObject([
    { key: 'typed', ...counts, losses: { reserved_to_paid: expect.closeTo(1 / (SIZE + 2)) } },
  ])
  expect(made.holds).toMatchObject({ abandoned: 0, abandonment: 0, mean_seconds: expect.any(Number) })
  const { reserved, conversion } = made.holds.by_length[0] ?? {}
  expect([made.holds.by_length.length, reserved, conversion]).toEqual([1, SIZE + 2, 1])
})

test('tells who overtook whom, and says what it does not know', async () => {
  const sale = await origin.sale({ total: SIZE + 2 })
  for (const num of byPosition.toReversed()) await order(sale, num)
  const [fairness] = (await report(sale)).fairness
  expect(fairness?.rank_correlation).toBeCloseTo(-1, 10)
  expect(fairness?.overtaking).toMatchObject({ overtaken: SIZE + 1, worst_positions: SIZE + 1 })
  unknownToEdge = sale
  const unknown = { draw: null, rank_correlation: null, note: expect.any(String) }
  expect((await report(sale)).fairness).toMatchObject([unknown])
  const answer = await origin.admin('GET', `/sales/${sale}/report`)
  expect(answer).toMatchObject({ status: 200, body: { sale, figures: { reserved: SIZE + 2 } } })
  expect((await origin.admin('GET', '/sales/nowhere/report')).status).toBe(404)
})

test('compares each line by itself', async () => {
  const lines = ['members', 'public'].map((line) => ({ line, weight: 1 }))
  const sale = await origin.sale({ lines, total: 3 * SIZE })
  for (const num of byPosition) await order(sale, num, {}, 'members')
  for (const num of byPosition.toReversed()) await order(sale, num)
  expect((await report(sale)).fairness).toMatchObject([
    { line: 'members', compared: SIZE + 2, rank_correlation: expect.closeTo(1, 10), before_turn: null },
    { line: 'public', compared: SIZE + 2, rank_correlation: expect.closeTo(-1, 10), before_turn: null },
  ])
})

test('compares a sample by ticket number, each with its first order', async () => {
  const sql = origin.sql()
  const many = randomUUID()
  await sql`
    insert into orders (order_id, number, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor, currency, status,
                        idempotency_key, request_hash, created_at, reserved_until)
    select gen_random_uuid(), (next_order_numbers(1))[1], ${many}, 'one', i::text, 1 + i % 4000, 1, 1000, 'EUR', 'expired', i::text, 'h',
      to_timestamp(1 + i), to_timestamp(90 + i)
    from generate_series(0, 7999) i`
  const all = await firstOrders(sql, many, 'public', 1)
  expect(all.map(({ number, at_ms }) => at_ms - number * 1000)).toEqual(Array(4000).fill(0))
  const sample = await firstOrders(sql, many, 'public', 4)
  // The tolerance is six standard deviations around a quarter.
  expect(Math.abs(sample.length - 1000)).toBeLessThan(6 * Math.sqrt(4000 * 0.25 * 0.75))
  expect(all).toEqual(expect.arrayContaining([...sample].slice(0, 20)))
})
