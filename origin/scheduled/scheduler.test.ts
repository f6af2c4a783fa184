import { describe, expect, test } from 'vitest'
import { ADMIN_TOKEN, endLeases, eventually, eventuallyMatches, useOwnOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'

const database = useDatabase()
const redis = useRedis()
const stores = () => ({ databaseUrl: database.url, redisUrl: redis.url })
/** Serves the calls, and is a worker beside the other. */
const api = useOwnOrigin(stores)
const worker = useOwnOrigin(stores, { ROLE: 'worker' })

interface Scheduled {
  readonly action_id: string
  readonly next_at: string | null
  readonly cancelled_at: string | null
  readonly runs: readonly {
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
  }[]
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
/** More than five seconds after its time, which on a busy machine it may be. */
const isLate = ({ due_at, ran_at }: Scheduled['runs'][number]) => Date.parse(ran_at) - Date.parse(due_at) > 5_000
const restock = { action: 'restock', product_id: 'one', quantity: 5 }
/** Has the time of a sale's actions come so long ago, and of their jobs. */
const comes = (sale: string, ago = '0 seconds') => api.sql()`
  with due as (
    update scheduled_actions set next_at = date_trunc('milliseconds', now() - ${ago}::interval)
    where sale_id = ${sale} and next_at is not null
    returning action_id, next_at)
  update jobs set run_at = next_at,
    data = data || jsonb_build_object('dueAt', to_char(next_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from due where queue = 'scheduled' and data ->> 'action' = action_id::text`
/** Until the runs of a sale's actions are over, and no other is due. */
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
    const at = inMs(5_000)
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
    for (const { next_at, runs } of await haveRun(sale)) {
      expect({ next_at, runs }).toMatchObject({ next_at: null, runs: [{ due_at: at, error: null }] })
      for (const run of runs) {
        expect(Date.parse(run.ran_at)).toBeGreaterThanOrEqual(Date.parse(at))
        expect(run.late).toBe(isLate(run))
      }
    }
    expect((await api.admin('GET', `/sales/${sale}`)).body).toMatchObject({
      phase: 'paused',
      pause_reason: text,
      announcement: { level: 'warning', text },
      admission: { rate_per_second: 7 },
      products: [{ total: 15, available: 15, unit_price_minor: 700 }],
    })
    // Other processes know it soon.
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

  test('that is repeated goes on until it is cancelled, and missed runs are late', async () => {
    const sale = await api.sale()
    expect(await schedule(sale, { cron: '* * * * *', ...restock })).toMatchObject({ status: 201 })
    await comes(sale, '90 seconds')
    const isCaughtUp = ([all]: readonly Scheduled[]) =>
      (all?.runs.length ?? 0) >= 2 && Date.parse(all?.next_at ?? '') > Date.now()
    const [found] = await eventually(() => listed(sale), isCaughtUp)
    expect(found?.runs.at(-1)).toMatchObject({ late: true, error: null })
    expect(await api.admin('DELETE', `/sales/${sale}/scheduled/${found?.action_id}`)).toMatchObject({ status: 204 })
    expect(await listed(sale)).toMatchObject([{ next_at: null, cancelled_at: expect.any(String) }])
    const { total } = await api.stock(sale)
    expect(total).toBe(10 + 5 * ((await listed(sale))[0]?.runs.length ?? 0))
    // The job of its next run finds that it is not due any more.
    await api.sql()`update jobs set run_at = now() where queue = 'scheduled' and ${isOf(sale)}`
    await settled(sale)
    expect(await api.stock(sale)).toMatchObject({ total })
  })

  test('that is cancelled does not happen', async () => {
    const sale = await api.sale()
    const { body } = await schedule(sale, { at: inMs(600_000), ...restock })
    const path = `/sales/${sale}/scheduled/${body.action_id}`
    expect(await api.admin('DELETE', path)).toMatchObject({ status: 204 })
    expect(await api.admin('DELETE', path)).toMatchObject({ status: 204 })
    await api.sql()`update jobs set run_at = now() where data ->> 'action' = ${String(body.action_id)}`
    await settled(sale)
    expect(await api.stock(sale)).toMatchObject({ total: 10 })
    expect(await listed(sale)).toMatchObject([{ runs: [] }])
  })

  test('that the state does not allow is recorded, with a finding, and not tried again', async () => {
    const sale = await api.sale()
    await schedule(sale, { at: inMs(600_000), action: 'restock', product_id: 'one', quantity: 10_000_000 })
    await comes(sale)
    expect((await haveRun(sale))[0]?.runs).toMatchObject([{ error: expect.stringContaining('exceed') }])
    expect((await api.admin('GET', `/sales/${sale}/findings`)).body.findings).toMatchObject([
      { kind: 'scheduled_failed', product_id: 'one', detail: { action: 'restock' } },
    ])
    await schedule(sale, { at: inMs(600_000), action: 'rate', rate_per_second: 3 })
    await api.admin('POST', `/sales/${sale}/end`)
    await comes(sale)
    await haveRun(sale)
    expect((await listed(sale)).map(({ runs }) => runs[0]?.error)).toContain('The sale has ended.')
    expect(await schedule(sale, { at: inMs(600_000), action: 'resume' })).toMatchObject({ status: 409 })
  })

  test('that is repeated ends with its sale, without a finding', async () => {
    const sale = await api.sale()
    await schedule(sale, { cron: '0 12 * * *', ...restock })
    await api.admin('POST', `/sales/${sale}/end`)
    await comes(sale)
    expect((await haveRun(sale))[0]).toMatchObject({ next_at: null, runs: [{ error: 'The sale has ended.' }] })
    expect((await api.admin('GET', `/sales/${sale}/findings`)).body.findings).toEqual([])
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

  test('is carried out by one of several workers, also if its job exists twice', async () => {
    const sale = await api.sale()
    const at = inMs(600_000)
    for (let i = 0; i < 12; i++) await schedule(sale, { at, ...restock, quantity: 1 })
    await api.sql()`
    insert into jobs (queue, data, run_at) select queue, data, run_at from jobs where queue = 'scheduled' and ${isOf(sale)}`
    await comes(sale)
    await haveRun(sale)
    await settled(sale)
    expect(await api.stock(sale)).toMatchObject({ total: 22, available: 22 })
  })
})

test('when a worker is killed in the middle, another one carries the action out, once', async () => {
  await worker.stop()
  const sale = await api.sale()
  await schedule(sale, { at: inMs(600_000), ...restock })
  const locked = Promise.withResolvers<void>()
  const killed = Promise.withResolvers<void>()
  const holds = api.sql().begin(async (tx) => {
    await tx`select from sales where sale_id = ${sale} for update`
    locked.resolve()
    await killed.promise
  })
  await locked.promise
  await comes(sale)
  // Its worker cannot get further than the locked sale.
  await eventuallyMatches(() => api.sql()`select from jobs where leased and ${isOf(sale)}`, [{}])
  await api.kill()
  killed.resolve()
  await holds
  await endLeases(api.sql())
  await worker.restart()
  const runs = () => api.sql()`
    select error from scheduled_runs join scheduled_actions using (action_id) where sale_id = ${sale}`
  await eventuallyMatches(runs, [{ error: null }])
  await api.restart()
  await settled(sale)
  expect(await api.stock(sale)).toMatchObject({ total: 15, available: 15 })
  expect((await api.checkout(sale)).status).toBe(201)
})
