import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, eventuallyMatches } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, endLeases, useOrigin } from '../../test/lib/origin-process.ts'
import { saleOf } from '../../test/lib/samples.ts'
import { untilLocked, useDatabase } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { JobRunner } from '../jobs/job-runner.ts'
import { connect, type Sql } from '../ledger/connection.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Sales } from '../sales/sales.ts'
import { addAction, addRun, runReports } from './scheduled-queries.ts'
import { Scheduler } from './scheduler.ts'

const api = useOrigin()

interface Scheduled extends Readonly<Record<'next_at' | 'cancelled_at', string | null>> {
  readonly action_id: string
  readonly runs: readonly Readonly<{
    due_at: string
    ran_at: string
    late: boolean
    error: string | null
    has_document: boolean
  }>[]
}
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const schedule = (sale: string, body: object, headers = {}) =>
  api.call('POST', `/admin/sales/${sale}/scheduled`, { token: ADMIN_TOKEN, body, headers })
const listed = async (sale: string) =>
  (await api.admin('GET', `/sales/${sale}/scheduled`)).body.scheduled as readonly Scheduled[]
const haveRun = (sale: string) =>
  eventually(
    () => listed(sale),
    (all) => all.every(({ runs }) => runs.length > 0),
  )
/** The run was more than five seconds late, which can happen on a busy machine. */
const isLate = ({ due_at, ran_at }: Scheduled['runs'][number]) => Date.parse(ran_at) - Date.parse(due_at) > 5_000
const restock = { action: 'restock', product_id: 'one', quantity: 5 }
/** Moves the actions of a sale, and their jobs, to a time this long ago. */
const comes = (sale: string, ago = '0 seconds') => api.sql()`
  with due as (
    update scheduled_actions set next_at = date_trunc('milliseconds', now() - ${ago}::interval)
    where sale_id = ${sale} and next_at is not null
    returning action_id, next_at)
  update jobs set run_at = next_at,
    data = data || jsonb_build_object('dueAt', to_char(next_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from due where queue = 'scheduled' and data ->> 'action' = action_id::text`
/** Waits until the runs of a sale's actions are over and no other is due. */
const settled = (sale: string) =>
  eventuallyMatches(
    () => api.sql()`
      select from jobs where queue = 'scheduled' and run_at < now() + interval '10 seconds' and ${isOf(sale)}`,
    [],
  )
const isOf = (sale: string) =>
  api.sql()`data ->> 'action' in (select action_id::text from scheduled_actions where sale_id = ${sale})`

describe.concurrent('a scheduled action', () => {
  test('of each kind takes effect at its time', async () => {
    const sale = await api.sale()
    const at = inMs(600_000)
    const text = { en: 'More at nine.' }
    for (const effect of [
      restock,
      { action: 'rate', rate_per_second: 7 },
      { action: 'price', product_id: 'one', unit_price_minor: 700 },
      { action: 'pause', reason: text },
      { action: 'announce', level: 'warning', text },
    ])
      expect(await schedule(sale, { at, ...effect })).toMatchObject({ status: 201, body: { next_at: at, ...effect } })
    expect(await api.stock(sale)).toMatchObject({ total: 10 })
    await comes(sale)
    const done = await haveRun(sale)
    expect(done).toMatchObject(done.map(() => ({ next_at: null, runs: [{ error: null }] })))
    for (const run of done.flatMap(({ runs }) => runs)) {
      expect(Date.parse(run.ran_at)).toBeGreaterThanOrEqual(Date.parse(run.due_at))
      expect(run.late).toBe(isLate(run))
    }
    expect((await api.admin('GET', `/sales/${sale}`)).body).toMatchObject({
      phase: 'paused',
      pause_reason: text,
      announcement: { level: 'warning', text },
      admission: { rate_per_second: 7 },
      products: [{ total: 15, available: 15, unit_price_minor: 700 }],
    })
    // The change is read by other processes soon afterwards.
    const edge = async () => (await api.call('GET', `/internal/sales/${sale}`, { token: api.edgeToken })).body
    await eventuallyMatches(edge, { products: [{ unit_price_minor: 700 }], announcement: { text } })
    await schedule(sale, { at: inMs(600_000), action: 'resume' })
    await comes(sale)
    await haveRun(sale)
    await eventuallyMatches(async () => (await api.checkout(sale)).body, { status: 'reserved', unit_price_minor: 700 })
    await schedule(sale, { at: inMs(600_000), action: 'end' })
    await comes(sale)
    const end = (await haveRun(sale))
      .flatMap(({ runs }) => runs)
      .toSorted((a, b) => Date.parse(b.due_at) - Date.parse(a.due_at))
    expect((await api.admin('GET', `/sales/${sale}`)).body).toMatchObject({ phase: 'ended' })
    const { entries } = (await api.admin('GET', `/audit?sale=${sale}&action=scheduled`)).body as { entries: unknown[] }
    expect(entries).toHaveLength(7)
    expect(entries[0]).toMatchObject({ operator: 'admin', after: { action: 'end', late: end[0]?.late, error: null } })
  })

  test('that is repeated goes on until it is cancelled, and of missed runs the last is made up for', async () => {
    const sale = await api.sale()
    expect(await schedule(sale, { cron: '* * * * *', ...restock })).toMatchObject({ status: 201 })
    const beganMs = Date.now()
    await comes(sale, '30 minutes')
    const isCaughtUp = ([all]: readonly Scheduled[]) =>
      (all?.runs.length ?? 0) >= 1 && Date.parse(all?.next_at ?? '') > Date.now()
    const [found] = await eventually(() => listed(sale), isCaughtUp)
    const made = found?.runs.at(-1)
    expect(made).toMatchObject({ error: null })
    expect(beganMs - Date.parse(made?.due_at ?? '')).toBeLessThanOrEqual(60_000)
    // The thirty runs before it are not made up for.
    expect(found?.runs.length).toBeLessThanOrEqual(1 + Math.ceil((Date.now() - beganMs) / 60_000))
    for (let times = 0; times < 2; times++)
      expect(await api.admin('DELETE', `/sales/${sale}/scheduled/${found?.action_id}`)).toMatchObject({ status: 204 })
    expect(await listed(sale)).toMatchObject([{ next_at: null, cancelled_at: expect.any(String) }])
    const { total } = await api.stock(sale)
    expect(total).toBe(10 + 5 * ((await listed(sale))[0]?.runs.length ?? 0))
    // The job of the next run finds that the run is no longer due.
    await api.sql()`update jobs set run_at = now() where queue = 'scheduled' and ${isOf(sale)}`
    await settled(sale)
    expect(await api.stock(sale)).toMatchObject({ total })
  })

  test('that the state does not allow is recorded, found, and not tried again; a repetition ends with its sale', async () => {
    const sale = await api.sale()
    await schedule(sale, { at: inMs(600_000), action: 'restock', product_id: 'one', quantity: 10_000_000 })
    await comes(sale)
    expect((await haveRun(sale))[0]?.runs).toMatchObject([{ error: expect.stringContaining('exceed') }])
    expect((await api.admin('GET', `/sales/${sale}/findings`)).body.findings).toMatchObject([
      { kind: 'scheduled_failed', product_id: 'one', detail: { action: 'restock' } },
    ])
    const over = await api.sale()
    await schedule(over, { cron: '0 12 * * *', ...restock })
    await schedule(sale, { at: inMs(600_000), action: 'rate', rate_per_second: 3 })
    for (const ended of [sale, over]) await api.admin('POST', `/sales/${ended}/end`)
    for (const ended of [sale, over]) await comes(ended)
    await haveRun(sale)
    expect((await listed(sale)).map(({ runs }) => runs[0]?.error)).toContain('The sale has ended.')
    expect((await haveRun(over))[0]).toMatchObject({ next_at: null, runs: [{ error: 'The sale has ended.' }] })
    expect((await api.admin('GET', `/sales/${over}/findings`)).body.findings).toEqual([])
    expect(await schedule(sale, { at: inMs(600_000), action: 'resume' })).toMatchObject({ status: 409 })
  })

  test('of an operator who is revoked or demoted is suspended with a finding, until an owner resumes or cancels it', async () => {
    const sale = await api.sale()
    const name = `ida-${randomUUID()}`
    const names = (role: string) => api.admin('POST', '/operators', { name, role })
    const as = async (key: unknown, method: string, path: string, body?: object) =>
      api.call(method, `/admin/sales/${sale}/scheduled${path}`, { token: String(key), ...(body && { body }) })
    const { key } = (await names('operator')).body
    const once = await as(key, 'POST', '', { at: inMs(600_000), ...restock })
    const daily = await as(key, 'POST', '', { cron: '0 12 * * *', ...restock })
    const kinds = () => api.sql()`
      select kind, detail from findings where sale_id = ${sale} and closed_at is null`
    expect(await names('viewer')).toMatchObject({ status: 201 })
    const suspended = { by: 'admin', reason: 'demoted', at: expect.any(String) }
    expect(await listed(sale)).toMatchObject([
      { next_at: null, operator: name, suspended: { ...suspended, due_at: expect.any(String) } },
      { next_at: null, suspended },
    ])
    const about = { kind: 'scheduled_suspended', detail: { operator: name, by: 'admin', reason: 'demoted' } }
    expect(await kinds()).toMatchObject([about, about])
    await api.sql()`update jobs set run_at = now() where queue = 'scheduled' and ${isOf(sale)}`
    await settled(sale)
    expect(await api.stock(sale)).toMatchObject({ total: 10 })

    const { key: operator } = (await names('operator')).body
    expect(await as(operator, 'POST', `/${once.body.action_id}/resume`)).toMatchObject({ status: 403 })
    const resumed = { operator: 'admin', next_at: once.body.next_at, suspended: null }
    const resume = ({ body }: typeof once) => as(ADMIN_TOKEN, 'POST', `/${body.action_id}/resume`)
    expect(await resume(once)).toMatchObject({ status: 200, body: resumed })
    expect(await as(operator, 'DELETE', `/${daily.body.action_id}`)).toMatchObject({ status: 204 })
    expect(await kinds()).toEqual([])
    await comes(sale)
    await settled(sale)
    expect(await api.stock(sale)).toMatchObject({ total: 15 })

    const late = await as(operator, 'POST', '', { at: inMs(600_000), ...restock })
    expect(await api.admin('DELETE', `/operators/${name}`)).toMatchObject({ status: 204 })
    // A revoked key is accepted for another second.
    expect(await as(operator, 'POST', '', { at: inMs(600_000), ...restock })).toMatchObject({ status: 401 })
    expect(await kinds()).toMatchObject([{ kind: 'scheduled_suspended', detail: { reason: 'revoked' } }])
    await api.sql()`
      update scheduled_actions set suspended = suspended || '{"due_at":"2026-01-01T00:00:00.000Z"}'
      where action_id = ${String(late.body.action_id)}`
    expect(await resume(late)).toMatchObject({ status: 409 })
    expect(await as(ADMIN_TOKEN, 'DELETE', `/${late.body.action_id}`)).toMatchObject({ status: 204 })
    expect(await resume(late)).toMatchObject({ status: 409 })
  })

  test('that failed or is to come is run by an operator, in their name, and no other one', async () => {
    const sale = await api.sale()
    const run = async (index = 0) =>
      api.admin('POST', `/sales/${sale}/scheduled/${(await listed(sale))[index]?.action_id}/run`)
    // It comes only after its last moment, since all workers were away.
    const tooLate = { at: inMs(600_000), not_after: inMs(600_000), ...restock }
    expect(await schedule(sale, tooLate)).toMatchObject({ status: 201, body: { not_after: tooLate.not_after } })
    await api.sql()`update scheduled_actions set not_after = now() - interval '1 minute' where sale_id = ${sale}`
    await comes(sale, '2 minutes')
    expect((await haveRun(sale))[0]?.runs).toMatchObject([{ late: true, error: expect.stringContaining('not_after') }])
    expect(await api.stock(sale)).toMatchObject({ total: 10 })
    const open = async () => (await api.admin('GET', `/sales/${sale}/findings`)).body.findings
    expect(await open()).toMatchObject([{ kind: 'scheduled_failed' }])
    expect(await run()).toMatchObject({ status: 202 })
    const isRun = (total: number) => eventuallyMatches(() => api.stock(sale), { total })
    await isRun(15)
    await settled(sale)
    expect((await listed(sale))[0]).toMatchObject({ next_at: null, runs: [{ error: null }, {}] })
    expect(await run()).toMatchObject({ status: 409 })

    const { body: daily } = await schedule(sale, { cron: '0 12 * * *', ...restock })
    expect(await run()).toMatchObject({ status: 202 })
    await isRun(20)
    await settled(sale)
    expect((await listed(sale))[0]).toMatchObject({ action_id: daily.action_id, next_at: daily.next_at })
    expect(await api.admin('DELETE', `/sales/${sale}/scheduled/${daily.action_id}`)).toMatchObject({ status: 204 })
    expect(await api.admin('POST', `/sales/${sale}/scheduled/${daily.action_id}/run`)).toMatchObject({ status: 409 })
    expect(await api.admin('POST', `/sales/${sale}/scheduled/${randomUUID()}/run`)).toMatchObject({ status: 404 })
    const { entries } = (await api.admin('GET', `/audit?sale=${sale}&action=action run`)).body as { entries: unknown[] }
    expect(entries).toHaveLength(2)
    expect(entries[0]).toMatchObject({ operator: 'admin', before: { action_id: daily.action_id } })
    expect(await schedule(sale, { ...tooLate, not_after: inMs(1_000) })).toMatchObject({ status: 422 })
  })

  test('that is repeated ends with the last time before its not_after', async () => {
    const sale = await api.sale()
    await schedule(sale, { cron: '* * * * *', not_after: inMs(90_000), ...restock })
    await api.sql()`update scheduled_actions set not_after = now() + interval '1 second' where sale_id = ${sale}`
    await comes(sale)
    expect((await haveRun(sale))[0]).toMatchObject({ next_at: null, runs: [{}] })
  })

  test('keeps the report, and the orders without their visitors, also of a sale that is over', async () => {
    const sale = await api.sale()
    const order = (await api.checkout(sale)).body.order_id
    await api.admin('POST', `/sales/${sale}/end`)
    for (const action of ['report', 'export'])
      expect(await schedule(sale, { at: inMs(600_000), action })).toMatchObject({ status: 201 })
    await comes(sale)
    const kept = async (action: string) => {
      const [one] = (await haveRun(sale)).filter((all) => 'action' in all && all.action === action)
      expect(one?.runs).toMatchObject([{ error: null, has_document: true }])
      const path = `/sales/${sale}/scheduled/${one?.action_id}/runs`
      expect(await api.admin('GET', `${path}/2026-01-01T00:00:00.000Z`)).toMatchObject({ status: 404 })
      return api.admin('GET', `${path}/${one?.runs[0]?.due_at}`)
    }
    expect(await kept('report')).toMatchObject({ status: 200, body: { sale, figures: { reserved: 1 } } })
    const { headers, body } = await kept('export')
    expect(headers.get('content-type')).toBe('application/x-ndjson')
    const text = String(body.text ?? JSON.stringify(body))
    expect(text).toContain(`"order_id":"${order}"`)
    expect(text).not.toMatch(/visitor|delivery_/)
  })

  test('that can never happen is refused', async () => {
    const sale = await api.sale()
    for (const body of [
      restock,
      { at: inMs(600_000), cron: '* * * * *', ...restock },
      { at: inMs(-9_000), ...restock },
      { cron: '* * * * * *', ...restock },
      { at: inMs(600_000), action: 'open' },
      { at: inMs(600_000), ...restock, quantity: 0 },
    ])
      expect(await schedule(sale, body)).toMatchObject({ status: 422 })
    expect(await schedule(sale, { at: inMs(600_000), ...restock, product_id: 'two' })).toMatchObject({ status: 404 })
    const path = `/sales/${sale}/scheduled/00000000-0000-4000-8000-000000000000`
    expect(await api.admin('DELETE', path)).toMatchObject({ status: 404 })
  })

  test('whose call is sent again under its key is scheduled once', async () => {
    const sale = await api.sale()
    const body = { at: inMs(600_000), ...restock }
    const key = { 'idempotency-key': 'again' }
    const first = await schedule(sale, body, key)
    const second = await schedule(sale, body, key)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body.action_id).toBe(first.body.action_id)
    expect(await schedule(sale, { ...body, quantity: 6 }, key)).toMatchObject({ status: 422 })
    expect(await listed(sale)).toHaveLength(1)
  })
})

const REPORT = {
  name: 'Friday drop',
  sale: 'mailed',
  phase: 'open',
  incidents: [],
  figures: {
    units: { sold: 9, held: 0, free: 1, withheld: 0, total: 10 },
    revenue: [{ currency: 'EUR', paid_minor: 900, refunded_minor: 0, left_minor: 900 }],
    sold_out_at: null,
    duration_seconds: 60,
    joined: null,
    conversion: { joined_to_paid: null },
  },
}

describe('of several workers', () => {
  const database = useDatabase()
  let sql: Sql
  let sales: Sales
  beforeAll(async () => {
    sql = connect(database.url, 12)
    sales = new Sales(sql)
    await sales.start()
  })
  afterAll(async () => {
    await sales.stop()
    await sql.end({ timeout: 1 })
  })

  /** A worker of scheduled actions on these connections. The reconciler of the fast gate is a separate actor. */
  function workerOn(connections: Sql) {
    const log = pino({ level: 'silent' })
    const reconciler = { reconcileSale: async (sale: string) => ({ sale, findings: [] }) }
    const edge = { notify: () => {} }
    return new JobRunner({ sql: connections, log }, [
      new Scheduler({
        report: async () => REPORT,
        consoleUrl: 'https://ops.example',
        sendsMail: true,
        sql: connections,
        sales,
        reconciler,
        edge,
        metrics: createMetrics(),
        log,
      }),
    ])
  }
  /** Creates a sale with restocks of one unit that are due now, each with two jobs. */
  async function dueSale(saleId: string, actions: number): Promise<void> {
    await writeSale(sql, saleId, saleOf(10))
    const next_at = new Date()
    const effect = { action: 'restock', product_id: 'one', quantity: 1 } as const
    const about = { sale_id: saleId, effect, cron: null, operator: 'ida', idempotency_key: null, next_at }
    await sql.begin(async (tx) => {
      for (let i = 0; i < actions; i++) {
        const action_id = randomUUID()
        await addAction(tx, { ...about, action_id })
        for (let job = 0; job < 2; job++) await addRun(tx, action_id, next_at)
      }
    })
  }
  const totalOf = async (saleId: string) =>
    (await sql<{ total: number }[]>`select total from products where sale_id = ${saleId}`)[0]?.total
  const worksOff = (workers: JobRunner[]) => {
    const rounds = async () => {
      await Promise.all(workers.map((worker) => worker.round()))
      await Promise.all(workers.map((worker) => worker.drain()))
      return sql`select from jobs`
    }
    return expect.poll(rounds).toEqual([])
  }

  test('a report is mailed to each address when its sale ends, and goes on by its times until then', async () => {
    await writeSale(sql, 'mailed', saleOf(10))
    const to = ['ada@example.com', 'ben@example.com']
    const effect = { action: 'report', to } as const
    const about = { sale_id: 'mailed', effect, cron: '0 8 * * *', operator: 'ida', idempotency_key: null }
    const action_id = randomUUID()
    await sql.begin((tx) => addAction(tx, { ...about, action_id, next_at: new Date(Date.now() + 3_600_000) }))
    await sql.begin((tx) => runReports(tx, 'mailed'))
    const worker = workerOn(sql)
    await expect
      .poll(async () => {
        await worker.round()
        await worker.drain()
        return sql`select data ->> 'channel' as channel, data -> 'to' as to,
          data -> 'alert' ->> 'title' as title, data -> 'alert' ->> 'link' as link from jobs where queue = 'alert'`
      })
      .toEqual(
        to.map((one) => ({
          channel: 'mail',
          to: [one],
          title: 'Friday drop: 9 of 10 sold',
          link: 'https://ops.example/console/sales/mailed/report',
        })),
      )
    const [row] = await sql`select next_at > now() as comes from scheduled_actions where action_id = ${action_id}`
    expect(row).toEqual({ comes: true })
    await sql`truncate jobs`
  })

  test('one carries an action out, also if its job exists twice', async () => {
    await dueSale('twice', 12)
    await worksOff([workerOn(sql), workerOn(sql)])
    expect(await totalOf('twice')).toBe(22)
  })

  test('another carries an action out when the first is killed in the middle, once', async () => {
    await dueSale('killed', 1)
    const own = connect(database.url, 2)
    const dying = workerOn(own)
    await sql.begin(async (tx) => {
      await tx`select from sales where sale_id = 'killed' for update`
      await dying.round()
      // The worker cannot get past the locked sale.
      await untilLocked(sql)
      await own.end({ timeout: 0 })
    })
    expect(await totalOf('killed')).toBe(10)
    await endLeases(sql)
    await worksOff([workerOn(sql)])
    expect(await totalOf('killed')).toBe(11)
    const runs = sql`select error from scheduled_runs join scheduled_actions using (action_id) where sale_id = 'killed'`
    expect(await runs).toEqual([{ error: null }])
  })
})
