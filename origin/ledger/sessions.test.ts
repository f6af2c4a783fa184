import { pino } from 'pino'
import { expect, test } from 'vitest'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { connect } from './connection.ts'
import { acceptedLimits, watchSessions } from './sessions.ts'

const sql = await useLedger()
const { host, port, database, user, pass } = sql.options
const url = `postgres://${user}:${pass ?? ''}@${host[0]}:${port[0]}/${database}`
const way = useFlakyProxy(() => Number(port[0]))

test('a session that lost its client in the middle of a statement is ended, and its locks with it', async () => {
  await writeSale(sql, 'locked', saleOf(5))
  const lost = connect(way.through(url), 1)
  const transaction = lost.begin(async (tx) => {
    await tx`select from sales where sale_id = ${'locked'} for update`
    way.lose('answers')
    await tx`update sales set name = ${'other'} where sale_id = ${'locked'}`
  })
  transaction.catch(() => {})
  const waiting = () => sql`
    select from pg_stat_activity where datname = current_database() and state = 'active' and wait_event = 'ClientRead'
      and query like 'update sales%'`
  await expect.poll(waiting).toHaveLength(1)
  // The server never hears that the client has closed it.
  way.vanish()
  const metrics = createMetrics()
  const unlocked = async () => {
    await watchSessions({ sql, metrics, log: pino({ level: 'silent' }) })
    return sql`select from sales where sale_id = ${'locked'} for update skip locked`
  }
  await expect.poll(unlocked).toHaveLength(1)
  expect((await metrics.sessionsEnded.get()).values).toMatchObject([{ value: 1, labels: { state: 'active' } }])
  await lost.end({ timeout: 0 })
})

test('sessions bring limits of their own, unless the server or a pooler refuses them', async () => {
  const limits = await acceptedLimits(url, 17)
  const own = connect(url, 1, undefined, limits)
  const inForce = await own`
    select name, setting::int from pg_settings where name = any(${Object.keys(limits)}) and source = 'client'
      order by name`
  expect(Object.fromEntries(inForce.map(({ name, setting }) => [name, setting]))).toEqual(limits)
  await own.end()
  expect(await acceptedLimits(`${url}?unknown_parameter=1`, 17)).toEqual({})
})
