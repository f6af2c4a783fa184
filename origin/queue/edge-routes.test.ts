import { expect, onTestFinished, test, vi } from 'vitest'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import { joinCounts } from '../../test/lib/samples.ts'
import { createMetrics } from '../base/metrics.ts'
import { SaleMemory } from '../sales/sale-memory.ts'
import { QueueReports, reportIn } from './queue-reports.ts'

const origin = useOrigin()

/** The edge's report on the queue. */
const REPORT = {
  numbers_given: '1000',
  called: '400',
  waiting: '600',
  coming_units: '0',
  coming_people: '0',
  likely_people: '0',
  wait_seconds: '12.5',
  called_per_second: '48',
  boost: '1.2',
  throttle: '0.4',
  clock_ms: String(Date.now()),
}

const requestState = (sale: string, report: Record<string, string> = {}) =>
  origin.call('GET', `/internal/sales/${sale}?${new URLSearchParams(report)}`, { token: origin.edgeToken })

async function gauges(sale: string) {
  const text = String((await origin.ops('/metrics')).body.text)
  const all = text.matchAll(/^((?:queue|admission|line)_\w+)\{sale="([^"]+)"\} (.+)$/gm)
  return Object.fromEntries([...all].flatMap(([, name, of, value]) => (of === sale ? [[name, value]] : [])))
}

test('needs the edge token', async () => {
  for (const token of [ADMIN_TOKEN, 'wrong'])
    expect(await origin.call('GET', '/internal/sales/x', { token })).toMatchObject({ status: 401 })
})

test('says which sales search engines may show, and which are for tests only, which stays as it is', async () => {
  for (const isTest of [true, false]) {
    const said = { test: isTest, indexed: !isTest }
    const sale = await origin.sale(said)
    expect(await requestState(sale)).toMatchObject({ body: said })
    const read = await origin.admin('GET', `/sales/${sale}`)
    expect(read).toMatchObject({ body: said })
    const put = (body: object) => origin.admin('PUT', `/sales/${sale}`, body)
    const refused = { status: 422, body: { errors: [{ field: 'test' }] } }
    expect(await put({ ...read.body, test: !isTest })).toMatchObject(refused)
    expect(await put(read.body)).toMatchObject({ status: 200, body: { test: isTest } })
  }
})

test('a cache that cannot be purged is a finding, until it is purged', async () => {
  const sale = await origin.sale()
  const findingsAfter = async (purge_failures: number) => {
    await requestState(sale, { ...REPORT, purge_failures: String(purge_failures) })
    return origin.sql()`select kind, outcome from findings where sale_id = ${sale} and kind = 'purge_failed'`
  }
  await expect.poll(() => findingsAfter(1)).toEqual([{ kind: 'purge_failed', outcome: null }])
  await expect.poll(() => findingsAfter(0)).toEqual([{ kind: 'purge_failed', outcome: 'the cache was purged' }])
})

test('says what receipts name, and leaves it out again', async () => {
  const named = {
    seller: { name: 'Halfway Ltd', address: 'Harbour Street 4\n10115 Berlin' },
    tax: { name: 'VAT', percent: 7.7 },
  }
  const sale = await origin.sale(named)
  expect(await requestState(sale)).toMatchObject({ body: named })
  const { body } = await origin.admin('GET', `/sales/${sale}`)
  expect(body).toMatchObject(named)
  const { seller: _, tax: __, ...without } = body
  const none = { status: 200, body: { seller: null, tax: null } }
  expect(await origin.admin('PUT', `/sales/${sale}`, without)).toMatchObject(none)
  expect(await requestState(sale)).toMatchObject(none)
})

test('shows the report of the edge to operators and monitors', async () => {
  const sale = await origin.sale({ expected_visitors: 5_000 })
  const read = () => origin.admin('GET', `/sales/${sale}`)
  const nothing = {
    rates: { admission_per_second: 100, called_per_second: null, boost: null, throttle: null },
    queue: { arrivals: 0, numbers_given: null, called: null, waiting: null, wait_seconds: null },
  }
  expect(await read()).toMatchObject({ body: nothing })
  for (const invalid of [{}, { ...REPORT, waiting: 'many' }, { ...REPORT, boost: '-1' }, { called: '7' }])
    expect(await requestState(sale, invalid)).toMatchObject({ status: 200 })
  expect(await gauges(sale)).toEqual({})

  // A newer edge may report more.
  const answer = await requestState(sale, { ...REPORT, wait_ratio: '1.1' })
  expect(answer).toMatchObject({ status: 200, body: { phase: 'open' } })
  const rates = { admission_per_second: 100, called_per_second: 48, boost: 1.2, throttle: 0.4 }
  const queue = { arrivals: 0, numbers_given: 1000, called: 400, waiting: 600, wait_seconds: 12.5 }
  expect(await read()).toMatchObject({ body: { rates, queue } })
  const shown = {
    queue_waiting: '600',
    queue_expected_visitors: '5000',
    admission_rate_per_second: '48',
    admission_rate_target_per_second: '100',
    line_boost: '1.2',
    line_throttle: '0.4',
  }
  expect(await gauges(sale)).toEqual({ ...shown, queue_wait_seconds: '12.5' })
  const { wait_seconds: _, ...standing } = REPORT
  await requestState(sale, standing)
  expect(await gauges(sale)).toEqual(shown)
  expect(await read()).toMatchObject({ body: { queue: { wait_seconds: null } } })
})

test('counts those whose turn passed without a checkout call, while arrivals are counted', async () => {
  const metrics = createMetrics()
  const reports = new QueueReports(metrics, new SaleMemory())
  const didNotComeOf = async (arrivals: number | null, said: object) => {
    const report = reportIn({ ...REPORT, ...said })
    if (report) reports.add('sale', report, { ratePerSecond: 100, expectedVisitors: 300, arrivals, nowMs: 0 })
    return /^queue_did_not_come\{sale="sale"\} (\d+)$/m.exec(await metrics.registry.metrics())?.[1]
  }
  // 400 were called: 300 have arrived, and 40 may come.
  expect(await didNotComeOf(300, { may_come: '40' })).toBe('60')
  // Arrivals are an estimate.
  expect(await didNotComeOf(370, { may_come: '40' })).toBe('0')
  expect(await didNotComeOf(null, { may_come: '40' })).toBeUndefined()
  expect(await didNotComeOf(300, {})).toBeUndefined()
})

test('measures how far the wait of the last in line was from the one shown', async () => {
  const sale = await origin.sale()
  const written = () => origin.sql()`select from sale_minutes where sale_id = ${sale} and gauges ? 'wait_seconds'`
  await requestState(sale, { ...REPORT, called: '400', wait_seconds: '500' })
  await expect.poll(written).toHaveLength(1)
  await requestState(sale, { ...REPORT, called: '1000', waiting: '0', wait_seconds: '0' })
  const measured = async () => {
    const text = String((await origin.ops('/metrics')).body.text)
    return /^wait_error_seconds_sum\{direction="shorter"\} (.+)$/m.exec(text)?.[1]
  }
  // The visitor was called within seconds of the five hundred.
  await expect.poll(async () => Number(await measured())).toBeGreaterThan(300)
})

test('forgets a report after ten seconds', () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['performance'] })
  const reports = new QueueReports(createMetrics(), new SaleMemory())
  const report = reportIn(REPORT)
  if (report) reports.add('sale', report, { ratePerSecond: 100, expectedVisitors: 300, arrivals: 0, nowMs: 0 })
  vi.advanceTimersByTime(9_000)
  expect(reports.latest('sale')).toMatchObject({ waiting: 600 })
  vi.advanceTimersByTime(2_000)
  expect(reports.latest('sale')).toBeNull()
})

test('measures how far the edge’s clock is from the ledger’s', async () => {
  const sale = await origin.sale()
  await requestState(sale, { ...REPORT, clock_ms: String(Date.now() - 3_600_000) })
  const skew = async () => {
    const text = String((await origin.ops('/metrics')).body.text)
    return Number(new RegExp(`^edge_clock_skew_seconds\\{sale="${sale}"\\} (.+)$`, 'm').exec(text)?.[1])
  }
  // The hour, and how long the report was on its way.
  expect(await skew()).toBeGreaterThan(3_590)
  expect(await skew()).toBeLessThan(2 * 3_600)
})

test('knows who is on a protected site, and has come, by what the edge says of their sessions', async () => {
  // Before a site that sells by itself a sale needs no products, and never sells out.
  const sale = 'before-a-site'
  const opens_at = new Date(Date.now() - 1_000).toISOString()
  const body = { name: 'Before a site', opens_at, admission: { rate_per_second: 50, max_inside: 20 } }
  expect((await origin.admin('PUT', `/sales/${sale}`, body)).status).toBe(201)
  const tell = (sessions: Readonly<Record<string, number>>) => requestState(sale, { counts: joinCounts({ sessions }) })
  await tell({ '1': 300, '2': 300, '3': 300 })
  const state = async () => (await requestState(sale)).body
  await expect.poll(state).toMatchObject({ phase: 'open', products: [], arrivals: 3, on_site: 3 })
  await tell({ '1': 0, '2': 300 })
  await expect.poll(state).toMatchObject({ arrivals: 3, on_site: 2 })
})

test('the report says how much went to networks whose joins look like those of people', async () => {
  const sale = await origin.sale({ total: 50 })
  const counts = joinCounts({ networks: { '3320': [100, 2], '16276': [200, 0] } })
  for (let times = 0; times < 2; times++) await requestState(sale, { counts })
  await origin.sql()`
    insert into view_counts (sale_id, minute, kind, by, key, counted)
    select ${sale}, date_trunc('minute', now()), 'live', by, key, counted
    from (values ('network', 'AS3320', 500), ('network', 'AS16276', 3), ('total', '', 503)) v (by, key, counted)`
  for (const [asn, units] of [
    ['3320', 3],
    ['16276', 1],
    [undefined, 2],
  ] as const)
    for (let i = 0; i < units; i++)
      await origin.checkout(sale, {
        body: { payment_method: 'pm_ok' },
        headers: asn === undefined ? {} : { 'edge-token': origin.edgeToken, 'edge-asn': asn },
      })
  const honest = async () => (await origin.admin('GET', `/sales/${sale}/report`)).body.honest
  await expect.poll(honest).toEqual({
    units: 4,
    outside: 3,
    scripted: [{ network: 'AS16276', joined: 400, unproved: 0, views: 3, units: 1 }],
  })
})

test('counts joins, refusals, proofs and what each rule met, and ignores counts of another form', async () => {
  const sale = await origin.sale()
  const when = { country: 'DE' }
  const { body } = await origin.admin('POST', `/sales/${sale}/rules`, { when, action: 'refuse' })
  const refusals = { refused: 3, 'proof-required': 1 }
  const counted = { joins: 7, proofs: 2, refusals, met: { [String(body.rule)]: 3 } }
  const counts = joinCounts(counted)
  await requestState(sale, { counts })
  await requestState(sale, { counts })
  for (const wrong of ['{', '{}', joinCounts({ ...counted, joins: -1 })]) await requestState(sale, { counts: wrong })
  const rules = async () => (await origin.admin('GET', `/sales/${sale}/rules`)).body.rules
  await expect.poll(rules).toMatchObject([{ met: 6 }])
  const text = String((await origin.ops('/metrics')).body.text)
  const shown = text.split('\n').filter((line) => /^edge_.*_total/.test(line) && line.includes(sale))
  expect(shown.sort()).toEqual([
    `edge_joins_total{sale="${sale}"} 14`,
    `edge_proofs_total{sale="${sale}"} 4`,
    `edge_refusals_total{sale="${sale}",reason="proof-required"} 2`,
    `edge_refusals_total{sale="${sale}",reason="refused"} 6`,
  ])
})

test('answers the state of a sale, with who has arrived and who waits for stock', async () => {
  // The first response has the counts too, unless Redis is late.
  const first = async () => (await requestState(await origin.sale({ total: 1 }))).body
  const fresh = { phase: 'open', arrivals: 0, waiting_for_stock: 0, counted: true, health: 'ok' }
  await expect.poll(first).toMatchObject(fresh)
  const sale = await origin.sale({ total: 1 })
  const state = async () => (await requestState(sale)).body
  await expect.poll(state).toMatchObject({ sale, ...fresh })
  await Promise.all([origin.checkout(sale), origin.checkout(sale)])
  const inCarts = { phase: 'all_in_carts', products: [{ available: 0, held: 1, sold: 0 }] }
  await expect.poll(state).toMatchObject({ arrivals: 2, waiting_for_stock: 1, ...inCarts })
  expect(await requestState('none')).toMatchObject({ status: 404 })
})
