import { expect, test } from 'vitest'
import type { LiveReading as Live } from '../../shared/api/operators/live.ts'
import type { SaleReport } from '../../shared/api/operators/report.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()
const live = async (sale: string) => (await origin.admin('GET', `/sales/${sale}/live`)).body as never as Live
const together = ({ minutes }: Live, name: string) => minutes.reduce((all, { counts }) => all + (counts[name] ?? 0), 0)

test('counts what happens by the minute, and says how it goes', async () => {
  const sale = await origin.sale({ total: 3 })
  for (let i = 0; i < 2; i++) await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  const order = await origin.checkout(sale)
  await origin.checkout(sale)
  await origin.call('DELETE', `/orders/${order.body.order_id}`, { token: order.body.order_token ?? '' })
  const counted = { reserved: 3, confirmed: 2, cancelled: 1 }
  const isCounted = (now: Live) =>
    Object.entries(counted).every(([name, count]) => together(now, name) === count) &&
    together(now, 'refused.all-in-carts') + together(now, 'refused.sold-out') === 1
  const seen = await eventually(() => live(sale), isCounted)
  await expect.poll(async () => (await live(sale)).minutes.at(-1)?.gauges).toMatchObject({ total: 3 })
  const well = { ledger: true, redis: true, workers: 1, provider: 'answers' }
  // The provider's health and the backlog are recorded less often than the orders.
  await expect.poll(async () => (await live(sale)).health).toMatchObject(well)
  await expect.poll(async () => (await live(sale)).backlogs.intents).toEqual({ waiting: 0, oldest_seconds: null })
  expect(seen.summary.text).not.toBe('')
})

const gauges = async (sale: string) => (await live(sale)).minutes.at(-1)?.gauges
/** Makes the edge report a sale's queue, and returns the resulting gauges. */
async function reported(sale: string, more: Record<string, number>) {
  const coming = { coming_units: 0, coming_people: 0, likely_people: 0 }
  const rates = { called_per_second: 0, boost: 1, throttle: 1, clock_ms: 0 }
  const report = { numbers_given: 50, called: 20, ...coming, ...rates, ...more }
  const query = Object.entries(report).map(([name, value]) => `${name}=${value}`)
  await origin.call('GET', `/internal/sales/${sale}?${query.join('&')}`, { token: origin.edgeToken })
  return gauges(sale)
}
const shows = (sale: string, report: Record<string, number>, wanted: object = report) =>
  expect.poll(() => reported(sale, report)).toMatchObject(wanted)

test('shows who joined as the waiting room has stored it, whatever was counted on the way', async () => {
  const sale = await origin.sale()
  await shows(sale, { waiting: 30, joined: 45 }, { waiting: 25, joined: 45 })
  expect((await live(sale)).funnel).toMatchObject({ joined: 45, called: 20, waiting: 25 })
  const { body } = await origin.admin('GET', `/sales/${sale}/report`)
  expect(body.figures).toMatchObject({ joined: 45 })
})

test('keeps the most waiting in a minute, and shows no wait that is unknown or that nobody has', async () => {
  const sale = await origin.sale()
  for (const [report, isShown] of [
    [{ waiting: 30 }, false],
    [{ waiting: 4, wait_seconds: 12 }, true],
    [{ waiting: 3 }, false],
    [{ waiting: 0, wait_seconds: 0 }, false],
  ] as const) {
    await shows(sale, report, isShown ? report : { waiting: report.waiting })
    expect('wait_seconds' in ((await gauges(sale)) ?? {}), JSON.stringify(report)).toBe(isShown)
  }
  const { body } = await origin.admin('GET', `/sales/${sale}/report`)
  expect(body.figures).toMatchObject({ most_waiting: 30 })
})

test('compares waits in the minute of the opening, where somebody waited, by when they were called', async () => {
  const sale = await origin.sale()
  const waits = async () => (await origin.admin('GET', `/sales/${sale}/report`)).body.waits
  await shows(sale, { waiting: 30, wait_seconds: 400 }, { waiting: 30 })
  expect(await waits()).toMatchObject({ compared: 0, minutes: [{ shown_seconds: 400, real_seconds: null }] })
  await shows(sale, { waiting: 0, called: 50 }, { waiting: 0 })
  // All visitors have been called a few seconds later.
  const compared = async () => ((await waits()) as SaleReport['waits']).compared
  await expect.poll(compared).toBeGreaterThan(0)
  expect(((await waits()) as SaleReport['waits']).worst_error_seconds).toBeGreaterThan(300)
})

test('knows when the edge asked last, not when its report was last written down', async () => {
  const sale = await origin.sale()
  await reported(sale, { waiting: 3 })
  await expect.poll(() => gauges(sale)).toMatchObject({ waiting: 3 })
  const { edge_at_ms: before = 0 } = (await gauges(sale)) ?? {}
  // A change is written together with the figures of the next second.
  await origin.checkout(sale)
  await expect.poll(() => gauges(sale)).toMatchObject({ held: 1 })
  expect(((await gauges(sale))?.edge_at_ms ?? 0) - before).toBeLessThan(500)
  await expect.poll(async () => (await live(sale)).health.edge_seconds).toBeGreaterThan(0)
})

test('streams the state, read anew each time', async () => {
  const sale = await origin.sale()
  const response = await fetch(`${origin.url()}/admin/sales/${sale}/live`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, accept: 'text/event-stream' },
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while ((text.match(/"read_at":"([^"]+)"/g)?.length ?? 0) < 2) text += (await reader?.read())?.value ?? ''
  await reader?.cancel()
  const times = [...text.matchAll(/"read_at":"([^"]+)"/g)].map(([, at = '']) => Date.parse(at))
  expect(times.toSorted((a, b) => a - b)).toEqual(times)
  expect(new Set(times).size).toBe(times.length)
})
