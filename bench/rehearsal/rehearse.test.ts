/** Small crowds on the run's system: what they buy adds up, and a ledger that loses an order is found out. */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sharedPart } from '../../test/run/shared-part.ts'
import { readOptions } from './options.ts'
import { Rehearsal } from './play.ts'
import { afterTurnText, reportHtml } from './rehearsal-report.ts'

/** All who get a unit pay for it at once, so that no hold ends, however slow the machine is. */
const CROWD =
  '--rate 100 --spread 2 --seed 7 --hold 60 --claim 40 --think 0.1 --timeouts 0 --abandon 0 --declines 0 --banks 0'

const to = await sharedPart('system')
beforeAll(() => void vi.spyOn(console, 'log').mockImplementation(() => {}))
afterAll(() => void vi.restoreAllMocks())

const rehearsal = (crowd: string, system: ConstructorParameters<typeof Rehearsal>[1] = { to }) =>
  new Rehearsal(readOptions(`${CROWD} ${crowd}`.split(' ')), system)
const ofItsOwn = () => {}

test('units, a hall and a drop sell at the same time, each once, for the right sums and codes', async () => {
  const results = await Promise.all([
    rehearsal('--visitors 60 --stock 20 --known 0.1 --bots 0.05').play(ofItsOwn),
    rehearsal('--visitors 40 --seats 60').play(ofItsOwn),
    rehearsal('--visitors 40 --stock 20 --goods --code-uses 2').play(ofItsOwn),
  ])
  const failed = results.flatMap(({ checks }) => checks.filter(({ holds }) => holds === false))
  expect(failed).toEqual([])
  expect(results.map(({ good }) => good)).toEqual([true, true, true])
  const holds = new Set(results.flatMap(({ checks }) => checks.flatMap((check) => (check.holds ? check.what : []))))
  for (const what of [
    'sold exactly',
    'the draw matches its commitment',
    'no bot enters without an admission',
    'charged once, and only for sold orders',
    'no seat went twice',
    'nobody got half a cart',
    'who wants to sit together does, while there are such seats',
    'sections, claims, orders and gate count the same',
    'every line costs what its seat costs',
    'every sum is right to the minor unit',
    'every buyer got the size that they chose, and the code that they brought',
    'a promo code is used as often as it may be',
  ])
    expect(holds).toContain(what)
  const [units, hall] = results
  expect(units.ends.bought).toBe(20)
  expect(Object.values(units.ends).reduce((all, n) => all + n, 0)).toBe(60)
  expect(afterTurnText(units)).toMatch(/^[3-9]\.\d\d; at most 4 for \d+% of \d+/)
  for (const html of results.map(reportHtml)) {
    expect(html).toContain('<svg')
    expect(html).not.toMatch(/NaN|undefined|<script/)
  }
  expect(reportHtml(hall)).toContain('The hall in time')
})

test('on a ledger that loses an order a rehearsal is not good, and says what is missing', async () => {
  const ledger = postgres(to.databaseUrl, { max: 1, onnotice: () => {} })
  const lying = rehearsal('--visitors 12 --stock 20', { to: { ...to, redisUrl: undefined } })
  const { sale } = lying
  // The first that is confirmed, once others are: its buyer has seen it by then, and asks no more.
  const loseOne = () => ledger`
    delete from orders where order_id in (
      select order_id from orders where sale_id = ${sale} and status = 'confirmed' order by order_id limit 1)
      and (select count(*) from orders where sale_id = ${sale} and status = 'confirmed') > 6
    returning order_id`
  const [{ good, checks }] = await Promise.all([lying.play(ofItsOwn), expect.poll(loseOne).toHaveLength(1)])
  await ledger.end()
  expect(good).toBe(false)
  const failed = checks.flatMap((check) => (check.holds === false ? check.what : []))
  expect(failed).toContain('every order in a response is in the ledger')
  // The order is gone, and its money was taken.
  expect(failed).toContain('charged once, and only for sold orders')
})
