/** What a sale's objects store of visitors is deleted some days after its end, and the draw's proof stays. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, expect, it, vi } from 'vitest'
import type { Env } from '../http/config.ts'
import { eventually, stopClock } from '../testing/clocks.ts'
import { edgeEnv } from '../testing/origin.ts'
import { knownCookie, TestSale } from '../testing/visitors.ts'
import { objectOf } from './rpc.ts'

afterEach(() => void vi.restoreAllMocks())

const DAY_MS = 24 * 3_600_000
const COOKIE = { cookie: knownCookie('a-secret-of-22-letters') }

/** The texts in the storage of a sale's only ticket shard. */
const visitorsOf = (sale: TestSale) =>
  runInDurableObject(sale.shard(0), (_, { storage }) => {
    const tables = storage.sql.exec("select 1 from sqlite_master where name = 'visitors'").toArray()
    return tables.length === 0 ? null : storage.sql.exec('select visitor from visitors').toArray()
  })
const alarmOf = (sale: TestSale) => runInDurableObject(sale.room, (_, { storage }) => storage.getAlarm())

/** Moves the clock past the purges of a final phase, until the alarm is only the one of the retention. */
async function settle(sale: TestSale): Promise<void> {
  stopClock()
  await eventually(async () => {
    vi.setSystemTime(Date.now() + 1_000)
    await runDurableObjectAlarm(sale.room)
    return Number(await alarmOf(sale)) > Date.now() + DAY_MS / 2
  })
}

/** Publishes a phase, and waits until the waiting room has it. */
async function reach(sale: TestSale, phase: 'ended' | 'sold_out' | 'open') {
  await sale.publish(phase === 'open' ? { phase } : { phase, products: [] })
  await eventually(async () => {
    // Schedules are announced ahead.
    if (vi.isFakeTimers()) vi.setSystemTime(Date.now() + 1_000)
    await sale.room.refresh(sale.name)
    return (await sale.schedule()).phase === phase
  })
}

it('deletes who stood in line when the days are over, and keeps what proves the draw', async () => {
  const sale = await new TestSale().publish({ ticket_shards: 1 })
  const { number } = await sale.joined(COOKIE)
  expect(number).toBeGreaterThan(0)
  expect(await visitorsOf(sale)).toHaveLength(1)
  await reach(sale, 'ended')
  const { draw_commitment } = await sale.schedule()
  await settle(sale)
  vi.setSystemTime(Date.now() + 29 * DAY_MS)
  await runDurableObjectAlarm(sale.room)
  expect(await visitorsOf(sale)).toHaveLength(1)
  vi.setSystemTime(Date.now() + 2 * DAY_MS)
  await eventually(async () => {
    await runDurableObjectAlarm(sale.room)
    return (await visitorsOf(sale)) === null
  })
  await eventually(async () => {
    await runDurableObjectAlarm(sale.room)
    return (await alarmOf(sale)) === null
  })
  expect(await sale.schedule()).toMatchObject({ phase: 'ended', draw_commitment })
  expect((await sale.join(COOKIE)).status).not.toBe(201)
  expect(await visitorsOf(sale)).toBeNull()
})

it('sees the end of a sale that was sold out long before, and keeps the places of one that lives again', async () => {
  const sale = await new TestSale().publish({ ticket_shards: 1 })
  await sale.joined(COOKIE)
  await reach(sale, 'sold_out')
  await settle(sale)
  await reach(sale, 'ended')
  const endedAtMs = Date.now()
  await reach(sale, 'open')
  vi.setSystemTime(endedAtMs + 31 * DAY_MS)
  await sale.publish()
  await sale.room.refresh(sale.name)
  await runDurableObjectAlarm(sale.room)
  expect(await visitorsOf(sale)).toHaveLength(1)
})

it('calls all objects within the jurisdiction that is set', () => {
  const asked: string[] = []
  const getByName = () => ({})
  const jurisdiction = (name: string) => {
    asked.push(name)
    return { getByName }
  }
  const env = { ...edgeEnv, TICKET_SHARD: { jurisdiction } } as unknown as Env
  objectOf('sale/0', { ...env, JURISDICTION: 'eu' })
  expect(asked).toEqual(['eu'])
  // This runtime has no jurisdictions, and refuses to store elsewhere than it was told.
  expect(() => objectOf('sale/0', { ...edgeEnv, JURISDICTION: 'eu' })).toThrow('not implemented in workerd')
})
