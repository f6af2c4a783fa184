/**
 * Runs small crowds on the run's system: their purchases add up, and a ledger that loses an order is detected. One
 * meets the stand-in.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sharedPart } from '../../test/run/shared-part.ts'
import { readOptions } from './options.ts'
import { Rehearsal, type Result } from './play.ts'
import { afterTurnText, reportHtml } from './report/rehearsal-report.ts'
import { rehearse } from './testing/rehearse.ts'

/** All buyers pay at once, so that no hold ends even on a slow machine. */
const CROWD =
  '--rate 100 --spread 2 --seed 7 --hold 60 --claim 40 --think 0.1 --timeouts 0 --abandon 0 --declines 0 --banks 0'

const to = await sharedPart('system')
beforeAll(() => void vi.spyOn(console, 'log').mockImplementation(() => {}))
const out = mkdtempSync(join(tmpdir(), 'flash-sale-rehearsal-'))
afterAll(() => {
  vi.restoreAllMocks()
  rmSync(out, { recursive: true, force: true })
})

const rehearsal = (crowd: string, system: ConstructorParameters<typeof Rehearsal>[1] = { to }) =>
  new Rehearsal(readOptions(`${CROWD} ${crowd}`.split(' ')), system)
const ofItsOwn = () => {}

describe('of crowds that come at the same time', () => {
  let units: Promise<Result>
  let hall: Promise<Result>
  let drop: Promise<Result>
  beforeAll(() => {
    const play = (crowd: string) => {
      const result = rehearsal(crowd).play(ofItsOwn)
      // A failure is reported by the test itself.
      result.catch(() => {})
      return result
    }
    units = play('--visitors 40 --stock 12 --known 0.1 --bots 0.05')
    hall = play('--visitors 24 --seats 40')
    drop = play('--visitors 24 --stock 12 --goods --code-uses 2')
  })

  /** Returns the checks that hold; none may fail. */
  function goodChecksOf({ good, checks }: Result): string[] {
    expect(checks.filter(({ holds }) => holds === false)).toEqual([])
    expect(good).toBe(true)
    return checks.flatMap(({ what, holds }) => (holds ? what : []))
  }

  test('one buys units: all are sold, once, in the drawn order', async () => {
    const result = await units
    expect(result.programs).toBeNull()
    const all = ['sold exactly', 'the draw matches its commitment', 'charged once, and only for sold orders']
    expect(goodChecksOf(result)).toEqual(expect.arrayContaining([...all, 'no bot enters without an admission']))
    expect(result.ends.bought).toBe(12)
    expect(Object.values(result.ends).reduce((all, n) => all + n, 0)).toBe(40)
    expect(afterTurnText(result)).toMatch(/^[3-9]\.\d\d; at most 4 for \d+% of \d+/)
  })

  test('one buys seats: none goes twice, and each costs what it should', async () => {
    const all = [
      'no seat went twice',
      'nobody got half a cart',
      'who wants to sit together does, while there are such seats',
      'sections, claims, orders and gate count the same',
      'every line costs what its seat costs',
    ]
    expect(goodChecksOf(await hall)).toEqual(expect.arrayContaining(all))
  })

  test('one buys goods: each sum and each use of a code is right', async () => {
    const all = [
      'every sum is right to the minor unit',
      'every buyer got the size that they chose, and the code that they brought',
      'a promo code is used as often as it may be',
    ]
    expect(goodChecksOf(await drop)).toEqual(expect.arrayContaining(all))
  })

  test('each has a report', async () => {
    const reports = (await Promise.all([units, hall, drop])).map(reportHtml)
    for (const html of reports) {
      expect(html).toContain('<svg')
      expect(html).not.toMatch(/NaN|undefined|<script/)
    }
    expect(reports[1]).toContain('The hall in time')
  })
})

test('on a ledger that loses an order a rehearsal is not good, and says what is missing', async () => {
  const ledger = postgres(to.databaseUrl, { max: 1, onnotice: () => {} })
  const lying = rehearsal('--visitors 12 --stock 20', { to: { ...to, redisUrl: undefined } })
  const { sale } = lying
  // The first confirmed order is removed once others are confirmed, because its buyer has seen it by then and does
  // not poll any more.
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

test('against the stand-in all visitors reach an end and the stock is sold exactly, which nobody judges', async () => {
  const shares = '--abandon 0.1 --declines 0.1 --banks 0.2 --timeouts 0.05 --pollers 0.2 --front 0.2'
  const crowd = `--visitors 150 --stock 20 --rate 100 --spread 2 --seed 7 --hold 1 --think 0.1 ${shares}`
  const args = `--stand-in ${crowd} --max-minutes 1.5`
  const { status, output = '' } = await rehearse(out, args)
  expect(status, output).toBe(0)
  const { ends, latencies, programs } = JSON.parse(readFileSync(join(out, 'stand-in.json'), 'utf8'))
  expect(ends).toMatchObject({ bought: 20, failed: 0, gave_up: 0, missed_turn: 0 })
  expect(Object.values<number>(ends).reduce((all, times) => all + times, 0)).toBe(150)
  for (const kind of ['front', 'search', 'page', 'join', 'admission', 'status', 'checkout', 'payment', 'bank', 'final'])
    expect(latencies[kind].count, kind).toBeGreaterThan(0)
  expect(programs.programs.map(({ name }: { name: string }) => name)).toEqual(['crowd', 'stand-in'])
  expect(output).toMatch(/Latency[\s\S]+Program[\s\S]+ crowd [\s\S]+ stand-in /)
  expect(output).not.toMatch(/Verdict|Good|A sold order/)
}, 120_000)
