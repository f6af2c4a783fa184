/**
 * Runs rehearsals by command on their own system, in which visitors leave, are declined and return. It takes a
 * minute.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type System, startSystem } from '../../dev/system.ts'
import { seedOf } from '../../test/lib/seed.ts'
import { ledgerDatabase } from '../../test/lib/servers.ts'
import { rehearse } from './testing/rehearse.ts'

const SEED = seedOf()
/** All buyers pay at once, so that all units are sold and no hold ends. */
const CROWD =
  '--rate 100 --spread 2 --seed 7 --hold 60 --claim 40 --think 0.1 --timeouts 0 --abandon 0 --declines 0 --banks 0'
const out = mkdtempSync(join(tmpdir(), 'flash-sale-rehearsal-'))
let system: System

beforeAll(async () => {
  const { url: databaseUrl } = await ledgerDatabase()
  // A turn lasts longer than the time between two checks of a waiting visitor (6.25 s), who might otherwise miss it.
  // Unused numbers of bots keep nobody waiting until their turns have passed.
  system = await startSystem({ databaseUrl, edgeVars: { CLAIM_SECONDS: '8', ADMISSIONS_PER_UNIT: '5' } })
})
afterAll(async () => {
  await system?.stop()
  rmSync(out, { recursive: true, force: true })
})

test.each([
  ['units', '--visitors 150 --stock 20 --hold 5 --known 0.1 --bots 0.05'],
  ['a hall', '--visitors 120 --seats 120 --hold 3'],
  ['a drop', '--visitors 120 --stock 40 --goods --code-uses 4 --hold 3'],
])('a rehearsal of %s is good, prints that, and writes a report', async (_, crowd) => {
  const { edgeUrl, originUrl, adminToken: ADMIN_TOKEN, databaseUrl: DATABASE_URL, redisUrl: REDIS_URL } = system
  const args =
    `--edge ${edgeUrl} --origin ${originUrl} --rate 100 --spread 2 --timeouts 0 --think 0.1 --abandon 0.1 --seed ` +
    `${SEED} ${crowd}`
  const { status, output, result, html } = await rehearse(out, args, { ADMIN_TOKEN, DATABASE_URL, REDIS_URL })
  expect(status, output).toBe(0)
  for (const text of ['Requests of a buyer after the turn: ', '\nGood.']) expect(output).toContain(text)
  expect(result()).toMatchObject({ good: true })
  expect(html()).toContain('<svg')
})

test('on its own system it says what each program used, and what a sold order took', async () => {
  const { status, output = '', result, html } = await rehearse(out, `${CROWD} --visitors 40 --stock 12 --viewers 0`)
  expect(status, output).toBe(0)
  const { ends, programs: use } = result()
  expect(use?.programs.map(({ name }) => name)).toEqual(['crowd', 'edge', 'origin', 'Postgres', 'Redis'])
  expect([use?.whole.orders, use?.selling?.orders]).toEqual([ends.bought, 12])
  for (const { name, cpuSeconds, sellingCpuSeconds, bytes } of use?.programs ?? []) {
    // Redis has so little to do that its time may be below the clock's step of 10 ms.
    if (name !== 'Redis') expect(sellingCpuSeconds, name).toBeGreaterThan(0)
    expect(cpuSeconds, name).toBeGreaterThanOrEqual(sellingCpuSeconds ?? Number.NaN)
    expect(bytes.highest, name).toBeGreaterThanOrEqual(Math.max(bytes.opening, bytes.end))
    expect(bytes.end, name).toBeGreaterThan(1e6)
  }
  const stores = ['origin', 'Postgres', 'Redis']
  const spent = use?.programs.reduce((sum, { name, cpuSeconds }) => sum + (stores.includes(name) ? cpuSeconds : 0), 0)
  expect(use?.whole.orderMs).toBeCloseTo((1000 * (spent ?? 0)) / 12, 6)
  for (const text of [output, html()]) {
    expect(text).toMatch(/A sold order: [\d.]+ ms of origin, Postgres and Redis while it sells \([\d.]+ ms over/)
    expect(text).toContain('of a core')
  }
})

test('the command raises arrivals on a system of its own, and says how many may come', async () => {
  // The target is so high that any speed passes, because the measured values are irrelevant here.
  const args = '--capacity --from 5 --most 10 --step 2 --target 60000 --think 0.1 --timeouts 0 --seed 7'
  const { status, output } = await rehearse(out, args)
  expect(status, output).toBe(0)
  expect(output).toContain('At least 10 arrivals a second with p99 of joins, turns and checkouts below 1 min.')
  const { steps } = JSON.parse(readFileSync(join(out, 'capacity.json'), 'utf8'))
  const use = { edge: expect.any(Number), origin: expect.any(Number), Postgres: expect.any(Number) }
  expect(steps).toMatchObject([5, 10].map((arrivals) => ({ arrivals, good: true, unserved: 0, use })))
  for (const { p99Ms, bought } of steps) {
    expect(Math.min(p99Ms.joins, p99Ms.turns, p99Ms.checkouts)).toBeGreaterThan(0)
    expect(bought).toBeGreaterThan(0)
  }
})
