/** The rehearsal on an honest system, and on a ledger that loses an order. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type System, startSystem } from '../../dev/system.ts'
import { ledgerDatabase } from '../../test/lib/servers.ts'
import { rehearse } from './testing/rehearse.ts'

const CROWD = '--rate 100 --spread 2 --seed 7 --timeouts 0 --think 0.1'

let system: System
let ledger: postgres.Sql
const out = mkdtempSync(join(tmpdir(), 'flash-sale-rehearsal-'))

beforeAll(async () => {
  const database = await ledgerDatabase()
  system = await startSystem({
    databaseUrl: database.url,
    edgeVars: {
      // Longer than somebody who is held back goes without a look (6.25 s), or they might miss their turn unawares.
      CLAIM_SECONDS: '8',
      // The numbers that bots take and do not use keep nobody waiting until their turns have passed.
      ADMISSIONS_PER_UNIT: '5',
    },
  })
  ledger = postgres(database.url, { max: 1, onnotice: () => {} })
})

afterAll(async () => {
  await ledger?.end()
  await system?.stop()
  rmSync(out, { recursive: true, force: true })
})

const onSystem = (name: string, crowd: string, meanwhile?: (sale: string) => Promise<void>) => {
  const { edgeUrl, originUrl, adminToken: ADMIN_TOKEN, databaseUrl: DATABASE_URL, redisUrl: REDIS_URL } = system
  const args = `--edge ${edgeUrl} --origin ${originUrl} ${CROWD} ${crowd}`
  return rehearse(
    join(out, name),
    args,
    { ADMIN_TOKEN, DATABASE_URL, ...(name === 'hall' && { REDIS_URL }) },
    meanwhile,
  )
}

// One after the other: a charge whose order is lost is one of nobody's, and so of whoever sells at that time.
test('a rehearsal of an honest system is good, with a report and a file for machines', async () => {
  const crowd = '--visitors 150 --stock 20 --hold 5 --abandon 0.1 --known 0.1 --bots 0.05'
  const { status, output, result, html } = await onSystem('honest', crowd)
  expect(status, output).toBe(0)
  expect(output).toContain('20 sold of 20')
  expect(output).toMatch(/Requests of a buyer after the turn: [3-9]\.\d\d; at most 4 for \d+% of \d+/)
  const { good, ends } = result()
  expect([good, ends.bought]).toEqual([true, 20])
  expect(Object.values(ends).reduce((all, n) => all + n, 0)).toBe(150)
  expect(html()).toContain('<svg')
  expect(html()).not.toMatch(/NaN|undefined|<script/)
})

test('a rehearsal of a hall sells every seat once, and draws it', async () => {
  const crowd = '--visitors 120 --seats 120 --hold 3 --abandon 0.1'
  const { status, output, result, html } = await onSystem('hall', crowd)
  expect(status, output).toBe(0)
  const checks = new Map(result().checks.map(({ what, holds }) => [what, holds]))
  for (const what of [
    'no seat went twice',
    'nobody got half a cart',
    'who wants to sit together does, while there are such seats',
    'sections, claims, orders and gate count the same',
    'every line costs what its seat costs',
  ])
    expect([what, checks.get(what)]).toEqual([what, true])
  expect(html()).toContain('The hall in time')
})

test('a rehearsal of a drop adds up each sum, and uses a code as often as it may be', async () => {
  const crowd = '--visitors 120 --stock 40 --goods --code-uses 4 --hold 3 --abandon 0.1'
  const { status, output, result } = await onSystem('goods', crowd)
  expect(status, output).toBe(0)
  const checks = new Map(result().checks.map(({ what, holds }) => [what, holds]))
  for (const what of [
    'every sum is right to the minor unit',
    'every buyer got the size that they chose, and the code that they brought',
    'a promo code is used as often as it may be',
  ])
    expect([what, checks.get(what)]).toEqual([what, true])
})

test('a rehearsal on a ledger that loses an order is not good, and says what is missing', async () => {
  // All who come buy, however slow the machine is.
  const crowd = '--visitors 12 --stock 20 --hold 60 --abandon 0 --declines 0'
  const { status, output, result } = await onSystem('lying', crowd, async (sale) => {
    // The first that is confirmed, once others are: its buyer has seen it by then, and asks no more.
    const loseOne = () => ledger`
      delete from orders where order_id in (
        select order_id from orders where sale_id = ${sale} and status = 'confirmed' order by order_id limit 1)
        and (select count(*) from orders where sale_id = ${sale} and status = 'confirmed') > 6
      returning order_id`
    await expect.poll(loseOne).toHaveLength(1)
  })
  expect(status, output).toBe(1)
  expect(output).toContain('Not good.')
  const failed = result().checks.flatMap((check) => (check.holds === false ? check.what : []))
  expect(failed).toContain('every order in a response is in the ledger')
  // The order is gone, and its money was taken.
  expect(failed).toContain('charged once, and only for sold orders')
})
